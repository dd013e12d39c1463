"""The Trainer is not made; with the new names the model trains."""

from torch.utils.data import DataLoader

from codemods.verify.observe import batches, watch

SYMPTOM = "got an unexpected keyword argument 'checkpoint_callback'"


def run(case):
    module = case.Regression()
    with watch(module) as seen:
        case.train(module, DataLoader(batches(), batch_size=None))
    return seen
