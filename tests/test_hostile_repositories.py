"""Every command looks at every repository of `hostile.py`: no crash, no program run, nothing changed elsewhere."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest
from hostile import HOSTILE, make
from world import fixer, write

COMMANDS = (
    ("check",),
    ("check", "--since", "HEAD"),
    ("apply", "--dry-run"),
    ("explain", "a.py:3"),
    ("apply", "--branch", "fix/x"),
    ("apply", "--branch", "parts", "--split", "directory:1"),
    ("apply",),
    ("undo",),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile").resolve()


@pytest.fixture(scope="module")
def repositories(place: Path) -> Mapping[str, Path]:
    return make(place)


_READ: dict[str, tuple[tuple[int, ...], bytes]] = {}


def _outside(place: Path, but: Path | None = None) -> dict[str, bytes]:
    """All regular files but those of one repository. What the system says has not changed is not read again."""
    apart = {str(but), str(place / f"git of {but.name}")} if but is not None else set()
    found = {}
    for top, directories, names in os.walk(place):
        directories[:] = [name for name in directories if f"{top}/{name}" not in apart]
        for path in (f"{top}/{name}" for name in names if name not in ("index", "hit")):
            there = os.lstat(path)
            if stat.S_ISREG(there.st_mode):
                state = (there.st_ino, there.st_size, there.st_mtime_ns, there.st_ctime_ns)
                if path not in _READ or _READ[path][0] != state:
                    _READ[path] = (state, Path(path).read_bytes())
                found[path] = _READ[path][1]
    return found


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.few(14)
def test_every_command(place: Path, repositories: Mapping[str, Path], name: str) -> None:
    root = repositories[name]
    before = _outside(place, root)
    for words in COMMANDS:
        done = fixer(*words, at=root)
        assert done.code in (0, 1, 2), words
        assert "Traceback" not in done.err and not re.search(r"\[Errno|Error\(|Exception", done.err), (words, done.err)
        assert done.code != 2 or re.search(r"^fixer: .|skipped", done.err, re.M), (words, done.err)
        assert not (place / "hit").exists(), words
        assert _outside(place, root) == before, words


@pytest.mark.few(0)
def test_a_campaign_over_all_of_them(place: Path, repositories: Mapping[str, Path], tmp_path: Path) -> None:
    names = ", ".join(f'"{root}"' for root in repositories.values())
    write(tmp_path, {"CAMPAIGN.toml": f'name = "x"\nrepositories = [{names}]\n'})
    before = _outside(place)
    done = fixer("bulk", "plan", "CAMPAIGN.toml", at=tmp_path)
    assert done.code in (0, 1, 2) and "Traceback" not in done.err
    assert not (place / "hit").exists()
    assert _outside(place) == before
