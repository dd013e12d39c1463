"""The sweeps that are run by hand over much, here over little; and each of them sees what it is for."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import ecosystem
import pytest
import sweep_corpus
import sweep_generated
import sweep_mutants
from world import git, repository

CASES = Path(__file__).parent / "before_after"
ROOT = Path(__file__).parents[1]


@pytest.fixture
def some(tmp_path: Path) -> Path:
    """A project with bugs of two rules."""
    place = tmp_path / "some"
    place.mkdir()
    shutil.copy(CASES / "raw-backward/example/before.py", place / "train.py")
    shutil.copy(CASES / "clip-before-unscale/accumulation/before.py", place / "clip.py")
    return place


def test_the_corpus_sweep_finds_nothing_wrong(some: Path, tmp_path: Path) -> None:
    found = sweep_corpus.swept(some, tmp_path, strategies=False)
    assert (found.wrong, found.counts["python files"]) == ([], 2)
    assert found.counts["files changed"] >= 2


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("x = 1\n", "x = (\n", "does not compile"),
        ("x = 1  # one\n", "x = 2\n", "lost comments: ['# one']"),
        ("x = 1\n", "x = y\n", "new undefined names: ['y']"),
        ("x = 1\n", "x  =  1\n", "was changed in its layout only"),
    ],
)
def test_the_corpus_sweep_sees_what_is_broken(before: str, after: str, what: str) -> None:
    assert any(each.startswith(what) for each in sweep_corpus.broken("a.py", before.encode(), after.encode()))


def test_generated_programs_around_a_fixture() -> None:
    fixture = (CASES / "raw-backward/example/before.py").read_text()
    counts: Counter[str] = Counter()
    programs = [
        how(fixture, "for x in ():\n    lambda *a, b=1: (yield_ := a)\n")
        for how in (sweep_generated.before, sweep_generated.behind, sweep_generated.around)
    ]
    assert [what for program in programs for what in sweep_generated.wrong(program, counts)] == []
    assert counts["changed"] >= 2 and all(map(sweep_generated.compiles, programs))


@pytest.mark.parametrize(
    ("before", "after", "is_one"),
    [
        ("a < b\n", "a <= b\n", True),
        ("def f(x): return x\n", "def f(x): return\n", True),
        ("a < b\n", "a < (\n", False),
        ("def f(x: int) -> int: return x\n", "def f(x: str) -> str: return x\n", False),
        ("x: int = 1\n", "x: str = 1\n", False),
        ("@dataclass(frozen=True)\nclass A: pass\n", "@dataclass(frozen=False)\nclass A: pass\n", False),
        ("if TYPE_CHECKING:\n    import a\n", "if TYPE_CHECKING:\n    import b\n", False),
    ],
)
def test_a_mutant_is_another_program(before: str, after: str, is_one: bool) -> None:
    assert sweep_mutants.differs(before, after) is is_one


SAID = {"path": "a.py", "line": 3, "code": "PL001", "safety": "safe", "fix": {"title": "t"}, "message": "m"}


def test_the_ecosystem_check_tells_what_differs() -> None:
    place = ("a.py", 3, "PL001")
    nothing = ecosystem.Said({}, frozenset(), "")
    one = ecosystem.Said({place: SAID}, frozenset(), "p")
    other = ecosystem.Said({place: {**SAID, "safety": "unsafe", "fix": None}}, frozenset({("b.py", "binary")}), "p")
    assert ecosystem.differences(one, one, 5) == []
    assert ecosystem.differences(nothing, one, 5) == ["- new: `+ a.py:3` PL001 m"]
    assert ecosystem.differences(one, nothing, 5) == ["- gone: `- a.py:3` PL001 m"]
    assert ecosystem.differences(one, other, 5) == [
        "- changed: `a.py:3` PL001: safety: safe → unsafe; fix: yes → no",
        "- skipped now: `b.py`: binary",
    ]
    assert ecosystem.differences(one, ecosystem.Said({place: SAID}, frozenset(), "q"), 5) == [
        "- the same findings with another patch"
    ]
    assert ecosystem.differences(one, ecosystem.Said({}, frozenset(), "", "boom"), 5) == ["- HEAD **crashes**: `boom`"]


def test_the_ecosystem_check_runs_two_versions(
    some: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two commits of a repository that holds this program, the second without one of its rules."""
    ours = repository(tmp_path / "ours", {"README.md": "both\n"})
    for package in ("codemods", "fixer"):
        shutil.copytree(ROOT / package, ours / package, ignore=shutil.ignore_patterns("__pycache__"))
    git("add", "-A", at=ours)
    git("commit", "-qm", "base", at=ours)
    rule = ours / "codemods/transforms/lightning/raw_backward.py"
    rule.write_text(
        rule.read_text().replace(
            "def raw_backward(", "def raw_backward(*_):  # type: ignore\n    return ()\n\n\ndef _gone("
        )
    )
    git("commit", "-qam", "head", at=ours)
    monkeypatch.setattr(ecosystem, "HERE", ours)
    assert ecosystem.main(["HEAD", "HEAD", str(some)]) == 0
    assert ecosystem.main(["HEAD~1", "HEAD", str(some)]) == 1
    assert "- gone: `- train.py:" in capsys.readouterr().out
