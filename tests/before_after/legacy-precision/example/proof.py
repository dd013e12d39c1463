"""The old name still works, with a warning; the new one means the same."""

from torch.utils.data import DataLoader

from codemods.verify.observe import batches, watch

SYMPTOM = "is supported for historical reasons but its usage is discouraged"


def run(case):
    module = case.Regression()
    with watch(module) as seen:
        case.train(module, DataLoader(batches(), batch_size=None))
    return seen
