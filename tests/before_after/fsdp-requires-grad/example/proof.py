"""Four steps in one process with gloo, on the CPU; several processes were not run."""

import tempfile

import torch
import torch.distributed

from codemods.verify.observe import batches, settle, watch

SYMPTOM = "Must flatten tensors with uniform `requires_grad`"


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(8, 8)
        self.head = torch.nn.Linear(8, 1)

    def forward(self, x):
        return self.head(self.body(x))


def run(case):
    settle()
    torch.distributed.init_process_group("gloo", f"file://{tempfile.mktemp()}", rank=0, world_size=1)
    try:
        with watch() as seen:
            seen.losses = case.train(Net(), batches(), torch.device("cpu"))
        return seen
    finally:
        torch.distributed.destroy_process_group()
