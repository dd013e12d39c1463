"""Clones that left contents behind: what is needed comes at once, and what cannot come is named."""

from __future__ import annotations

import shutil
from pathlib import Path

from world import fixer, git, repository

OLD = "x = old_one({})\n"


def partial(tmp: Path) -> Path:
    """Twelve sources, and a file that no run reads, none of them in the clone."""
    files = {f"{'ab'[n % 2]}/f{n}.py": OLD.format(n) for n in range(12)}
    origin = repository(tmp / "origin", {**files, "data.bin": b"\0" * 1000})
    git("config", "uploadpack.allowFilter", "true", at=origin)
    git("clone", "-q", "--filter=blob:none", "--no-checkout", origin.as_uri(), "r", at=tmp)
    git("config", "protocol.file.allow", "always", at=tmp / "r")
    git("reset", "-q", at=tmp / "r")
    return tmp / "r"


def packs(root: Path) -> int:
    return len(list((root / ".git/objects/pack").glob("*.pack")))


def missing(root: Path) -> int:
    listed = git("rev-list", "--objects", "--missing=print", "--no-object-names", "HEAD", at=root)
    return sum(line.startswith("?") for line in listed.split("\n"))


def test_what_a_run_reads_is_fetched_in_one_go(tmp_path: Path) -> None:
    root = partial(tmp_path)
    before = packs(root), missing(root)
    assert before == (1, 13)
    result = fixer("apply", "--branch", "fix", "a", at=root)
    assert (result.code, packs(root), missing(root)) == (0, 2, 7), result.err
    assert fixer("apply", "--branch", "more", at=root).code == 0
    assert (packs(root), missing(root)) == (3, 1)
    assert fixer("apply", "--branch", "again", at=root).code == 0
    assert packs(root) == 3


def test_a_remote_that_is_gone_is_no_reason_to_crash(tmp_path: Path) -> None:
    root = partial(tmp_path)
    shutil.rmtree(tmp_path / "origin")
    result = fixer("apply", "--branch", "fix", at=root)
    assert result.code == 2
    assert "a/f0.py" in result.err and "its contents are not in this clone; fetch them first" in result.err
    assert "Traceback" not in result.err
    assert git("branch", "--list", "fix", at=root) == ""
