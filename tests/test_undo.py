"""`fixer undo`: what it gives back, what it leaves alone, and what is kept for it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from world import fixer, git, process, repository, write

NOTEBOOK = (
    '{\r\n "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null,\n'
    '  "source": ["x = old_one(1)\\n", "%time y"]}],\n "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
)
FILES: Mapping[str, str | bytes] = {
    "latin.py": "# -*- coding: latin-1 -*-\r\n# \xfc\r\nx = old_one(1)\r\n".encode("latin-1"),
    "no end.py": b"x = old_one(1)",
    "bom.py": b"\xef\xbb\xbfx = old_one(1)\n\x0c\ndef f():\n\told_two(2)\n",
    "sub/\u00fc.py": b"x = old_one(1)\n",
    "notes.ipynb": NOTEBOOK,
}


def contents(root: Path) -> dict[str, tuple[bytes, int]]:
    """What lies below a directory, with its modes."""
    files = (file for file in root.rglob("*") if file.is_file() and ".git" not in file.parts)
    return {file.relative_to(root).as_posix(): (file.read_bytes(), file.stat().st_mode) for file in files}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "project", {"a.py": "old_one(1)\n", "b.py": "x = 1\nold_one(2)\n"})


@pytest.mark.parametrize("make", [write, repository])
def test_every_byte_and_mode_comes_back(tmp_path: Path, make: object) -> None:
    root = tmp_path / "r"
    assert callable(make)
    make(root, FILES)
    (root / "bom.py").chmod(0o755)
    before = contents(root)
    applied = fixer("apply", at=root)
    assert "note: `fixer undo` takes it back\n" in applied.err
    assert all(data != before[path][0] for path, (data, _) in contents(root).items())
    undone = fixer("undo", at=root / "sub" if (root / ".git").exists() else root)
    assert (undone.code, undone.err, undone.out.count(b": restored\n")) == (0, "", len(FILES))
    assert contents(root) == before
    again = fixer("undo", at=root)
    assert again.code == 2 and "fixer: there is nothing to undo: " in again.err


def test_a_dry_run_is_a_patch_and_writes_nothing(project: Path) -> None:
    repository(project, {})
    fixer("apply", at=project)
    applied = contents(project)
    shown = fixer("undo", "--dry-run", at=project)
    assert shown.code == 1 and b"-new_one(1)\n+old_one(1)\n" in shown.out
    assert contents(project) == applied
    git("apply", "-", at=project, data=shown.out)
    assert git("status", "--short", at=project) == ""
    assert fixer("undo", "--dry-run", at=project).err == "note: 2 files hold already what was there before\n"


def test_a_file_that_changed_since_is_left_alone_and_stays_undoable(project: Path) -> None:
    fixer("apply", at=project)
    (project / "a.py").write_text("new_one(1)  # mine\n")
    result = fixer("undo", at=project)
    assert (result.code, result.text) == (2, "b.py: restored\n")
    assert result.err == "fixer: a.py: changed since `fixer apply` wrote it; left as it is\n"
    assert (project / "a.py").read_text() == "new_one(1)  # mine\n"
    (project / "a.py").write_text("new_one(1)\n")
    assert fixer("undo", at=project).text == "a.py: restored\n"
    assert (project / "a.py").read_text() == "old_one(1)\n"


def test_a_file_that_is_gone_is_named(project: Path) -> None:
    fixer("apply", at=project)
    (project / "a.py").unlink()
    result = fixer("undo", at=project)
    assert (result.code, result.text) == (2, "b.py: restored\n")
    assert result.err == "fixer: a.py: is gone, since `fixer apply` wrote it\n"


def test_a_file_that_became_a_link_is_left_alone_and_the_others_come_back(project: Path, tmp_path: Path) -> None:
    fixer("apply", at=project)
    (tmp_path / "outside.py").write_text("new_one(1)\n")
    (project / "a.py").unlink()
    (project / "a.py").symlink_to(tmp_path / "outside.py")
    result = fixer("undo", at=project)
    assert (result.code, result.text) == (2, "b.py: restored\n")
    assert result.err == "fixer: a.py: is a link that leads out, since `fixer apply` wrote it\n"
    assert (tmp_path / "outside.py").read_text() == "new_one(1)\n"


def test_what_a_killed_run_left_beside_the_records_is_swept(project: Path, tmp_path: Path) -> None:
    surroundings = {"FIXER_CACHE_DIR": str(tmp_path / "cache")}
    write(tmp_path, {"cache/undo/tmpabc": "left"})
    fixer("apply", at=project, environment=surroundings)
    assert [file.suffix for file in (tmp_path / "cache/undo").iterdir()] == [".json"]


def test_undo_sweeps_what_a_killed_run_left_beside_files(project: Path) -> None:
    fixer("apply", at=project)
    token = "0123456789abcdef"
    left = {"format": 1, "groups": [[["a.py", "", ""]]]}
    write(project, {f".a.py.{token}.fixer": "half", f".fixer-{token}.journal": json.dumps(left)})
    result = fixer("undo", at=project)
    assert (result.code, "note: an earlier run was interrupted: its temporary files (1) are removed" in result.err) == (
        0,
        True,
    )
    assert sorted(file.name for file in project.iterdir()) == ["a.py", "b.py"]


def test_only_the_last_apply_is_taken_back(project: Path) -> None:
    fixer("apply", "a.py", at=project)
    fixer("apply", "b.py", at=project)
    assert fixer("apply", at=project).err.count("undo") == 0  # it wrote nothing, and nothing is forgotten for it
    assert fixer("undo", at=project).text == "b.py: restored\n"
    assert fixer("undo", at=project).code == 2
    assert (project / "a.py").read_text() == "new_one(1)\n"


def test_each_project_has_its_own(project: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", {"a.py": "old_one(3)\n"})
    fixer("apply", at=project)
    fixer("apply", at=other)
    assert fixer("undo", str(other), at=other).text == "a.py: restored\n"
    assert fixer("undo", at=project).text.count("restored") == 2


def test_what_could_not_be_written_is_not_undone(project: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("for root every file is writable")
    (project / "a.py").chmod(0o444)
    assert fixer("apply", at=project).code == 2
    assert fixer("undo", at=project).text == "b.py: restored\n"


def test_nothing_written_leaves_the_earlier_way_back(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fixer("apply", "b.py", at=project)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert fixer("apply", "a.py", at=project).code == 2
    monkeypatch.undo()
    assert fixer("undo", at=project).text == "b.py: restored\n"


def test_what_is_kept_is_private_and_forgotten_with_the_cache(project: Path, tmp_path: Path) -> None:
    surroundings = {"FIXER_CACHE_DIR": str(tmp_path / "cache")}
    assert process("apply", at=project, environment=surroundings).code == 0
    (kept,) = (tmp_path / "cache" / "undo").iterdir()
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    fixer("cache", "clear", at=project, environment=surroundings)
    assert fixer("undo", at=project, environment=surroundings).code == 2


@pytest.mark.parametrize("place", [os.devnull, "file/below"])
def test_where_nothing_can_be_kept_files_are_written_all_the_same(project: Path, place: str) -> None:
    write(project, {"file": ""})
    surroundings = {"FIXER_CACHE_DIR": place}
    result = fixer("apply", at=project, environment=surroundings)
    assert result.code == 0 and "undo" not in result.err
    assert (project / "a.py").read_text() == "new_one(1)\n"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"{", "is not JSON"),
        (b"[]", "is no plan of fixer"),
        (b'{"fixer-plan": 7, "version": "9.9"}', "is a plan of format 7 (fixer 9.9)"),
        (b'{"fixer-plan": 2, "files": 3, "together": []}', "is a damaged plan: files is not what stands there"),
    ],
)
def test_a_damaged_record_is_answered_with_a_sentence(
    project: Path, tmp_path: Path, data: bytes, sentence: str
) -> None:
    surroundings = {"FIXER_CACHE_DIR": str(tmp_path / "cache")}
    fixer("apply", at=project, environment=surroundings)
    (kept,) = (tmp_path / "cache" / "undo").iterdir()
    kept.write_bytes(data)
    result = fixer("undo", at=project, environment=surroundings)
    assert result.code == 2 and sentence in result.err and "Traceback" not in result.err


def test_a_place_that_is_not_there(project: Path) -> None:
    result = fixer("undo", "gone", at=project)
    assert (result.code, result.err) == (2, "fixer: gone: no such file or directory\n")
