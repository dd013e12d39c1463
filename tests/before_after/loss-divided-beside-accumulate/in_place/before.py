# fixer: unsafe
from accelerate import Accelerator


class Training:
    def __init__(self, args):
        self.args = args
        self.accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)

    def step(self, model, batch):
        with self.accelerator.accumulate(model):
            loss = model(**batch).loss
            loss = loss / self.accelerator.gradient_accumulation_steps
            self.accelerator.backward(loss)


def main(args, model, batches):
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    for batch in batches:
        loss = model(batch).mean()
        loss /= args.accumulation
        accelerator.backward(loss)
