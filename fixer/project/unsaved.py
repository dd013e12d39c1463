"""A work tree in which some files hold what an editor shows of them and has not saved."""

from __future__ import annotations

from collections.abc import Sequence

from fixer.project.worktree import WorkTree


class UnsavedTexts:
    """Reads the bytes of `texts` for the paths named there, and everything else from `tree`.

    Both may be replaced while an index asks this reader.
    """

    def __init__(self, tree: WorkTree) -> None:
        self.tree = tree
        self.texts: dict[str, bytes] = {}

    def read(self, path: str) -> bytes | None:
        """The bytes of a file; None where there is none."""
        return self.texts[path] if path in self.texts else self.tree.read(path)

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory of that name."""
        return path in self.texts or self.tree.exists(path)

    def files(self) -> Sequence[str]:
        """Every file of the tree that may be read, sorted; one that was never saved is in no search."""
        return self.tree.files()

    def packaging(self, directory: str) -> Sequence[str]:
        """The packaging files in a directory, sorted."""
        return self.tree.packaging(directory)
