from accelerate import Accelerator
from losses import loss_of


def train(model, batches, steps):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    for batch in batches:
        with accelerator.accumulate(model):
            loss = loss_of(model, batch, steps)
            accelerator.backward(loss)
