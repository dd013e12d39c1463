"""`fixer explain FILE:LINE`: what every rule says about a line, and what becomes of that."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from world import fixer, repository

from codemods.analysis.python_context import PythonContext
from codemods.engine.examination import examine
from codemods.model.edits import Consequence, Safety
from codemods.project.index import Index
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.syntax.verbs import edit_call
from fixer.project.worktree import WorkTree

BUG = "import torch\n\nwith torch.no_grad:\n    pass\nscaler = torch.cuda.amp.GradScaler()\n"
CELLS = ["import torch"], ["x = 1\n", "with torch.no_grad:\n", "    pass"]
NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": lines}
            for lines in CELLS
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)
TRAIN = """\
import pytest
import torch
from torch.cuda.amp import autocast, GradScaler


def step(model, loss, scaler, opt):
    scaler.step(opt)
    with autocast():  # fixer: ignore[AMP002]
        out = model(1)
    helper(out).backward()


def train(model, opt, data, run):
    scaler = GradScaler()
    for x in data:
        with torch.autocast("cuda"):
            with torch.no_grad():
                model(x)
            loss = model(x)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(
            model.parameters(),
            1,
        )
        scaler.step(opt)
        scaler.update()
        run()


def test_it():
    with pytest.raises(AttributeError):
        with torch.no_grad:
            pass
"""
LIGHTNING = """\
import lightning as L


class Net(L.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self(batch)
        loss.backward()
        self.log("loss", loss)
"""
PROJECT: dict[str, str | bytes] = {
    "pyproject.toml": '[tool.fixer]\nexclude = ["gen"]\n[tool.fixer.per-file-ignores]\n"tests/**" = ["GRD"]\n',
    "requirements.txt": "torch==2.13.0\n",
    "a.py": BUG,
    "amp/fixer.toml": 'ignore = ["AMP", "raises"]\n',
    "amp/a.py": BUG,
    "gen/a.py": BUG,
    "tests/a.py": BUG,
    "third_party/a.py": BUG,
    "made.py": f"# @generated\n{BUG}",
    "bad.py": "import torch\ndef (\n",
    "train.py": TRAIN,
    "net.py": LIGHTNING,
    "n.ipynb": NOTEBOOK,
    "words.py": "# GradScaler, step\nclip_grad_norm_ = 1\n",
    ".gitignore": "ignored.py\n",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = repository(tmp_path_factory.mktemp("explained") / "project", PROJECT)
    (root / "ignored.py").write_text(BUG)
    return root


def explained(place: str, at: Path, *options: str) -> dict[str, Any]:
    result = fixer("explain", place, "--format", "json", *options, at=at, real=True)
    assert result.code == 0, result.err
    found: dict[str, Any] = json.loads(result.out)
    return found


@pytest.mark.parametrize(
    ("place", "becomes", "why"),
    [
        ("a.py:3", "GRD008 fixed", "`fixer apply a.py` fixes it: the fix is safe"),
        ("a.py:3:6", "GRD008 fixed", "`fixer apply a.py` fixes it: the fix is safe"),
        ("amp/a.py:3", "GRD008 not-selected", "leaves out what is raises (pyproject.toml, amp/fixer.toml)"),
        (
            "amp/a.py:5",
            "AMP002 not-selected",
            "`select` or `ignore` leaves AMP002 out (pyproject.toml, amp/fixer.toml)",
        ),
        ("gen/a.py:3", "GRD008 left-out", "`exclude` leaves it out: the pattern `gen` covers it"),
        ("tests/a.py:3", "GRD008 not-selected", "`per-file-ignores` leaves it out (pyproject.toml)"),
        ("third_party/a.py:3", "GRD008 fixed", "`fixer apply third_party/a.py` fixes it"),
        ("made.py:4", "GRD008 left-out", "its head says that a program wrote it"),
        ("train.py:8", "AMP002 suppressed", "the comment at line 8 silences it"),
        ("train.py:17", "AMP001 other-versions", "it applies to torch <2.11; here torch is 2.13.0 (requirements.txt)"),
        ("train.py:22", "SCL001 fixed", "`fixer apply train.py` fixes it: the fix is safe"),
        ("train.py:32", "GRD008 expected", "the code around it expects the error or the warning"),
        ("n.ipynb:cell 2:2", "GRD008 fixed", "`fixer apply n.ipynb` fixes it: the fix is safe"),
    ],
)
def test_what_becomes_of_a_finding(project: Path, place: str, becomes: str, why: str) -> None:
    found = explained(place, project)["findings"]
    assert [f"{each['code']} {each['becomes']}" for each in found] == [becomes]
    assert why in found[0]["why"]


@pytest.mark.parametrize(
    ("arguments", "becomes", "why"),
    [
        (("a.py:1",), "OLD001 fixed", "`fixer apply a.py` fixes it: the fix is safe"),
        (("a.py:2",), "OLD003 unsafe", "`fixer apply --unsafe-fixes a.py` takes it; `fixer explain OLD003` says more"),
        (("a.py:3",), "OLD004 by-hand", "to decide by hand: the rule offers no fix here; `fixer explain OLD004`"),
        (("b/a.py:1",), "OLD003 fixed", "the fix is unsafe, and these are switched on"),
    ],
)
def test_why_a_finding_is_fixed_or_not(tmp_path: Path, arguments: tuple[str, ...], becomes: str, why: str) -> None:
    files: dict[str, str | bytes] = {
        "a.py": "old_one()\nold_three()\nold_four()\n",
        "b/fixer.toml": "unsafe-fixes = true\n",
        "b/a.py": "old_three()\n",
    }
    (found,) = json.loads(fixer("explain", *arguments, "--format", "json", at=repository(tmp_path / "p", files)).out)[
        "findings"
    ]
    assert f"{found['code']} {found['becomes']}" == becomes and why in found["why"]


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ("train.py:7", ["`scaler` is a parameter of `step`: its class is not known"]),
        ("train.py:8", ["`autocast` is `torch.cuda.amp.autocast`"]),
        ("train.py:9", ["`model` is a parameter of `step`: what it does is not known"]),
        ("train.py:10", ["`helper` is bound nowhere in sight: what it does is not known"]),
        ("train.py:20", ["`scaler` is an instance of `torch.cuda.amp.GradScaler`"]),
        ("train.py:22", ["`model` is a parameter of `train`: its class is not known"]),
        ("net.py:6", ["`self` is an instance of `Net` of net.py"]),
        ("net.py:8", ["`self` is an instance of `Net` of net.py"]),
    ],
)
def test_what_the_names_of_a_line_stand_for(project: Path, place: str, names: list[str]) -> None:
    (unit,) = explained(place, project)["units"]
    assert len(unit["names"]) == len(names)
    assert all(said.startswith(name) for said, name in zip(unit["names"], names, strict=True))


@pytest.mark.parametrize(
    ("place", "code", "why"),
    [
        ("a.py", "SCL001", "the file holds no `step`"),
        ("a.py", "CKP001", "the file holds none of `checkpoint` and `checkpoint_sequential`"),
        ("a.py", "GRD001", "the file holds none of `tensor`, `as_tensor`, `asarray` and 4 more"),
        ("a.py", "CKP005", "does not read Python files"),
        ("train.py", "GRD005", "no class of the file descends from "),
        ("words.py", "SCL001", "the file holds no `step` outside of comments and texts"),
        ("requirements.txt", "PL001", "does not read this kind of file"),
    ],
)
def test_why_a_rule_did_not_look(project: Path, place: str, code: str, why: str) -> None:
    (unit,) = explained(place, project)["units"]
    assert unit["not_asked"][code].startswith(why) and code not in unit["asked"]


def test_rules_that_looked_and_say_nothing(project: Path) -> None:
    found = explained("train.py:7", project)
    assert found["findings"] == []
    assert {"SCL001", "SCL003", "AMP002"} <= set(found["units"][0]["asked"])
    told = fixer("explain", "train.py:7", at=project, real=True).text
    assert "train.py:7\n7 |     scaler.step(opt)\n\nNo rule speaks about this line.\n" in told
    assert "\n  SCL001 clip-before-unscale (`scaler`, `step`)\n" in told
    assert max(map(len, told.splitlines())) <= 80
    whole = fixer("explain", "train.py:7", "--verbose", at=project, real=True).text
    assert "\n  ATT001 encoder-fastpath-in-autocast: the file holds no `TransformerEncoder`\n" in whole


def test_a_file_alone_tells_all_its_findings(project: Path) -> None:
    told = fixer("explain", "amp/a.py", at=project, real=True).text
    assert told.count("-> not reported: ") == 2
    assert told.endswith("\nNo other rule speaks about this file (--verbose says why).\n")
    assert "No rule speaks about this file." in fixer("explain", "words.py", at=project, real=True).text


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("bad.py:1", "bad.py is skipped: unparsable: line 2: invalid syntax"),
        ("ignored.py:3", "A check of the project does not report ignored.py: git ignores it"),
        ("third_party/a.py:1", "it counts as vendored or generated"),
    ],
)
def test_what_keeps_a_whole_file_out(project: Path, place: str, sentence: str) -> None:
    told = fixer("explain", place, at=project, real=True).text
    assert " ".join(sentence.split()) in " ".join(told.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("train.py:99",), "train.py:99: the file ends at line 33"),
        (("train.py:0",), "train.py:0: '0' is not a line; write train.py:12"),
        (("train.py:two",), "train.py:two: 'two' is not a line; write train.py:12"),
        (("nowhere.py:1",), "nowhere.py: no such file"),
        (("nowhere.py",), "nowhere.py: no such file"),
        (("tests",), "tests: is a directory; name a file, such as train.py:12"),
        ((".gitignore:1",), "not a kind of file that is read"),
        (("n.ipynb:2",), "n.ipynb:2: name the cell too, as in n.ipynb:'cell 3:2'"),
        (("n.ipynb:cell 9:1",), "n.ipynb: there is no line 1 in a code cell 9"),
        (("a.py:cell 1:1",), "a.py: only a notebook has cells"),
        (("a.py:1", "GRD008"), "explain either places (train.py:12) or rules"),
        (("a.py:1", "--prove"), "--prove is for rules"),
        (("GRD008", "--format", "json"), "--format is for places"),
    ],
)
def test_a_place_that_is_none_is_refused(project: Path, words: tuple[str, ...], sentence: str) -> None:
    result = fixer("explain", *words, at=project, real=True)
    assert (result.code, result.out) == (2, b"") and sentence in result.err


def test_a_path_from_a_subdirectory_and_several_places(project: Path) -> None:
    two = json.loads(fixer("explain", "../a.py:3", "a.py:3", "--format", "json", at=project / "tests", real=True).out)
    assert [(each["path"], each["findings"][0]["becomes"]) for each in two] == [
        ("../a.py", "fixed"),
        ("a.py", "not-selected"),
    ]


FLOOR = {
    "a.py": "from torch.cuda.amp import GradScaler\n\nscaler = GradScaler()\n",
    "requirements.txt": "torch>=2.0\n",
}


@pytest.mark.parametrize(
    ("settings", "becomes", "why", "command"),
    [
        (
            "",
            "unsafe",
            "the fix is unsafe and also changes requirements.txt: `fixer apply --unsafe-fixes a.py requirements.txt`",
            ("--unsafe-fixes",),
        ),
        (
            "unsafe-fixes = true\n",
            "fixed",
            "the fix also changes requirements.txt: `fixer apply a.py requirements.txt` takes it",
            (),
        ),
    ],
)
def test_a_fix_of_several_files_is_taken_where_all_are_named(
    tmp_path: Path, settings: str, becomes: str, why: str, command: tuple[str, ...]
) -> None:
    root = repository(tmp_path / "r", {**FLOOR, "fixer.toml": settings})
    (found,) = explained("a.py:3", root)["findings"]
    assert found["becomes"] == becomes and found["why"].startswith(why)
    assert fixer("apply", *command, "a.py", at=root, real=True).out == b""
    assert fixer("apply", *command, "a.py", "requirements.txt", at=root, real=True).out != b""


CHOICE = Rule("TOY100", "choice", "a choice", "choose", Safety.SAFE, (("call_it",),), consequence=Consequence.SILENT)


@CHOICE.on(ast.Call)
def _choice(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    louder = Remedy([edit_call(call, function="louder")], on_request=bool(call.args))
    if isinstance(call.func, ast.Name) and call.func.id == "call_it":
        yield CHOICE.offer(call, {"louder": louder})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("call_it()\n", ""),
        ("call_it(1)\n", "what to do has to be chosen: --strategy TOY100=louder"),
        (
            "import warnings\nwith warnings.catch_warnings():\n    call_it()\n",
            "warnings are caught, or a name is patched, around it: an edit there might break a test",
        ),
    ],
)
def test_why_a_finding_has_no_fix(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "a.py").write_text(text)
    (unit,) = examine("a.py", Index(WorkTree(tmp_path)), (CHOICE,), {}, None)
    assert [each.unfixed for each in unit.spoken] == [why]
