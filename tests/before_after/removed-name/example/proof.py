"""The module cannot be imported; with the new place of the function the model trains."""

from torch.utils.data import DataLoader

from codemods.verify.observe import batches, watch

SYMPTOM = "cannot import name 'seed_everything' from 'pytorch_lightning.utilities.seed'"


def run(case):
    module = case.Regression()
    with watch(module) as seen:
        case.train(module, DataLoader(batches(), batch_size=None))
    return seen
