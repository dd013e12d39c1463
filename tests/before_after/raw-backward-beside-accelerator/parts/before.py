import accelerate
import torch
from accelerate import Accelerator


class Trainer:
    def __init__(self, model, optimizer, loader):
        self.accelerator = accelerate.Accelerator(mixed_precision="fp16")
        self.model, self.optimizer, self.loader = self.accelerator.prepare(model, optimizer, loader)

    def train(self):
        for batch in self.loader:
            loss = self.model(**batch).loss
            loss.backward()
            self.accelerator.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()


class Given:
    """The Accelerator comes from outside."""

    def __init__(self, model, optimizer, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.model, self.optimizer = self.accelerator.prepare(model, optimizer)

    def training_step(self, batch):
        self.optimizer.zero_grad()
        loss = self.model(batch).loss
        loss.backward()
        self.optimizer.step()


def train_one_epoch(accelerator: Accelerator, model, optimizer, loader):
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        loss = model(**batch).loss / len(batch["input_ids"])
        loss.backward()
        optimizer.step()


def finetune(accelerator, model, optimizer, loader):
    """No constructor in sight, but a whole protocol: prepare, accumulate, backward."""
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        with accelerator.accumulate(model):
            outputs = model(**batch)
            accelerator.backward(outputs.loss)
            (outputs.logits.float().norm() * 0.1).backward()
            optimizer.step()


def main(model, optimizer, loader, weight):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        output = model(**batch)
        output.loss.backward(
            retain_graph=True,  # used once more below
        )
        output.logits.mean().backward()
        output.loss.backward(weight, True)
        torch.autograd.backward([output.loss], [weight], create_graph=True)
        optimizer.step()
    torch.cuda.empty_cache()
