import lightning.pytorch as pl
import torch
import torch.nn.functional as F


class CountingModule(pl.LightningModule):
    """Lightning's own hook: here `loss.backward()` is right."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.backward_calls = 0

    def backward(self, loss, *args, **kwargs):
        self.backward_calls += 1
        super().backward(loss, *args, **kwargs)

    def manual_backward(self, loss, *args, **kwargs):
        loss.backward(*args, **kwargs)


class HookedModule(CountingModule):
    def backward(self, loss):
        loss.backward(retain_graph=True)


class EngineModule(pl.LightningModule):
    """Something else than the Trainer owns the backward pass."""

    def __init__(self, engine, fabric):
        super().__init__()
        self.automatic_optimization = False
        self.engine = engine
        self.fabric = fabric

    def training_step(self, batch, batch_idx):
        loss = self.engine(batch).mean()
        self.engine.backward(loss)
        self.fabric.backward(loss)
        self.trainer.strategy.backward(loss, None)
        self.trainer.strategy.precision_plugin.backward(loss, self, None)
        self.engine.backward()
        self.trainer.model.backward(loss)
        self.manual_backward(loss)
        self.backward(loss)


class ScaledModule(pl.LightningModule):
    """A scaler of its own."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.scaler = torch.amp.GradScaler("cuda")

    def training_step(self, batch, batch_idx):
        loss = self(batch).mean()
        self.scaler.scale(loss).backward()


class AutomaticModule(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = F.mse_loss(self(batch[0]), batch[1])
        loss.backward()
        return loss


class SaliencyModule(pl.LightningModule):
    """Only evaluation runs this, and reads unscaled gradients."""

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        self.manual_backward(self(batch).mean())

    def saliency(self, image):
        image.requires_grad_()
        loss = self(image).max()
        loss.backward()
        return image.grad

    @torch.inference_mode(False)
    def test_step(self, batch, batch_idx):
        self.log("saliency", self.saliency(batch[0].clone()).abs().mean())


class Generator(torch.nn.Module):
    def warm_up(self, x):
        loss = self(x).mean()
        loss.backward()


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


class Engine:
    def backward(self):
        pass


class OwnEngineModule(pl.LightningModule):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        loss = Engine()
        loss.backward()
