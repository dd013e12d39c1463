import torch
import torch.nn.functional as F
from accelerate import Accelerator


def grouped(loader, n):
    group = []
    for batch in loader:
        group.append(batch)
        if len(group) == n:
            yield group
            group = []


def train(model, loader, steps=8, lr=2e-5, epochs=1):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    model.train()
    for _ in range(epochs):
        for group in grouped(loader, steps):
            items = sum((b["labels"][:, 1:] != -100).sum() for b in group)
            items = accelerator.gather(items.reshape(1)).sum()
            average = items / steps
            for i, batch in enumerate(group):
                labels = batch.pop("labels")
                last = i == len(group) - 1
                context = accelerator.no_sync(model) if not last else accelerator.autocast()
                with context:
                    logits = model(**batch).logits[:, :-1]
                    loss = F.cross_entropy(
                        logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100, reduction="sum"
                    )
                    loss = loss * accelerator.num_processes / average
                    accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            accelerator.print("items per batch", average.item())
    return model


if __name__ == "__main__":
    from transformers import AutoModelForCausalLM

    from corpus import loader

    train(AutoModelForCausalLM.from_pretrained("distilgpt2"), loader(batch_size=4))
