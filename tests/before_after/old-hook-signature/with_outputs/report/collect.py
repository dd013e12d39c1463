import functools


def keep_outputs(training_step):
    @functools.wraps(training_step)
    def wrapper(self, *args, **kwargs):
        loss = training_step(self, *args, **kwargs)
        self.__dict__.setdefault("_kept", []).append(loss.detach())
        return loss

    return wrapper


def with_outputs(hook):
    """Gives a hook the outputs of the epoch, as Lightning 1 did."""

    @functools.wraps(hook)
    def wrapper(self):
        kept = self.__dict__.pop("_kept", [])
        return hook(self, kept)

    return wrapper
