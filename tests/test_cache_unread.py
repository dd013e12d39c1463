"""What could not be read in one run is read in the next: nothing of the failure is kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from world import fixer, repository

OLD = "old_one(1)\n"


@pytest.mark.parametrize("place", ["a.py", "base.py"])
def test_a_file_that_cannot_be_read_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    root = repository(tmp_path / "r", {"a.py": f"from base import x\n{OLD}", "base.py": "x = 1\n" + OLD})
    surroundings = {"FIXER_CACHE_DIR": str(tmp_path / "cache")}
    expected = fixer("check", "--format", "json", "--no-cache", at=root, environment=surroundings)
    opened, left = os.open, [1]

    def open_(path: object, *rest: int, **more: int) -> int:
        if str(path) == f"{root}/{place}":
            if not left[0]:
                raise OSError(5, "Input/output error")
            left[0] -= 1  # the prefilter may read it
        return opened(path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", open_)
    disturbed = fixer("check", "--format", "json", at=root, environment=surroundings)
    assert "cannot be read" in disturbed.out.decode() + disturbed.err
    monkeypatch.undo()
    again = fixer("check", "--format", "json", at=root, environment=surroundings)
    assert (again.code, again.out, again.err) == (expected.code, expected.out, expected.err)
