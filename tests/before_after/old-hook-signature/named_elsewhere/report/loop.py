from module import Smoother


def run(losses):
    module = Smoother()
    last = {"epoch": module.on_train_epoch_end}
    last["epoch"](losses)
