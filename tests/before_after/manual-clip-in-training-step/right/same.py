import lightning as L
import torch


class InTheHook(L.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.automatic_optimization = False
        self.net = net

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        self.manual_backward(self.net(batch).mean())
        opt.step()

    def on_before_optimizer_step(self, optimizer):
        self.clip_gradients(optimizer, gradient_clip_val=0.5, gradient_clip_algorithm="norm")
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Automatic(L.LightningModule):
    def training_step(self, batch, batch_idx):
        return self.net(batch).mean()

    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        self.clip_gradients(optimizer, gradient_clip_val=0.5, gradient_clip_algorithm="norm")


class Measured(L.LightningModule):
    """The norm is only looked at, or the clip comes before the gradients of this step, or behind the step."""

    def __init__(self, net):
        super().__init__()
        self.automatic_optimization = False
        self.net = net

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        opt.zero_grad()
        self.manual_backward(self.net(batch).mean())
        self.log("norm", torch.nn.utils.clip_grad_norm_(self.net.parameters(), float("inf")))
        self.clip_gradients(opt)
        opt.step()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class MadeForTheScale(L.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.automatic_optimization = False
        self.net = net

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        self.manual_backward(self.net(batch).mean())
        bound = 0.5 * self.trainer.precision_plugin.scaler.get_scale()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), bound)
        if self.trainer.precision == "bf16-mixed":
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        opt.step()


class DividedByHand(L.LightningModule):
    def __init__(self, net, scale):
        super().__init__()
        self.automatic_optimization = False
        self.net, self.scale = net, scale

    def divide(self):
        for each in self.net.parameters():
            each.grad /= self.scale

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        opt.zero_grad()
        self.manual_backward(self.net(batch).mean())
        self.divide()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        opt.step()


def train(net, loader):
    L.Trainer(precision="16-mixed").fit(InTheHook(net), loader)
