"""Fixes that a tired engineer might write, each wrong in one way."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from world import CHECKOUT, Result, process, write

from codemods.model.effect import Effect

PLAIN = """\
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 16))
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(16, 4)
        self.aux = nn.Linear(16, 1)

    def forward(self, x):
        hidden = self.drop(self.encoder(x))
        return self.head(hidden), self.aux(hidden)


net = Net()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
for step in range(4):
    x, y = 50 * torch.randn(16, 8), torch.randint(0, 4, (16,))
    optimizer.zero_grad()
    with torch.cpu.amp.autocast():
        logits, aux = net(x)
    loss = F.cross_entropy(logits.float(), y)
    penalty = aux.float().pow(2).mean()
    total = loss + penalty
    total.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    schedule.step()
"""
"""Right, but for a deprecated name."""

SCALED = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for step in range(4):
    x, y = torch.randn(16, 8), torch.randn(16, 1)
    for half in range(2):
        loss = nn.functional.mse_loss(net(x), y)
        loss = loss / 2
        scaler.scale(loss).backward()
    scaler.step(optimizer)
    optimizer.zero_grad()
"""
"""The scaler is never updated: the second step raises."""

CUT = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    x, y = torch.randn(16, 8), torch.randn(16, 1)
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    total = torch.tensor(loss.item())
    total.backward()
    optimizer.step()
"""
"""The loss is copied: element 0 of tensors does not require grad."""

BLOCKS = """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(16, 16), nn.Tanh()) for _ in range(3))
        self.last = nn.Linear(16, 1)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = x + checkpoint(block, x)
        return self.last(x)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(16, 8), torch.randn(16, 1)
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
"""Right, but for a warning."""


@dataclass(frozen=True, slots=True)
class WrongFix:
    """A program, texts in it and what they become, and what the codemod claims to change."""

    name: str
    program: str
    edits: tuple[tuple[str, str], ...]
    effect: Effect
    says: str
    """What the verdict must name."""

    @property
    def after(self) -> str:
        """The program as the codemod leaves it."""
        text = self.program
        for old, new in self.edits:
            assert text.count(old) == 1, f"{self.name}: {old!r}"
            text = text.replace(old, new)
        return text


CODEMOD = """\
import ast
from pathlib import Path

from codemods.model.edits import Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Rule
from codemods.syntax.verbs import delete, insert_before

wrong = Rule(
    code="BAD001",
    name="wrong-fix",
    summary="A deliberately wrong codemod",
    fix_title="Make it wrong",
    safety=Safety.SAFE,
    effect=Effect[EFFECT],
    triggers=(("torch",),),
    module=__name__,
)


@wrong.on(ast.Module)
def check(module, ctx):
    new = Path(__file__).with_name("after.txt").read_text()
    if ast.dump(module) != ast.dump(ast.parse(new)):
        statements = [ast.get_source_segment(new, statement) for statement in ast.parse(new).body]
        yield wrong.finding(module.body[0], fix=[insert_before(module.body[0], *statements), delete(*module.body)])
"""
"""A rule that puts the file `after.txt` in the place of every other."""


RENAME = ("torch.cpu.amp.autocast()", 'torch.amp.autocast("cpu")')
UPDATE = ("optimizer.zero_grad()", "scaler.update()\n    optimizer.zero_grad()")
CLIP = "nn.utils.clip_grad_norm_(net.parameters(), 1.0)"


def _renaming(name: str, says: str, *edits: tuple[str, str], effect: Effect = Effect.EQUAL) -> WrongFix:
    return WrongFix(name, PLAIN, (RENAME, *edits), effect, says)


def _updating(name: str, says: str, *edits: tuple[str, str]) -> WrongFix:
    return WrongFix(name, SCALED, (UPDATE, *edits), Effect.FACTOR, says)


def _checkpointing(name: str, says: str, new: str) -> WrongFix:
    return WrongFix(name, BLOCKS, (("x + checkpoint(block, x)", new),), Effect.NEW_GRADIENTS, says)


def _reconnecting(name: str, says: str, new: str) -> WrongFix:
    return WrongFix(name, CUT, (("torch.tensor(loss.item())", new),), Effect.GRADIENTS, says)


STEP = "optimizer.step()"
SUM = "loss + penalty"
WIDE = Effect.GRADIENTS
WRONG = (
    # The five that an earlier version accepted, all with a wide claim.
    _renaming("clip-after-step", "clipped", (f"    {CLIP}\n", ""), (STEP, f"{STEP}\n    {CLIP}"), effect=WIDE),
    _renaming("learning-rate", "`lr` of optimizer 0", ("1e-3", "1e-2"), effect=WIDE),
    _renaming("loss-dropped", "no gradient reaches", (SUM, "loss"), effect=WIDE),
    _renaming("encoder-cut", "no gradient reaches", ("self.encoder(x)", "self.encoder(x).detach()"), effect=WIDE),
    _renaming("loss-times-1000", "loss 1 is", (SUM, f"1000 * ({SUM})"), effect=WIDE),
    # Renames that do something else, too.
    _renaming("other-dtype", "the gradient of", ('autocast("cpu")', 'autocast("cpu", enabled=False)')),
    _renaming("wider-clip", "clipped by", (CLIP, CLIP.replace("1.0", "10.0"))),
    _renaming("weight-decay", "`weight_decay` of optimizer 0", ("=0.1)", "=0.0)")),
    _renaming("never-zeroed", "the gradient of", ("    optimizer.zero_grad()\n", "")),
    _renaming("fewer-steps", "`lr` of optimizer 0", (STEP, f"if step % 2:\n        {STEP}")),
    _renaming("schedule-dropped", "loss 3 is", ("    schedule.step()\n", "")),
    _renaming("half-the-parameters", "in no optimizer", ("net.parameters(), lr", "net.head.parameters(), lr")),
    _renaming("evaluation-mode", "loss 1 is", ("net = Net()", "net = Net().eval()")),
    _renaming("frozen-encoder", "in no optimizer", ("Linear(16, 16))", "Linear(16, 16)).requires_grad_(False)")),
    # Repairs of an error, each of which brings another one.
    _reconnecting("forced-gradient", "no gradient reaches any parameter", "loss.detach().requires_grad_()"),
    _reconnecting("another-loss", "loss 1 is", "net(x).mean()"),
    _updating("step-beside-scaler", "No inf checks were recorded", ("scaler.step(optimizer)", STEP)),
    _updating("clip-of-scaled", "multiplied by the loss scale", ("    scaler.step", f"    {CLIP}\n    scaler.step")),
    _updating("half-a-batch", "differentiated before the first step: 1 instead of 2", ("range(2)", "range(1)")),
    _updating("scale-times-3", "loss 1 is", ("scaler.scale(loss).backward()", "(scaler.scale(loss) * 3).backward()")),
    # Checkpointing.
    _checkpointing("input-detached", "first gradient", "x + checkpoint(block, x.detach(), use_reentrant=False)"),
    _checkpointing("residual-dropped", "loss 1 is", "checkpoint(block, x, use_reentrant=False)"),
    _checkpointing("no-grad-blocks", "no gradient reaches", "x + torch.no_grad()(block)(x)"),
)


def attempted(wrong: WrongFix, place: Path) -> Result:
    """What `fixer apply --verify` says, in a project below `place`, with the codemod installed."""
    files = {
        "wrong_fix.py": CODEMOD.replace("EFFECT", repr(wrong.effect.name)),
        "after.txt": wrong.after,
        "wrong_fix-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: wrong-fix\nVersion: 1.0\n",
        "wrong_fix-1.0.dist-info/entry_points.txt": "[fixer.rules]\nwrong = wrong_fix:wrong\n",
    }
    site = write(place / "site", files)
    root = write(place / "project", {"train.py": wrong.program})
    environment = {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(site), str(CHECKOUT)])}
    command = f'"{sys.executable}" train.py'
    return process("apply", "--select", "BAD001", "--verify", command, at=root, environment=environment)
