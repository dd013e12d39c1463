import lightning as L
import torch


class Net(L.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.automatic_optimization = False
        self.net, self.bound = net, 0.5

    def on_train_batch_start(self, batch, batch_idx):
        self.bound = 0.5 * self.trainer.precision_plugin.scaler.get_scale()

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        self.manual_backward(self.net(batch).mean())
        self.clip_gradients(opt, gradient_clip_val=self.bound, gradient_clip_algorithm="norm")
        opt.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def train(net, loader):
    L.Trainer(precision="16-mixed").fit(Net(net), loader)
