"""`--baseline`, `--write-baseline` and `--only`: which findings count, by their fingerprints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from world import fixer, repository, write

PROJECT = {"a.py": "old_one(1)\nold_one(1)\nold_three(3)\n", "sub/b.py": "old_two(2)\n", "c.py": "old_four(4)\n"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", PROJECT)


@pytest.fixture
def base(project: Path, tmp_path: Path) -> str:
    """The baseline of the project, beside it."""
    result = fixer("check", "--write-baseline", "../base.json", at=project)
    assert (result.code, result.out) == (0, b"")
    assert result.err == "note: ../base.json names 5 findings; `fixer check --baseline ../base.json` leaves them out\n"
    return "../base.json"


def found(project: Path, *arguments: str) -> list[tuple[str, int, str]]:
    """What a check finds, in order of place."""
    told = json.loads(fixer("check", "--format", "json", *arguments, at=project).out)["findings"]
    return sorted((each["path"], each["line"], each["code"]) for each in told)


def prints(project: Path) -> dict[tuple[str, int], str]:
    """The fingerprints of all findings, by path and line."""
    told = json.loads(fixer("check", "--format", "json", at=project).out)["findings"]
    return {(each["path"], each["line"]): each["fingerprint"] for each in told}


def test_known_findings_are_left_out(project: Path, base: str) -> None:
    for arguments in (("check",), ("check", "--no-cache"), ("check", "a.py"), ("check", "--jobs", "2")):
        result = fixer(*arguments, "--baseline", base, at=project)
        assert (result.code, result.out) == (0, b"")
    assert result.err.endswith(").\n5 findings of ../base.json left out.\n")


@pytest.mark.parametrize(
    ("changed", "new"),
    [
        ({"a.py": "# a comment\n\n" + PROJECT["a.py"]}, []),
        (
            {"a.py": PROJECT["a.py"].replace("old_one(1)", "old_one( 1 )")},
            [("a.py", 1, "OLD001"), ("a.py", 2, "OLD001")],
        ),
        ({"a.py": PROJECT["a.py"] + "old_one(1)\n"}, [("a.py", 4, "OLD001")]),  # a third equal one
        ({"a.py": PROJECT["a.py"] + "old_one(7)\n"}, [("a.py", 4, "OLD001")]),
        ({"d.py": "old_one(1)\n"}, [("d.py", 1, "OLD001")]),
    ],
)
def test_new_findings_are_told(
    project: Path, base: str, changed: dict[str, str], new: list[tuple[str, int, str]]
) -> None:
    write(project, changed)
    assert found(project, "--baseline", base) == new
    assert fixer("check", "--baseline", base, at=project).code == bool(new)


@pytest.mark.parametrize(
    ("changed", "arguments", "gone"),
    [
        ({"a.py": "old_one(1)\nold_three(3)\n"}, (), 1),  # one of two equal ones
        ({"a.py": "x = 1\n", "c.py": "x = 1\n"}, (), 4),
        ({"a.py": "x = 1\n"}, ("--select", "OLD001"), 2),
        ({"a.py": "x = 1\n"}, ("--select", "OLD004"), 0),
        ({"a.py": "x = 1\n"}, ("sub",), 0),
        ({"a.py": "x = 1\n"}, ("--select", "silent"), 0),
        ({"a.py": "x = 1\n"}, ("--since", "HEAD"), 0),
        ({"a.py": "def f(:\n  old_one(1)\n"}, (), 0),
        ({"c.py": "old_four(4)  # fixer: ignore[OLD004]\n"}, (), 1),
    ],
)
def test_what_is_gone_is_told_where_it_was_looked_for(
    project: Path, base: str, changed: dict[str, str], arguments: tuple[str, ...], gone: int
) -> None:
    write(project, changed)
    told = json.loads(fixer("check", "--format", "json", "--baseline", base, *arguments, at=project).out)
    assert told["summary"]["baseline"]["gone"] == gone
    said = fixer("check", "--baseline", base, *arguments, at=project).err
    assert (f" of {base} {'is' if gone == 1 else 'are'} gone: " in said) == bool(gone)


def test_a_file_that_is_gone(project: Path, base: str) -> None:
    (project / "sub/b.py").unlink()
    result = fixer("check", "--baseline", base, at=project)
    anew = f"`fixer check --write-baseline {base}` writes it without it"
    assert f"1 finding of {base} is gone: {anew}.\n" in result.err
    fixer("check", "--write-baseline", base, at=project)
    assert "gone" not in fixer("check", "--baseline", base, at=project).err


def test_known_findings_are_not_fixed(project: Path, base: str) -> None:
    write(project, {"a.py": "old_one(7)\n" + PROJECT["a.py"], "sub/b.py": "old_two(2)\nold_two(2)\n"})
    result = fixer("apply", "--unsafe-fixes", "--baseline", base, at=project)
    assert (result.code, result.text) == (0, "a.py: fixed OLD001\nsub/b.py: fixed OLD001, OLD002\n")
    assert (project / "a.py").read_text() == "new_one(7)\n" + PROJECT["a.py"]
    assert (project / "sub/b.py").read_text() == "old_two(2)\nnew_one(2)\n"
    assert f"5 findings of {base} left out.\n" in result.err


def test_a_baseline_is_readable_and_stable(project: Path, base: str) -> None:
    text = (project / base).read_text()
    assert text.startswith('{"fixer-baseline": 1, "version": "')
    assert text.count('\n  {"path": "a.py", "code": "OLD001", "fingerprint": "') == 2
    assert json.loads(text)["findings"] == sorted(
        json.loads(text)["findings"], key=lambda each: (each["path"], each["code"], each["fingerprint"])
    )
    fixer("check", "--write-baseline", base, at=project)
    assert (project / base).read_text() == text
    write(project, {"empty/x.py": ""})
    fixer("check", "--write-baseline", "none.json", "empty", at=project)
    assert json.loads((project / "none.json").read_text())["findings"] == []
    assert found(project, "--baseline", "none.json", "sub") == [("sub/b.py", 1, "OLD002")]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (None, "No such file or directory; `fixer check --write-baseline b.json` makes it"),
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "is no baseline: `fixer check --write-baseline FILE` makes one"),
        ('{"fixer-baseline": 2}', "is of format 2, and this fixer reads 1: write it anew with "),
        ('{"fixer-baseline": 1}', "entry 1 names no finding: write it anew with `fixer check --write-baseline b.json`"),
        ('{"fixer-baseline": 1, "findings": [{"path": "a.py", "code": 3, "fingerprint": ""}]}', "entry 1 names no"),
        ('{"fixer-baseline": 1, "findings": [3]}', "entry 1 names no finding"),
    ],
)
def test_a_bad_baseline_is_refused(project: Path, data: str | None, sentence: str) -> None:
    if data is not None:
        write(project, {"b.json": data})
    for command in ("check", "apply"):
        result = fixer(command, "--baseline", "b.json", at=project)
        assert result.code == 2 and result.err.startswith("fixer: --baseline b.json: ") and sentence in result.err
    assert (project / "a.py").read_text() == PROJECT["a.py"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--write-baseline", "no/b.json"), "--write-baseline no/b.json: No such file or directory"),
        (("--write-baseline", "b.json", "gone.py"), "not all files could be looked at; nothing was written"),
        (("--write-baseline", "b.json", "--since", "HEAD"), "leave --since, --only and --baseline out"),
        (("--write-baseline", "b.json", "--write-plan", "p"), "--write-baseline and --write-plan: give one of them"),
        (("--only", "xyz"), "--only 'xyz': write at least four digits of a `fingerprint` of `check --format json`"),
        (("--only", "ffffffff"), "--only ffffffff: no finding has this fingerprint"),
    ],
)
def test_what_is_refused(project: Path, arguments: tuple[str, ...], sentence: str) -> None:
    result = fixer("check", *arguments, at=project)
    assert result.code == 2 and sentence in result.err
    assert not (project / "b.json").exists()


def test_files_that_are_no_programs_are_told_of_a_baseline(project: Path) -> None:
    write(project, {"bad.py": "def f(:\n  old_one(1)\n"})
    result = fixer("check", "--write-baseline", "b.json", at=project)
    assert "note: 1 file could not be looked at: `fixer check` tells why\n" in result.err


@pytest.mark.parametrize("cached", [(), ("--no-cache",)])
@pytest.mark.parametrize("line", [1, 2])
def test_only_one_of_two_equal_findings(project: Path, line: int, cached: tuple[str, ...]) -> None:
    """When the first one is repaired, the second is not taken for it."""
    only = prints(project)["a.py", line]
    assert found(project, "--only", only[:8], *cached) == [("a.py", line, "OLD001")]
    result = fixer("apply", "--only", only.upper(), *cached, at=project)
    assert (result.code, result.text) == (0, "a.py: fixed OLD001\n")
    lines = PROJECT["a.py"].splitlines()
    lines[line - 1] = "new_one(1)"
    assert (project / "a.py").read_text().splitlines() == lines
    assert "1 of 1 finding fixed" in result.err


def test_several_at_once_and_on_a_branch(project: Path) -> None:
    known = prints(project)
    words = f"{known['a.py', 1]},{known['sub/b.py', 1]}"
    result = fixer("apply", "--only", words, "--branch", "fix/some", at=project)
    assert result.code == 0 and "2 of 2 findings committed, in 2 files" in result.err


def test_the_beginning_of_several_fingerprints_is_refused(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.py": "".join(f"old_one({number})\n" for number in range(600))})
    known = prints(root).values()
    twice = next(word for each in known if sum(other.startswith(word := each[:4]) for other in known) > 1)
    result = fixer("apply", "--only", twice, at=root)
    assert result.code == 2
    assert (
        f"--only {twice}: 2 findings begin with it, such as {twice}" in result.err and "give more digits" in result.err
    )
    assert (root / "a.py").read_text().startswith("old_one(0)\n")
