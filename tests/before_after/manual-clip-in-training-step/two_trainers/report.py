import lightning as L
import torch


class Net(L.LightningModule):
    def __init__(self, net, bound):
        super().__init__()
        self.automatic_optimization = False
        self.net, self.bound = net, bound

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        self.manual_backward(self.net(batch).mean())
        torch.nn.utils.clip_grad_value_(self.parameters(), self.bound)
        opt.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def train(net, loader, precision):
    L.Trainer(precision="16-mixed", strategy="deepspeed_stage_2").fit(Net(net, 1.0), loader)
    L.Trainer(precision=precision).fit(Net(net, 1.0), loader)
