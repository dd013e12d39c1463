"""`check --write-plan` and `apply --plan`: a saved plan writes what was planned, over what it was planned on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_undo import FILES, contents
from world import fixer, repository, write

PROJECT = {"a.py": "old_one(1)\n", "sub/b.py": "x = 1\nold_one(2)\nold_three(3)\n", "c.py": "old_four(4)\n"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", PROJECT)


@pytest.fixture
def plan(project: Path, tmp_path: Path) -> Path:
    """A plan of the project, beside it."""
    file = tmp_path / "plan.json"
    assert fixer("check", "--write-plan", str(file), "--exit-zero", at=project).code == 0
    return file


@pytest.mark.parametrize("make", [write, repository])
def test_a_plan_writes_what_apply_would_have_written(tmp_path: Path, make: Callable[..., Path]) -> None:
    root, twin = make(tmp_path / "r", FILES), make(tmp_path / "twin", FILES)
    before = contents(root)
    assert fixer("check", "--write-plan", "../plan.json", at=root).code == 1
    assert contents(root) == before
    patch = fixer("apply", "--dry-run", at=root)
    shown = fixer("apply", "--plan", "../plan.json", "--dry-run", at=root)
    assert (shown.code, shown.out) == (1, patch.out)
    applied = fixer("apply", at=twin)
    planned = fixer("apply", "--plan", "../plan.json", at=root)
    assert (planned.code, planned.out) == (0, applied.out)
    assert contents(root) == contents(twin) != before
    fixer("undo", at=root)
    assert contents(root) == before


@pytest.mark.parametrize("unsafe", [(), ("--unsafe-fixes",)])
def test_a_check_says_the_same_with_a_plan(project: Path, unsafe: tuple[str, ...]) -> None:
    """Also where one fix leads to another finding: `old_two` becomes `old_one`."""
    write(project, {"sub/b.py": "x = 1\nold_two(2)\nold_three(3)\n"})
    for format in ("terminal", "json", "sarif"):
        plain = fixer("check", "--format", format, *unsafe, at=project)
        saving = fixer("check", "--format", format, *unsafe, "--write-plan", "../plan.json", at=project)
        assert (saving.code, saving.out) == (plain.code, plain.out)
    fixes = "4 fixes in 2 files" if unsafe else "3 fixes in 2 files"
    assert f"note: ../plan.json holds {fixes}; `fixer apply --plan ../plan.json` applies it\n" in saving.err


def test_the_same_plan_has_the_same_bytes(project: Path, plan: Path) -> None:
    first = plan.read_bytes()
    fixer("check", "--write-plan", str(plan), at=project)
    assert plan.read_bytes() == first


def test_a_file_that_changed_since_is_left_and_the_others_are_written(project: Path, plan: Path) -> None:
    (project / "a.py").write_text("old_one(1)  # mine\n")
    result = fixer("apply", "--plan", str(plan), at=project / "sub")
    assert (result.code, result.text) == (2, "b.py: fixed OLD001\n")
    assert "a.py: changed-since-planned: changed since the plan was made; left as it is\n" in result.err
    assert (project / "a.py").read_text() == "old_one(1)  # mine\n"
    (project / "a.py").unlink()
    assert (
        "a.py: changed-since-planned: is gone, since the plan was made\n"
        in fixer("apply", "--plan", str(plan), "--dry-run", at=project).err
    )


def test_a_plan_that_was_applied_is_done(project: Path, plan: Path) -> None:
    fixer("apply", "--plan", str(plan), at=project)
    again = fixer("apply", "--plan", str(plan), at=project)
    assert (again.code, again.out, again.err) == (0, b"", "note: 2 files hold already what the plan makes of them\n")


def test_files_that_belong_together_are_written_together(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "tied_call(1)\n", "b.py": "tied = 1\n"})
    content = {
        "fixer-plan": 2,
        "files": [_file("a.py", b"tied_call(1)\n", b"A\n"), _file("b.py", b"tied = 1\n", b"B\n")],
        "together": [["a.py", "b.py"]],
    }
    (tmp_path / "plan.json").write_text(json.dumps(content))
    (root / "b.py").write_text("other\n")
    result = fixer("apply", "--plan", "../plan.json", at=root)
    assert "a.py: changed-since-planned: left as it is: it belongs together with b.py" in result.err
    assert (root / "a.py").read_text() == "tied_call(1)\n"
    (root / "b.py").write_text("tied = 1\n")
    assert fixer("apply", "--plan", "../plan.json", at=root).code == 0
    assert (root / "a.py").read_text() + (root / "b.py").read_text() == "A\nB\n"


def test_a_plan_without_changes(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.py": "x = 1\n"})
    assert "plan.json holds 0 fixes in 0 files" in fixer("check", "--write-plan", "plan.json", at=root).err
    result = fixer("apply", "--plan", "plan.json", at=root)
    assert (result.code, result.out, result.err) == (0, b"", "note: plan.json changes nothing\n")


def test_another_repository_is_told(tmp_path: Path, plan: Path) -> None:
    other = repository(tmp_path / "other", {"z.py": "old_one(1)\n"})
    result = fixer("apply", "--plan", str(plan), at=other)
    assert result.code == 2
    assert f"was made in another repository or directory: {other} does not hold any of its 2 files" in result.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("a.py",), "--plan says which files are fixed: leave the paths out"),
        (("--select", "OLD001"), "--plan says what is fixed, in place: leave --select out"),
        (("--unsafe-fixes",), "leave --unsafe-fixes out"),
        (("--since", "HEAD"), "leave --since out"),
        (("--branch", "fix/amp"), "leave --branch out"),
    ],
)
def test_a_plan_leaves_no_choice(project: Path, plan: Path, options: tuple[str, ...], sentence: str) -> None:
    result = fixer("apply", "--plan", str(plan), *options, at=project)
    assert result.code == 2 and sentence in result.err
    assert contents(project)["a.py"][0] == b"old_one(1)\n"


def _file(path: str, before: bytes, after: bytes) -> dict[str, Any]:
    return {
        "path": path,
        "before": hashlib.sha256(before).hexdigest(),
        "after": hashlib.sha256(after).hexdigest(),
        "edits": [{"start": 0, "end": len(before), "text": after.decode()}],
    }


def _evil(path: str) -> str:
    return json.dumps({"fixer-plan": 2, "files": [_file(path, b"secret\n", b"evil\n")], "together": []})


def _with(**values: object) -> str:
    return json.dumps({"fixer-plan": 2, "files": [_file("a.py", b"old_one(1)\n", b"x\n") | values], "together": []})


FINDING = {"code": "OLD001", "name": "n", "path": "a.py", "claim": "m", "safety": "SAFE"}
FINDING["place"] = dict.fromkeys(("start", "end", "line", "column", "end_line", "end_column"), 1)  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"findings": []}', "is no plan of fixer: `fixer check --write-plan FILE` makes one"),
        ("3", "is no plan of fixer"),
        ('{"fixer-plan": 3, "version": "9.1"}', "is a plan of format 3 (fixer 9.1), and this fixer "),
        ('{"fixer-plan": 2}', "is a damaged plan: files is not what stands there in a plan"),
        ('{"fixer-plan": 2, "files": [3], "together": []}', "files[0] is not what stands there"),
        (_with(path=3), "files[0].path is not what stands there"),
        (_with(edits=[{"start": True, "end": 1, "text": ""}]), "files[0].edits[0].start is not what"),
        (_with(edits=[{"start": -1, "end": 1, "text": ""}]), "files[0].edits[0].start is not what"),
        (_with(edits=[{"start": 0, "end": 1, "text": "\ud800"}]), "do not give what it promises; nothing was written"),
        (_with(edits=[]), "a.py: the edits of the plan do not give what it promises; nothing was written"),
        (_with(findings=[FINDING | {"path": "b.py"}]), "a.py: it holds a finding of another file"),
        (_with(findings=[FINDING | {"code": "\x1b[31m"}]), "a.py: it names what is no rule"),
        (_with(findings=[FINDING | {"safety": "SURE"}]), "files[0].findings[0].safety is not what"),
        (_evil("../secret.txt"), "the path '../secret.txt' is none that a plan may change"),
        (_evil("/etc/passwd"), "the path '/etc/passwd' is none"),
        (_evil("sub/../../secret.txt"), "is none that a plan may change"),
        (_evil("sub//b.py"), "is none that a plan may change"),
        (_evil(".git/config"), "the path '.git/config' is none"),
        (_evil("sub/.GIT/config"), "is none that a plan may change"),
        (_evil(".git. /config"), "is none that a plan may change"),
        (_evil("a\0b"), "is none that a plan may change"),
        (_evil(""), "is none that a plan may change"),
        (_evil("out/secret.txt"), "out/secret.txt: is a link that leads to where no plan may; nothing was written"),
        (_evil("link.py"), "link.py: is a link that leads to where no plan may"),
        (_evil("inner.py"), "inner.py: is a link that leads to where no plan may"),
        (
            json.dumps({"fixer-plan": 2, "files": [_file("a.py", b"", b"")] * 2, "together": []}),
            "it names a file twice",
        ),
        ('{"fixer-plan": 2, "files": [], "together": [["z.py"]]}', "it ties files that it does not change"),
    ],
)
def test_a_hostile_or_damaged_plan_is_refused(project: Path, tmp_path: Path, data: str, sentence: str) -> None:
    write(tmp_path, {"secret.txt": "secret\n"})
    write(project, {".git/hooks/post-checkout": "secret\n"})
    (project / "out").symlink_to(tmp_path)
    (project / "link.py").symlink_to(tmp_path / "secret.txt")
    (project / "inner.py").symlink_to(".git/hooks/post-checkout")
    (tmp_path / "plan.json").write_text(data)
    before = contents(project)
    for dry_run in ((), ("--dry-run",)):
        result = fixer("apply", "--plan", "../plan.json", *dry_run, at=project)
        assert result.code == 2 and sentence in result.err, result.err
        assert result.err.startswith("fixer: --plan ../plan.json: ") and result.err.count("\n") == 1
    assert contents(project) == before
    assert (tmp_path / "secret.txt").read_text() == (project / ".git/hooks/post-checkout").read_text() == "secret\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("check", "--write-plan", "no/such/plan.json"), "--write-plan no/such/plan.json: No such file or directory"),
        (("check", "--write-plan", "p.json", "--watch"), "leave --format, --output, --write-plan and --profile out"),
        (("apply", "--plan", "gone.json"), "--plan gone.json: No such file or directory"),
        (("apply", "--plan", "sub"), "--plan sub: Is a directory"),
    ],
)
def test_files_that_cannot_be_used(project: Path, arguments: tuple[str, ...], sentence: str) -> None:
    result = fixer(*arguments, at=project)
    assert result.code == 2 and sentence in result.err


@pytest.mark.parametrize("format", ["json", "markdown"])
def test_a_plan_is_shown_in_every_format(project: Path, plan: Path, format: str) -> None:
    direct = fixer("apply", "--dry-run", "--format", format, at=project)
    shown = fixer("apply", "--plan", str(plan), "--dry-run", "--format", format, at=project)
    assert shown.code == 1
    if format == "markdown":
        assert b"OLD001" in shown.out and b"OLD001" in direct.out
    else:
        fixed = [each for each in json.loads(direct.out)["findings"] if each["code"] == "OLD001"]
        assert [each | {"project": "."} for each in json.loads(shown.out)["findings"]] == [
            each | {"project": "."} for each in fixed
        ]
