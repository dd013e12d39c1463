"""Names of files with control characters, line ends and what turns the direction of writing do nothing anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world import Result, fixer, git, repository

from codemods.model.visible import harmless, visible, visible_line

STEERING = "e\x1b]0;pwn\x07\x1b[2J\x9b\u202e.py"
COMMAND = "nl\n::error file=a::INJECTED.py"
RAW = ("\x1b]", "\x07", "\x1b[2J", "\x9b", "\u202e")
TOML = '[tool.fixer]\nexclude = ["no\x1b]0;where"]\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with such files: some with a finding, some that cannot be read."""
    findings = dict.fromkeys((STEERING, COMMAND), "x = old_one(1)\nold_four(2)\nold_one(3)  # fixer: ignore[OLD009]\n")
    broken = {f"broken {name}": "old_one(\n" for name in (STEERING, COMMAND)}
    return repository(tmp_path / "root", {**findings, **broken, "plain.py": "old_one(1)\n"})


def _harmful(text: str) -> list[str]:
    lines = text.replace("\r", "\n").split("\n")
    return [raw for raw in RAW if raw in text] + [line for line in lines if line.lstrip().startswith(("::", "##["))]


def _said(done: Result, *, out: bool = True) -> str:
    return (done.out.decode(errors="replace") if out else "") + done.err


@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("check", "--verbose"),
        ("check", "--quiet"),
        ("check", "--statistics"),
        ("check", "--profile"),
        ("check", "--format", "json"),
        ("check", "--format", "html"),
        ("check", "--format", "sarif"),
        ("check", "--format", "gitlab"),
        ("check", "--format", "junit"),
        ("check", "--format", "markdown"),
        ("apply", "--dry-run", "--format", "markdown"),
        ("apply", "--dry-run", "--format", "json"),
        ("apply", "--dry-run", "--statistics"),
        ("apply", "--verbose"),
        ("apply", "--quiet"),
        ("apply", "--format", "markdown"),
        ("apply", "--add-ignore", "OLD001"),
        ("apply", "--branch", "fix/x"),
        ("apply", "--branch", "fix/x", "--format", "markdown"),
        ("apply", "--branch", "fix/x", "--split", "directory:1"),
        ("check", "no\x1b]0;where\x07.py"),
        ("check", "no\n::error file=a::where.py"),
        ("check", "--select", "NO\x1b]0;x\x07"),
        ("check", "--config", "no\n::error::where"),
        ("explain", STEERING),
        ("explain", COMMAND),
        ("explain", f"broken {COMMAND}:1"),
        ("explain", "no\x1b]0;message\x07"),
        ("undo", "no\x1b]0;where\x07"),
    ],
    ids=lambda words: " ".join(words).encode("unicode_escape").decode(),
)
def test_nothing_is_steered(root: Path, words: tuple[str, ...]) -> None:
    assert _harmful(_said(fixer(*words, at=root))) == []


def test_annotations_are_commands_of_ours_alone(root: Path) -> None:
    done = fixer("check", "--format", "github", at=root)
    lines = done.text.splitlines()
    assert [line for line in lines if not line.startswith(("::error file=", "::warning file=", "::notice file="))] == []
    assert len(lines) == 7
    assert [raw for raw in RAW if raw in done.text] == [] and _harmful(done.err) == []


def test_colours_are_ours_alone(root: Path) -> None:
    said = _said(fixer("check", "--color", "always", at=root))
    assert [raw for raw in RAW if raw in said] == []
    assert "\x1b[1" in said


def test_the_patch_is_what_it_is(root: Path) -> None:
    done = fixer("apply", "--dry-run", at=root)
    assert _harmful(done.err) == []
    assert _harmful(done.text) == []  # git quotes such names


def test_commits_and_what_comes_after(root: Path) -> None:
    fixer("apply", "--branch", "fix/x", at=root)
    said = git("log", "--format=%B", "main..fix/x", at=root)
    assert "nl\\n::error file=a::INJECTED.py:1" in said
    assert _harmful(said) == []
    plan = root.parent / "plan.json"
    assert _harmful(_said(fixer("check", "--write-plan", str(plan), at=root))) == []
    assert _harmful(_said(fixer("apply", "--plan", str(plan), at=root))) == []
    assert _harmful(_said(fixer("undo", at=root))) == []
    baseline = root.parent / "baseline.json"
    assert _harmful(_said(fixer("check", "--write-baseline", str(baseline), at=root))) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 字 😀 a\tb\nc", "plain é 字 😀 a\tb\nc"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\u202eb\u2066c\u200fd", "a\\u202eb\\u2066c\\u200fd"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("a\r\nb", "a\\x0d\nb"),
        ("\udc80", "?"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_on_one_line_and_in_a_log() -> None:
    assert visible_line("a\nb\tc") == "a\\nb\\tc"
    assert harmless("a ::b\n  ::error::c\n##[group]d\nx") == "a ::b\n  \\x3a:error::c\n\\x23#[group]d\nx"


@given(st.text())
def test_nothing_steers(text: str) -> None:
    assert "\n" not in visible_line(text) and _harmful(harmless(text)) == []
    assert all(each.isprintable() or ord(each) > 0x9F or each in "\n\t" for each in visible(text))
