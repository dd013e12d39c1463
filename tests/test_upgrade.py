"""`fixer upgrade`: what it refuses, what it changes and names, and a small project that it carries over a major release
of Lightning, run before and after."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from world import fixer, git, repository

OLD = """import pytorch_lightning as pl
import torch
from pytorch_lightning.utilities.seed import seed_everything


class Regression(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return self.linear(batch).pow(2).mean()

    def validation_step(self, batch, batch_idx):
        return self.linear(batch).mean()

    def validation_epoch_end(self, outputs):
        print("mean", float(torch.stack(outputs).mean()))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def main():
    seed_everything(0)
    data = torch.utils.data.DataLoader(torch.ones(8, 4), batch_size=4)
    trainer = pl.Trainer(
        gpus=0,
        replace_sampler_ddp=False,
        checkpoint_callback=False,
        max_epochs=1,
        logger=False,
    )
    trainer.fit(Regression(), data, val_dataloaders=data)
    print("steps", trainer.global_step)


if __name__ == "__main__":
    main()
"""
DECIDED = (
    ("        gpus=0,\n", '        accelerator="cpu",\n'),
    ("        super().__init__()\n", "        super().__init__()\n        self.outputs = []\n"),
    (
        "        return self.linear(batch).mean()\n",
        "        self.outputs.append(self.linear(batch).mean())\n        return self.outputs[-1]\n",
    ),
    ("    def validation_epoch_end(self, outputs):\n", "    def on_validation_epoch_end(self):\n"),
    (
        "torch.stack(outputs).mean()))\n",
        "torch.stack(self.outputs).mean()))\n        self.outputs.clear()\n",
    ),
)
"""What a person writes for each of the two decisions."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "p", {"train.py": OLD, "requirements.txt": "pytorch-lightning==1.8.2\n"})


@pytest.mark.parametrize(
    ("release", "said"),
    [
        ("transformers", "'transformers' is no release: write PACKAGE@VERSION, such as transformers@5.23.0"),
        ("numpy@2.0", "no table says what numpy changed: give one of accelerate, datasets, lightning"),
        ("transformers@newest", "newest"),
    ],
)
def test_what_is_no_release_is_refused(project: Path, release: str, said: str) -> None:
    run = fixer("upgrade", release, at=project, real=True)
    assert run.code == 2 and said in run.err
    assert (project / "train.py").read_text() == OLD


def test_dry_run_names_what_is_left(project: Path) -> None:
    run = fixer("upgrade", "lightning@2.6.6", "--dry-run", "--unsafe-fixes", at=project, real=True)
    assert run.code == 1 and (project / "train.py").read_text() == OLD
    changed = [line for line in run.out.decode().splitlines() if line.startswith(("+", "-")) and line[1:2] not in "+-"]
    assert changed == [
        "-pytorch-lightning==1.8.2",
        "+pytorch-lightning==2.6.6",
        "-from pytorch_lightning.utilities.seed import seed_everything",
        "+from pytorch_lightning import seed_everything",
        "-        replace_sampler_ddp=False,",
        "-        checkpoint_callback=False,",
        "+        use_distributed_sampler=False,",
        "+        enable_checkpointing=False,",
    ]
    assert [line.partition(" since ")[0] for line in run.err.splitlines() if line.startswith("note: train.py")] == [
        "note: train.py:17: PL104 `validation_epoch_end` of `LightningModule` is gone",
        (
            "note: train.py:27: VER008 defaults of `Trainer` changed: `accelerator` None → 'auto' (lightning 2.0), "
            "`devices` None → 'auto' (lightning 2.0), `strategy` None → 'auto' (lightning 2.0)"
        ),
        "note: train.py:28: PL103 `gpus` of `Trainer` is gone",
    ]


def test_branch_has_a_commit_for_each_rule(project: Path) -> None:
    run = fixer("upgrade", "lightning@2.6.6", "--unsafe-fixes", "--branch", "up", at=project, real=True)
    assert run.code == 0, run.err
    subjects = git("log", "--format=%s", "main..up", at=project).splitlines()
    assert sorted(each.partition(":")[0] for each in subjects) == ["fix(PL103)", "fix(PL106)", "fix(VER007)"]
    assert (project / "train.py").read_text() == OLD


@pytest.mark.torch
def test_a_project_is_carried_over_a_major_release(project: Path) -> None:
    """With the installed Lightning, it ends at construction before, and trains after."""

    def ran() -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "train.py"], cwd=project, capture_output=True, text=True, check=False)

    assert "cannot import name 'seed_everything'" in ran().stderr
    fixer("upgrade", "lightning@2.6.6", "--unsafe-fixes", at=project, real=True)
    assert "unexpected keyword argument 'gpus'" in ran().stderr
    source = (project / "train.py").read_text()
    for old, new in DECIDED:
        assert source.count(old) == 1
        source = source.replace(old, new)
    (project / "train.py").write_text(source)
    done = ran()
    assert done.returncode == 0, done.stderr
    assert "steps 2" in done.stdout and done.stdout.count("mean ") == 2
