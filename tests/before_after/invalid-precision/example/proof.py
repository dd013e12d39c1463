"""The Trainer refuses the misspelled name; with the right one it trains."""

from torch.utils.data import DataLoader

from codemods.verify.observe import batches, watch

SYMPTOM = "Precision 'bf16_mixed' is invalid. Allowed precision values:"


def run(case):
    module = case.Regression()
    with watch(module) as seen:
        case.train(module, DataLoader(batches(), batch_size=None))
    return seen
