"""What runs without gradients is trained once they are on: no safe fix where a second network may run, however it is.

A law of GRD004, which takes `no_grad` away.
"""

from __future__ import annotations

from textwrap import indent

import pytest
from cases import cases

from codemods.model.edits import Safety

_SLOW = "self.slow = nn.Linear(8, 4)"
_PROGRAM = """\
import lightning as L
import torch
import torch.nn.functional as F
from torch import nn

{before}

class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fast = nn.Linear(8, 4)
{slow}

{method}

    @torch.no_grad()
    def training_step(self, batch, batch_idx):
        return F.mse_loss(self.fast(batch), {wanted})

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)
"""
_WAYS: dict[str, dict[str, str]] = {
    "by its name": {"wanted": "self.slow(batch)"},
    "detached": {"wanted": "self.slow(batch).detach()"},
    "by a key": {"slow": "self.slow = nn.ModuleDict({'x': nn.Linear(8, 4)})", "wanted": "self.slow['x'](batch)"},
    "by its forward": {"wanted": "self.slow.forward(batch)"},
    "in a method": {"method": "def goal(self, x):\n    return self.slow(x)", "wanted": "self.goal(batch)"},
    "in the forward": {"method": "def forward(self, x):\n    return self.slow(x)", "wanted": "self(batch)"},
    "in a property": {"method": "@property\ndef goal(self):\n    return self.slow", "wanted": "self.goal(batch)"},
    "by getattr": {"wanted": "getattr(self, 'slow')(batch)"},
    "in a loop": {"wanted": "[each(batch) for each in self.children()][1]"},
    "under another name": {"wanted": "(lambda net: net(batch))(self.slow)"},
    "handed to a function": {"before": "def run(net, x):\n    return net(x)\n", "wanted": "run(self.slow, batch)"},
    "with its module": {"before": "def run(owner, x):\n    return owner.slow(x)\n", "wanted": "run(self, batch)"},
    "by keyword": {"before": "def run(x, net):\n    return net(x)\n", "wanted": "run(batch, net=self.slow)"},
    "in a list": {"slow": "self.held = [nn.Linear(8, 4)]", "wanted": "self.held[0](batch)"},
    "added": {"slow": "self.add_module('slow', nn.Linear(8, 4))", "wanted": "self.slow(batch)"},
    "set": {"slow": "setattr(self, 'slow', nn.Linear(8, 4))", "wanted": "self.slow(batch)"},
    "by its weights": {"wanted": "F.linear(batch, self.slow.weight)"},
    "functionally": {"wanted": "torch.func.functional_call(self.slow, dict(self.slow.named_parameters()), (batch,))"},
    "in a partial": {"before": "from functools import partial\n", "wanted": "partial(self.slow)(batch)"},
    "compiled": {"wanted": "torch.compile(self.slow)(batch)"},
    "as a function of the object": {
        "slow": f"{_SLOW}\nself.goal = lambda x: self.slow(x)",
        "wanted": "self.goal(batch)",
    },
    "in an object": {
        "before": (
            "class Judge:\n    def __init__(self, owner):\n        self.owner = owner\n\n"
            "    def __call__(self, x):\n        return self.owner.slow(x)\n"
        ),
        "slow": f"{_SLOW}\nself.judge = Judge(self)",
        "wanted": "self.judge(batch)",
    },
    "as weights alone": {"slow": "self.slow = nn.Parameter(torch.zeros(4))", "wanted": "self.slow.expand(2, 4)"},
    "of the program": {"before": "SLOW = nn.Linear(8, 4)\n", "slow": "", "wanted": "SLOW(batch)"},
    "of the same container": {
        "slow": "self.fast = nn.ModuleDict({'a': nn.Linear(8, 4), 'b': nn.Linear(8, 4)})",
        "wanted": "self.fast['b'](batch)",
    },
    "of the same network": {"wanted": "self.fast.slow(batch)", "slow": ""},
    "set from outside": {"wanted": "self.slow(batch)", "slow": ""},
}


def _safe(way: dict[str, str]) -> list[bool]:
    parts = {"before": "", "slow": _SLOW, "method": "", **way}
    parts |= {"slow": indent(parts["slow"], " " * 8), "method": indent(parts["method"], " " * 4)}
    case = next(each for each in cases() if each.rule.code == "GRD004" and each.name == "example")
    found = case.run({"case.py": _PROGRAM.format(**parts).encode()}, fix=False).findings
    return [each.safety is Safety.SAFE for each in found if each.code == "GRD004"]


@pytest.mark.law
@pytest.mark.parametrize("way", _WAYS)
def test_what_may_run_a_second_network_is_no_safe_fix(way: str) -> None:
    assert _safe(_WAYS[way]) == [False]


def test_one_network_alone_is_a_safe_fix() -> None:
    assert _safe({"slow": "", "wanted": "batch[:, :4]"}) == [True]
