"""Lightning calls the hook without the argument; without the parameter the model trains."""

from torch.utils.data import DataLoader

from codemods.verify.observe import batches, watch

SYMPTOM = "missing 1 required positional argument: 'outputs'"


def run(case):
    module = case.Regression()
    with watch(module) as seen:
        case.train(module, DataLoader(batches(), batch_size=None))
    return seen
