"""What is remembered of a file is what a new look at it finds, whatever was edited in any file of its project."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import SimpleNamespace

import pytest
from cases import ROOT, Case, cases, sources
from effort import examples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from memory import Memory as Files
from memory import Remembering

from codemods.engine.rounds import Options, plan
from codemods.project import dependencies, results
from codemods.project.dependencies import Code, Existence, Fact, Holding, Question, Replacing, Words, name_of
from codemods.project.index import Index
from codemods.project.results import Remembered
from codemods.transforms import load

pytestmark = pytest.mark.law
NAME = re.compile(r"\b[A-Za-z_]\w*\b")


@pytest.fixture(autouse=True, scope="module")
def few() -> Iterator[None]:
    """Projects here are small: questions are shared among results from three on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dependencies, "FEW", 2)
        yield


@cache
def projects() -> list[Case]:
    """The fixtures of several files."""
    return [case for case in cases() if case.path.is_dir() and len(sources(case.files)) > 1]


def edited(text: str, kind: str, place: int, other: int) -> str:
    """A text after one small edit; `place` and `other` are taken as far as there are lines and names."""
    lines = text.splitlines(keepends=True) or [""]
    at = place % len(lines)
    match kind:
        case "comment line":
            lines.insert(at, f"{re.match(r'[ ]*', lines[at])[0]}# a comment\n")  # type: ignore[index]
        case "comment":
            lines[at] = f"{lines[at].rstrip()}  # a comment\n"
        case "blank line":
            lines.insert(at, "\n")
        case "function":
            lines.append("\n\ndef an_added_function(x):\n    return x\n")
        case "delete":
            del lines[at]
        case "twice":
            lines.insert(at, lines[at])
        case "swap":
            with_ = other % len(lines)
            lines[at], lines[with_] = lines[with_], lines[at]
        case "rename":
            names = sorted({*NAME.findall(text)}) or ["x"]
            old, new = names[place % len(names)], names[other % len(names)]
            return re.sub(rf"\b{old}\b", new, text)
    return "".join(lines)


KINDS = ("comment line", "comment", "blank line", "function", "delete", "twice", "swap", "rename", "gone", "back")
edit = st.tuples(st.integers(0, 9), st.sampled_from(KINDS), st.integers(0, 999), st.integers(0, 999))


def law(number: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return settings(max_examples=examples(number), derandomize=True, database=None, phases=[Phase.generate])


@given(st.integers(0, 9_999), st.lists(edit, min_size=1, max_size=4), st.booleans())
@law(2_000)
def test_remembered_equals_looked_at_anew(number: int, edits: list[tuple[int, str, int, int]], fix: bool) -> None:
    case = projects()[number % len(projects())]
    now = dict(case.files)
    options = case.engine_options()
    before: dict[tuple[str, str], Remembered] = {}
    contents: dict[str, bytes] = {}
    for which, kind, place, other in [(0, "back", 0, 0), *edits]:
        path = sorted(case.files)[which % len(case.files)]
        if kind == "gone":
            now.pop(path, None)
        elif kind == "back" or path not in now:
            now[path] = case.files[path]
        else:
            now[path] = edited(now[path].decode("utf-8", "surrogateescape"), kind, place, other).encode(
                "utf-8", "surrogateescape"
            )
        contents |= {name_of(data): data for data in now.values()}
        files = Files(now)
        index = Index(files, options.targets, noting=True)
        index.past = contents.get
        memory = Remembering(files, before)
        remembered = plan(sources(now), files, options, fix=fix, index=index, memory=memory)
        assert remembered == plan(sources(now), files, options, fix=fix)


LIGHTNING = "import lightning as L\n\n\nclass Base(L.LightningModule):\n    automatic_optimization = False\n"
NET = """\
from {} import Base


class Net(Base):
    def training_step(self, batch):
        loss = self(batch).mean()
        loss.backward()
"""
ALIAS = f"{LIGHTNING.replace('Base', 'A')}\n\nclass B:\n    pass\n\n\nBase = {{}}\n"
OLD = "from torch.cuda.amp import autocast\n\n\ndef f(m, x):\n    with autocast():\n        return m(x)\n"
TARGETS, TRAINING = (
    (ROOT / "no-grad-in-autocast/other_file/before" / name).read_text() for name in ("targets.py", "train.py")
)
OUTSIDE = TRAINING.replace(":\n            loss =", ":\n            pass\n        loss =")
FREEZING = (ROOT / "reentrant-without-input-grad/frozen_elsewhere/before/train.py").read_text()
LAYERS = (ROOT / "reentrant-without-input-grad/frozen_elsewhere/before/model.py").read_text()
Texts = Mapping[str, str]
SCENARIOS: dict[str, tuple[Texts, str, str | None]] = {
    "imports": (
        {
            "net.py": NET.format("mid"),
            "mid.py": "from base import Base\n",
            "base.py": LIGHTNING,
            "other.py": "Base = 1\n",
        },
        "mid.py",
        "from other import Base\n",
    ),
    "classes": (
        {
            "net.py": NET.format("base"),
            "base.py": LIGHTNING.replace("L.LightningModule", "L.LightningDataModule"),
        },  # nothing is found at first, so that no finding names a place in the file
        "base.py",
        LIGHTNING,
    ),
    "assignments": ({"net.py": NET.format("base"), "base.py": ALIAS.format("A")}, "base.py", ALIAS.format("B")),
    "code": (
        {
            "targets.py": TARGETS,
            "train.py": TRAINING.replace(":\n            loss =", ":\n            pass\n        loss ="),
        },
        "train.py",
        TRAINING,
    ),
    "existence": ({"net.py": NET.format("base")}, "base.py", LIGHTNING),
    "holding": ({"old.py": OLD}, "patch.py", 'import torch\nsetattr(torch.cuda.amp, "autocast", print)\n'),
    "replacing": (
        {
            "old.py": OLD.replace("return m(x)", "return m(torch.relu(x))").replace("\n", "\nimport torch\n", 1),
            "patch.py": "import torch\nrelu = torch.relu\n",
        },
        "patch.py",
        "import torch\ntorch.relu = print\n",
    ),
    "words": ({"model.py": LAYERS, "train.py": FREEZING.replace("requires_grad", "wanted")}, "train.py", FREEZING),
    "lines": ({"model.py": LAYERS, "train.py": FREEZING}, "train.py", f"# a comment\n{FREEZING}"),
}
"""A project, and an edit of one of its files that changes what is found in another."""


def differs(files: Texts, path: str, text: str | None) -> bool:
    """Whether what is remembered differs from what a new look finds after the edit; that the edit counts is checked."""
    options = Options(rules=tuple(rule for rule in load() if rule.code in ("PL001", "AMP001", "AMP002", "CKP002")))
    contents = {name_of(data.encode()): data.encode() for data in files.values()}
    before: dict[tuple[str, str], Remembered] = {}
    plans = []
    for now in (files, {**files, path: text or ""}):
        tree = Files(now)
        index = Index(tree, noting=True)
        index.past = contents.get
        plans.append(plan(sources(now), tree, options, fix=False, index=index, memory=Remembering(tree, before)))
    anew = plan(sources(now), tree, options, fix=False)
    assert [f for f in anew.findings if f.path != path] != [f for f in plans[0].findings if f.path != path]
    return plans[1] != anew


@pytest.mark.parametrize("name", SCENARIOS)
def test_an_edit_that_counts(name: str) -> None:
    assert not differs(*SCENARIOS[name])


@pytest.mark.parametrize(
    ("name", "question", "field"),
    [
        ("imports", Fact, "imports"),
        ("classes", Fact, "classes"),
        ("assignments", Fact, "assignments"),
        ("code", Code, ""),
        ("existence", Existence, ""),
        ("holding", Holding, ""),
        ("replacing", Replacing, ""),
        ("words", Words, ""),
    ],
)
def test_mutant_a_question_that_is_not_asked_again(
    name: str, question: type[Question], field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = question.still
    monkeypatch.setattr(
        question, "still", lambda self, answer, index: getattr(self, "field", "") == field or real(self, answer, index)
    )
    assert differs(*SCENARIOS[name])


def test_mutant_lines_that_are_told_may_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "posixpath", SimpleNamespace(basename=lambda path: "\0"))
    assert differs(*SCENARIOS["lines"])
