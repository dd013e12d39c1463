from lightning.pytorch.callbacks import LambdaCallback


def empty(trainer, module, loss):
    for parameter in module.parameters():
        parameter.grad = None


CALLBACKS = [LambdaCallback(on_before_backward=empty)]
