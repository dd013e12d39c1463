from accelerate import Accelerator


def undivided(model, batches, steps):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    for batch in batches:
        with accelerator.accumulate(model):
            accelerator.backward(model(batch).mean())


def by_hand(model, batches, steps):
    accelerator = Accelerator()
    for number, batch in enumerate(batches):
        accelerator.backward(model(batch).mean() / steps)


def by_tokens(model, batches, steps):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    for batch in batches:
        with accelerator.accumulate(model):
            accelerator.backward(model(batch).sum() / batch.numel())


def one(model, batches):
    accelerator = Accelerator(gradient_accumulation_steps=1)
    for batch in batches:
        accelerator.backward(model(batch).mean() / 1)


def two_losses(model, batches, steps, parts):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    for batch in batches:
        with accelerator.accumulate(model):
            accelerator.backward(sum(model(part).mean() for part in batch) / parts)


def logged(model, batches, steps):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    total = 0.0
    for batch in batches:
        loss = model(batch).mean()
        accelerator.backward(loss)
        total += loss.item() / steps
    return total
