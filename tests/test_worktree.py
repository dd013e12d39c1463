"""What there is in a work tree, asked for once or often."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import write as files

from fixer.project.worktree import FEW, WorkTree

THERE = ("a.py", "pkg", "pkg/b.py", "pkg/sub", "link.py", "within", "within/b.py", "pkg/../a.py")
NOT_THERE = (
    "b.py",
    "a.py/c.py",
    "pkg/c.py",
    "gone/d.py",
    "out.py",
    "outside/x.py",
    "dangling",
    "..",
    "../x.py",
    "/etc",
    "/a.py",
    "/pkg/b.py",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree with links inside, links that lead out, and one that leads nowhere."""
    files(tmp_path, {"x.py": b"", "root/a.py": b"", "root/pkg/b.py": b"", "root/pkg/sub/e.py": b""})
    root = tmp_path / "root"
    for name, target in {
        "link.py": "a.py",
        "within": "pkg",
        "out.py": "../x.py",
        "outside": "..",
        "dangling": "nothing",
    }.items():
        (root / name).symlink_to(target)
    return root


@pytest.mark.parametrize("often", [False, True])
@pytest.mark.parametrize(("path", "there"), [*((p, True) for p in THERE), *((p, False) for p in NOT_THERE)])
def test_what_is_there(root: Path, path: str, there: bool, often: bool) -> None:
    tree = WorkTree(root)
    directory = path.rpartition("/")[0]
    for number in range(FEW + 1 if often else 0):
        for place in ("", f"{directory}/" if directory else ""):
            assert not tree.exists(f"{place}never{number}")
    assert tree.exists(path) is there


def test_a_directory_that_is_asked_about_often_is_listed_once(root: Path) -> None:
    tree = WorkTree(root)
    for number in range(FEW):
        assert not tree.exists(f"pkg/m{number}.py")
    assert not tree.exists("pkg/late.py")
    files(root, {"pkg/later.py": b""})
    assert not tree.exists("pkg/later.py")  # a reader is of one moment
    assert WorkTree(root).exists("pkg/later.py")


def test_a_directory_that_cannot_be_listed_is_asked_file_by_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.scandir", refuse)
    tree = WorkTree(root)
    assert [tree.exists(f"pkg/m{number}.py") for number in range(2 * FEW)] == [False] * (2 * FEW)
    assert tree.exists("pkg/b.py")
