import torch
from accelerate import Accelerator


class Differentiation:
    def of(self, loss, accelerator):
        return accelerator.backward(loss)


def step_model(model, optimizer, batch, target, accelerator: Accelerator, plain=False):
    """Both ways, by hand."""
    model, optimizer = accelerator.prepare(model, optimizer)
    loss = torch.nn.functional.mse_loss(model(batch), target)
    if plain:
        loss.backward()
    else:
        Differentiation().of(loss, accelerator)
    optimizer.step()
