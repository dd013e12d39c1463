# fixer: upgrade=lightning@2.6.6
import pytorch_lightning as pl


class Net(pl.LightningModule):
    def restore(self, path):
        return self.load_from_checkpoint(path, weights_only=False)


class Own(pl.LightningModule):
    def load_from_checkpoint(self, path):
        return path


def main(path):
    net = Net()
    net = net.load_from_checkpoint(path, weights_only=False)
    right = Net.load_from_checkpoint(path, weights_only=False)
    own = Own().load_from_checkpoint(path)
    return net, right, own
