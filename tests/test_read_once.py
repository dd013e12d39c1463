"""What holds for a whole project is found once: more files that ask for it read no other file more often.

Parses and readings are counted, so that no clock decides.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

import pytest
from memory import Memory

from codemods.engine.rounds import Options, plan
from codemods.project import index as project
from codemods.project.index import Index
from codemods.transforms import load

OTHERS = 300
"""Files of the project that are asked about: more than a small cache of texts holds."""

TRAINER = "from lightning.pytorch import Trainer\n\n\ndef run(config):\n    return Trainer(**config.trainer), {}\n"
TRAINER_TABLE = "trainer:\n  precision: 16\n  max_epochs: {}\n"
FLAG = "python main.py trainer.precision=16 seed={}\n"
READER = "\n\ndef precision_of_{}(config):\n    return config.precision\n"
MIXED = """\
import torch


def training_step_{}(model, x):
    with torch.autocast("cuda"):
        with torch.no_grad():
            return model(x)


class Net:
    def training_step(self, batch):
        return batch
"""
ENCODER = """\
import torch
from torch import nn

MODELS = [nn.TransformerEncoderLayer(8, {}, batch_first=False)]


def evaluate(model, x):
    with torch.autocast("cpu"):
        return model(x)
"""
OPTIMIZER = """\
import torch
import lightning as L


class Optimizer_{}(torch.optim.Optimizer):
    def step(self, closure):
        with torch.no_grad():
            return 1


class Net_{}(L.LightningModule):
    def configure_optimizers(self):
        return Optimizer_{}(self.parameters())
"""
CAST = """\
from torch import nn


class Block_{}(nn.Module):
    def forward(self, x):
        x = x.float()
        x.requires_grad_()
        return x
"""
CLIP = """\
import torch


def train_{}(model, optimizer, scaler: torch.amp.GradScaler, batches):
    for batch in batches:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
"""
QUANTIZED = """\
from peft import prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM


def load_{}(name):
    model = AutoModelForCausalLM.from_pretrained(name, load_in_4bit=True)
    return prepare_model_for_kbit_training(model)
"""
ARGUMENTS = """\
from transformers import TrainingArguments

ARGUMENTS = [TrainingArguments("out/{}", gradient_checkpointing=False)]
"""


@pytest.mark.parametrize("fix", [False, True], ids=["check", "apply"])
@pytest.mark.parametrize(
    ("codes", "asking", "asked"),
    [
        pytest.param("PL101 PL102", ("conf/{}.yaml", TRAINER_TABLE), TRAINER, id="what a Trainer is handed"),
        pytest.param("PL101", ("conf/{}.yaml", TRAINER_TABLE), TRAINER + READER, id="who reads a precision"),
        pytest.param("PL101", ("scripts/{}.sh", FLAG), TRAINER, id="flags"),
        pytest.param("VER001", ("requirements/{}.txt", "lightning==2.0.1\n# {}\n"), OPTIMIZER, id="closures"),
        pytest.param("VER002", ("requirements/{}.txt", "torch==2.1.0\n# {}\n"), MIXED, id="autocast cache"),
        pytest.param("VER003", ("requirements/{}.txt", "torch==2.1.0\n# {}\n"), ENCODER, id="encoders"),
        pytest.param("CKP003", ("train_{}.py", QUANTIZED), ARGUMENTS, id="who switches checkpointing on"),
        pytest.param("CKP007", ("block_{}.py", CAST), "def f_{}(x):\n    return x.grading\n", id="who reads gradients"),
        pytest.param("SCL001", ("train_{}.py", CLIP), "def f_{}(x):\n    return x.unscale_it()\n", id="who unscales"),
    ],
)
def test_more_files_that_ask(
    codes: str, asking: tuple[str, str], asked: str, fix: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project, "_MOST_TREES", 1_000)
    rules = tuple(rule for rule in load() if rule.code in codes.split())
    others = {f"src/other_{n}.py": asked.replace("{}", str(n)) for n in range(OTHERS)}
    paths = {text: path for path, text in others.items()}
    parse, text_of = ast.parse, Index.text

    def readings(count: int) -> Counter[tuple[str, str]]:
        """How often each of the others is parsed, and its text is read, where so many files ask."""
        counted: Counter[tuple[str, str]] = Counter()

        def parsing(source: Any, *args: Any, **options: Any) -> ast.AST:
            counted["parsed", paths.get(source, "")] += 1
            return parse(source, *args, **options)

        def reading(index: Index, path: str) -> str | None:
            counted["read", path if path in others else ""] += 1
            return text_of(index, path)

        name, text = asking
        mine = {name.format(n): text.replace("{}", str(n)) for n in range(count)}
        with monkeypatch.context() as patch:
            patch.setattr(ast, "parse", parsing)
            patch.setattr(Index, "text", reading)
            result = plan(sorted(mine), Memory(others | mine), Options(rules=rules, unsafe=True), fix=fix)
        assert result.files_read == count
        return Counter({key: times for key, times in counted.items() if key[1]})

    few = readings(4)
    assert few
    assert readings(8) == few
