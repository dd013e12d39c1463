"""Files written for the benchmark: training code with known bugs, and a class whose bases lie in other files."""

from __future__ import annotations

FOLDER = "planted"
COUNT = 1_000

REQUIREMENTS = "torch==2.6.0\nlightning==2.5.0\n"

AMP002 = """\
import torch
from torch.cuda.amp import GradScaler


def train(model, optimizer, batches):
    scaler = GradScaler()
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = model(x, y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
"""
CKP001 = """\
import torch
from torch.utils.checkpoint import checkpoint


class Stack(torch.nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x)
        return x
"""
GRD001 = """\
import torch


def train(model, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        loss = torch.tensor(torch.nn.functional.mse_loss(model(x), y), requires_grad=True)
        loss.backward()
        optimizer.step()
"""
PL001 = """\
import lightning.pytorch as pl
import torch


class Model(pl.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.automatic_optimization = False
        self.layer = torch.nn.Linear(width, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        loss = self.layer(batch).mean()
        loss.backward()
        optimizer.step()
"""
SCL001 = """\
import torch


def train(model, optimizer, batches):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = model(x, y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
"""
BUGS = {"AMP002": AMP002, "CKP001": CKP001, "GRD001": GRD001, "PL001": PL001, "SCL001": SCL001}
"""By the rule that repairs it: each file gets one."""

INNOCENT = '''

def moving_average_{number}_{part}(values, weight=0.{part}5):
    """The average of `values` that forgets at rate `weight`."""
    average, averages = None, []
    for value in values:
        average = value if average is None else weight * value + (1 - weight) * average
        averages.append(average)
    if not averages:
        raise ValueError("no values to average in run {number}")
    return {{"last": averages[-1], "all": averages, "spread": max(averages) - min(averages)}}
'''

CHANGED = "lineage/gan.py"
LINEAGE = {
    "lineage/base.py": """\
import lightning.pytorch as pl
import torch


class Base(pl.LightningModule):
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
""",
    "lineage/manual.py": """\
from lineage.base import Base


class Manual(Base):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
""",
    CHANGED: """\
import torch

from lineage.manual import Manual


class Gan(Manual):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        loss = self.layer(batch).mean()
        loss.backward()
        optimizer.step()
""",
}
"""A file that is wrong only because of what two other files say."""
EDITED = LINEAGE[CHANGED].replace("loss.backward()", "loss.backward(retain_graph=False)")
"""What a person made of it after the commit."""


INNOCENT_FILE, WRONG_FILE = "innocent.py", "wrong.py"
FIFTEEN = {
    "requirements.txt": REQUIREMENTS,
    WRONG_FILE: SCL001,
    **{f"train_{code.lower()}.py": BUGS[code] for code in ("AMP002", "CKP001", "GRD001", "PL001")},
    INNOCENT_FILE: INNOCENT.format(number=0, part=1),
    **{f"more_{number}.py": INNOCENT.format(number=number, part=2) for number in range(1, 10)},
}
"""A small repository: five files with a bug, ten that no rule concerns."""


def files() -> dict[str, str]:
    """COUNT files of about a hundred lines, each with one bug that has a safe fix."""
    codes = sorted(BUGS)
    found = {f"{FOLDER}/requirements.txt": REQUIREMENTS}
    for number in range(COUNT):
        innocent = "".join(INNOCENT.format(number=number, part=part) for part in range(1, 9))
        folder = f"{FOLDER}/runs_{number // 50:02}"
        found[f"{folder}/run_{number:04}.py"] = BUGS[codes[number % len(codes)]] + innocent
    return found


_CONFIGURATION = """\
name: model_{number}
trainer:
  devices: 1
  num_nodes: 1
  max_epochs: 100
  accelerator: gpu
  strategy: ddp
  precision: bf16
  accumulate_grad_batches: 1
  gradient_clip_val: 1.0
exp_manager:
  name: ${{name}}
model:
  optim:
    name: adamw
    lr: 1e-{power}
"""
_SCRIPT = """\
import lightning.pytorch as pl
from omegaconf import OmegaConf

from nemo.core.config import hydra_runner


@hydra_runner(config_path="conf", config_name="model_{number}")
def main(cfg):
    trainer = pl.Trainer(**cfg.trainer)
    print(OmegaConf.to_yaml(cfg), trainer)


if __name__ == "__main__":
    main()
"""
CONFIGURATIONS = {
    f"examples/{name}": text.format(number=number, power=number % 5 + 1)
    for number in range(293)
    for name, text in ((f"conf/model_{number}.yaml", _CONFIGURATION), (f"train_{number}.py", _SCRIPT))
}
"""As many configurations for Hydra as NeMo's repository has, each with the script that reads it."""
