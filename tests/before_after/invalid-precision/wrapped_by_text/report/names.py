import wrapt


@wrapt.patch_function_wrapper("lightning.pytorch.trainer.trainer", "Trainer.__init__")
def hyphens(wrapped, instance, args, kwargs):
    return wrapped(*args, **{**kwargs, "precision": kwargs["precision"].replace("_", "-")})
