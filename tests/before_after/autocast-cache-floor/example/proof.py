"""The floor keeps out every torch that reuses weights cached under `no_grad`; with a newer one the program trains.

Autocast is the CPU's here. Where the installed torch is one of those, *before* shows what the program raises.
"""

import torch

from codemods.verify.observe import batches, watch
from codemods.verify.resolution import demand_without

SYMPTOM = "requirements.txt allows torch 2.4.0"


def run(case):
    bug = {"torch": "<2.11"}
    return demand_without(case, bug, train, "element 0 of tensors does not require grad and does not have a grad_fn")


def train():
    import train as program

    torch.manual_seed(0)
    autocast = torch.autocast
    program.torch.autocast = lambda device, **options: autocast("cpu", **options)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model) as seen:
        program.train(model, optimizer, [x for x, _ in batches()])
    return seen
