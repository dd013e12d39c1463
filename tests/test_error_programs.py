"""`fixer diagnose` on 31 programs that fail as training code fails: each log has the right place, and cause or fix.

`error_programs/NAME/` holds the program and what it printed. The answers were checked by hand against the programs.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from world import CHECKOUT, fixer

PROGRAMS = CHECKOUT / "tests" / "error_programs"
RUN = 'fixer verify --no-fixes --run "python train.py"'


@dataclass(frozen=True)
class Answer:
    """What has to be said of a program."""

    raised: int | None
    """The line that the traceback ends at in the repository; None: the log names none."""
    line: str
    """The line that is to be changed, or that cuts the graph."""
    cause: str = ""
    """How the first cause begins, where no rule finds it."""
    next: str = RUN
    """The command that is offered first; empty: a sentence says what to do."""


ANSWERS = {
    "rewrapped": Answer(14, "loss = torch.tensor([F.mse_loss(", next="fixer apply --select GRD001"),
    "no-grad-forward": Answer(11, "with torch.no_grad():", "The forward pass runs with gradients off"),
    "grad-left-off": Answer(17, "torch.set_grad_enabled(False)", "The forward pass runs with gradients off"),
    "argmax": Answer(12, ".argmax(1).float()", "The loss is computed from `argmax`"),
    "frozen-head": Answer(22, "p.requires_grad_(False)", "Every parameter that is used is frozen"),
    "numpy-roundtrip": Answer(12, ".detach().numpy()", "The loss is made anew from numbers"),
    "inference-mode-step": Answer(14, "@torch.inference_mode()", "The forward pass runs with gradients off"),
    "raw-backward-scaler": Answer(15, "    loss.backward()", next="fixer apply --select SCL003"),
    "lightning-raw": Answer(19, "        loss.backward()", next="fixer apply --select PL001"),
    "encoder-eval": Answer(
        14, "self.encoder = nn.TransformerEncoder", next="fixer apply --select ATT001 --unsafe-fixes"
    ),
    "half-model": Answer(10, "nn.Linear(4, 1).half()", "The model was cast (`.half()`", ""),
    "outside-autocast": Answer(16, "with torch.autocast(", "An output of autocast goes into a layer", ""),
    "no-inf-frozen": Answer(15, "p.requires_grad = False", "Its parameters are frozen"),
    "no-inf-zero-grad": Answer(15, "scaler.step(optimizer)", next="fixer apply --select SCL010 --unsafe-fixes"),
    "step-beside-scaler": Answer(16, "    optimizer.step()", next="fixer apply --select SCL005 --unsafe-fixes"),
    "unscale-micro": Answer(14, "scaler.unscale_(optimizer)"),
    "checkpoint-data": Answer(None, "checkpoint(self.a, x, use_reentrant=True)", "Data, frozen embeddings or"),
    "rnn-state": Answer(14, "out, hidden = rnn(", "Something is kept from one iteration to the next"),
    "gan-fake": Answer(17, "fake = torch.tanh(G(", "Two losses share a forward pass"),
    "gan-step-between": Answer(18, "od.step()", "An optimizer steps between the forward pass and a `backward()`"),
    "inplace-add": Answer(20, "out += x", "`x += y`, `x[...] = y`"),
    "ddp-unused": Answer(
        27, "", "A head, branch or layer is not used in the loss", "TORCH_DISTRIBUTED_DEBUG=INFO python train.py"
    ),
    "old-names": Answer(10, "scaler = GradScaler()", next="fixer apply --select AMP002"),
    "unscale-fp16": Answer(14, "nn.Linear(4, 1).half()", "`model.half()`"),
    "numpy-grad": Answer(16, "losses.append(loss.cpu().numpy())", next="fixer apply --select GRD019"),
    "non-leaf": Answer(9, "noise = torch.randn(3, 4, requires_grad=True) * 0.1", "`.to(device)`, `.cuda()`", ""),
    "index-put": Answer(13, "out[index] = model(x[index])", next="fixer apply --select AMP005"),
    "index-put-half": Answer(10, "hidden[ids == 0] = features", "The destination is in 16 bits", ""),
    "float-labels": Answer(11, "y = torch.Tensor([0, 1, 2", "The labels are floats", ""),
    "fused-clip": Answer(22, "torch.optim.AdamW(self.parameters(), fused=True)", "`fused=True` together with", ""),
    "test-step": Answer(15, "", "An evaluation that needs gradients"),
}


def test_every_program_has_an_answer() -> None:
    assert {path.name for path in PROGRAMS.iterdir()} == set(ANSWERS) and len(ANSWERS) == 31


@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_said_of_a_program(name: str, tmp_path: Path) -> None:
    answer = ANSWERS[name]
    shutil.copytree(PROGRAMS / name, tmp_path / "run")
    (tmp_path / "run" / "train.log").rename(tmp_path / "train.log")
    told = fixer("diagnose", "../train.log", at=tmp_path / "run", real=True)
    content = json.loads(fixer("diagnose", "../train.log", "--format", "json", at=tmp_path / "run", real=True).out)
    assert told.code == 0 and content["known"], told.text
    assert [frame["line"] for frame in content["frames"]][-1:] == ([answer.raised] if answer.raised else [])
    lines = (PROGRAMS / name / "train.py").read_text().splitlines()
    offered = [line.strip() for line in told.text.splitlines() if re.match(r"  (fixer|TORCH_)", line)]
    assert offered[:1] == ([answer.next] if answer.next else [])
    assert answer.next or "\nNext: " in told.text
    if answer.cause:
        first = " ".join(re.split(r"\n(?=2\. )", told.text.partition("\n1. ")[2])[0].split())
        assert first.startswith(answer.cause) and answer.line.strip() in first
        assert not content["findings"]
        return
    assert any(answer.line in lines[finding["line"] - 1] for finding in content["findings"])
    if answer.next == RUN:  # a rule that only reports
        return
    done = fixer(*shlex.split(answer.next)[1:], at=tmp_path / "run", real=True)
    assert done.code in (0, 1) and (tmp_path / "run" / "train.py").read_text().splitlines() != lines, done.err


def test_tables_of_lightning_are_no_message(tmp_path: Path) -> None:
    """`Non-trainable params: 0` says nothing is frozen; PEFT's `trainable params: 0` says all is."""
    shutil.copy(PROGRAMS / "lightning-raw" / "train.log", tmp_path)
    assert "Non-trainable params: 0" in (tmp_path / "train.log").read_text()
    assert "The adapter is frozen" not in fixer("diagnose", "train.log", at=tmp_path, real=True).text
