"""The first validation with a padded batch stops the run; in float32 there is no autocast that could."""

import torch

from codemods.verify.observe import watch

SYMPTOM = "expected scalar type Float but found BFloat16"


def padded(steps=3, size=4, length=6, features=32):
    generator = torch.Generator().manual_seed(2)
    padding = torch.arange(length)[None] >= torch.tensor([6, 5, 3, 2])[:, None]
    for _ in range(steps):
        x = torch.randn(size, length, features, generator=generator)
        yield x, padding, x.flip(-1)


def run(case):
    torch.manual_seed(0)
    module, watched = case.Tagger(32, 4), {}
    case.Tagger = lambda features, heads: module

    class Validated(case.pl.Trainer):
        """The fixture's Trainer, quiet, that evaluates once more after the fit."""

        def __init__(self, **options):
            super().__init__(**options, logger=False, enable_checkpointing=False, enable_progress_bar=False)

        def fit(self, model, loader, validation):
            with watch(model) as seen:
                super().fit(model, loader, validation)
            watched["seen"] = seen
            seen.losses = [float(self.callback_metrics["val_loss"])]

    case.pl.Trainer = Validated
    case.main(torch.utils.data.DataLoader(list(padded()), batch_size=None))
    return watched["seen"]
