"""The files of a directory, as the engine reads them: nothing outside the root, nothing but regular files."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codemods.sources.files import by_directory, is_manifest
from fixer.git.command import top
from fixer.git.names import bends, known_among
from fixer.project.discover import Listing, is_readable, list_files, listing

LARGEST = 100_000_000
"""Bytes; what is larger is neither source nor metadata and is not read into memory."""

_UNFOLLOWED = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
FEW = 4
"""Questions after what there is in a directory; for more of them it is listed."""
_LINK = (errno.ELOOP, errno.EMLINK, errno.ENOTSUP)
"""What systems answer who may not follow a link and meets one."""


@dataclass(frozen=True, slots=True)
class WorkTree:
    """Reads paths relative to `root`. What a search of the project may look at is listed when it is first wanted."""

    root: Path
    """Resolved: no symbolic link on the way."""
    below: tuple[str, ...] = ()
    """Directories that were named: outside of a repository, no others are listed."""
    _listed: list[Listing] = field(default_factory=list, compare=False, repr=False)
    _names: list[Mapping[str, str]] = field(default_factory=list, compare=False, repr=False)
    _packaging: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)
    _exists: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)
    """Looking for a module asks after the same few places again and again."""
    _asked: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    """How often was asked after something in a directory."""
    _held: dict[str, Mapping[str, bool] | None] = field(default_factory=dict, compare=False, repr=False)
    _plain: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)
    """Directories, and whether there is no link on the way."""
    _failed: set[str] = field(default_factory=set, compare=False, repr=False)
    """Paths that could not be read."""

    @classmethod
    def flat(cls, root: Path) -> WorkTree:
        """A directory of which nothing is listed that lies in directories below it.

        Raises:
            OSError: if it cannot be listed.
        """
        listed = listing(root, os.listdir(root))  # noqa: PTH208
        return cls(root, (), [listed], [], by_directory(filter(is_manifest, listed.paths)))

    def identity(self, path: str) -> str | None:
        """What git calls the content of a file that it knows to be unchanged; None: nobody knows without reading."""
        if not self._names:
            unchanged = self.listing.unchanged
            bent = unchanged and bends(self.root, [self.read(path) or b"" for path in self.listing.attributes])
            self._names.append({} if bent else unchanged)
        return self._names[0].get(path)

    @property
    def listing(self) -> Listing:
        """What there is.

        Raises:
            Refusal: if git cannot list it.
        """
        if not self._listed:
            self._listed.append(list_files(self.root, self.below))
            self._packaging.clear()
            self._packaging.update(by_directory(filter(is_manifest, self._listed[0].paths)))
        return self._listed[0]

    def locate(self, path: str) -> Path | None:
        """The real file behind `path`, with symbolic links followed; None if that leads outside the root."""
        real = Path(os.path.realpath(self.root / path))
        return real if real.is_relative_to(self.root) and "\0" not in path else None

    def read(self, path: str) -> bytes | None:
        """The bytes of a regular file of at most LARGEST bytes; None for anything else."""
        try:
            if self._is_plain(path):
                try:
                    return _read(f"{self.root}/{path}")
                except OSError as error:
                    if error.errno not in _LINK:
                        self._failed.add(path)
                        return None
            real = self.locate(path)
            return None if real is None else _read(str(real))
        except (OSError, ValueError):
            self._failed.add(path)
            return None

    @property
    def steady(self) -> bool:
        """Whether every file that is there could be read, as far as it was asked for. What could not may be, later."""
        return not self._failed or self._failed.isdisjoint(self.listing.paths)

    def _is_plain(self, path: str) -> bool:
        """Whether no link leads to the directory of `path`; its last part may be one."""
        directory = path.rpartition("/")[0]
        if path.startswith("/"):
            return False
        if directory not in self._plain:
            place = f"{self.root}/{directory}" if directory else str(self.root)
            self._plain[directory] = os.path.realpath(place) == place
        return self._plain[directory]

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory of that name inside the root."""
        if path not in self._exists:
            self._exists[path] = self._is_there(path)
        return self._exists[path]

    def _is_there(self, path: str) -> bool:
        """Most places hold nothing. Where many are asked for in one directory, its entries are listed once."""
        directory, _, name = path.rpartition("/")
        if directory and not self.exists(directory):
            return False
        asked = self._asked[directory] = self._asked.get(directory, 0) + 1
        if asked > FEW and name not in ("", ".", "..") and self._is_plain(path):
            entries = self._entries(directory)
            if entries is not None and (name not in entries or not entries[name]):
                return name in entries
        try:
            os.lstat(f"{self.root}/{path}")
            real = self.locate(path)
            return real is not None and real.exists()
        except (OSError, ValueError):
            return False

    def names_in(self, directory: str) -> Collection[str] | None:
        """The names of what there is in a directory; None where a link leads there, or it cannot be listed."""
        above = f"{directory}/" if directory else ""
        inside = self._entries(directory) if self._is_plain(above) else None
        return None if inside is None else [n for n, link in inside.items() if not link or self.exists(above + n)]

    def _entries(self, directory: str) -> Mapping[str, bool] | None:
        """The names in a directory, each with whether it is a link; None where they cannot be listed."""
        if directory not in self._held:
            try:
                with os.scandir(f"{self.root}/{directory}") as entries:
                    self._held[directory] = {entry.name: entry.is_symlink() for entry in entries}
            except (FileNotFoundError, NotADirectoryError):
                self._held[directory] = {}
            except (OSError, ValueError):
                self._held[directory] = None
        return self._held[directory]

    def files(self) -> Sequence[str]:
        """Every file that may be read, sorted."""
        return self.listing.paths

    def packaging(self, directory: str) -> Sequence[str]:
        """The packaging files in a directory, sorted. Nothing else is listed for their sake."""
        if not self._listed and directory not in self._packaging:
            names = self._manifests(directory)
            if names and top(self.root) != self.root:
                names = [name for name in names if name in self.listing.paths]
            elif names:
                names = known_among(self.root, names)
            self._packaging[directory] = tuple(names)
        return self._packaging.get(directory, ())

    def _manifests(self, directory: str) -> list[str]:
        """The packaging files that lie in a directory, whether or not git is to know of them."""
        above = f"{directory}/" if directory else ""
        if not self._is_plain(above):
            return []
        try:
            with os.scandir(self.root / directory) as entries:
                return sorted(
                    above + entry.name
                    for entry in entries
                    if is_manifest(above + entry.name) and is_readable(entry.name, entry.stat(follow_symlinks=False))
                )
        except OSError:
            return []


def _read(place: str) -> bytes | None:
    """The bytes of a file that is no link.

    Raises:
        OSError: if it is one, or cannot be read.
    """
    file = os.open(place, os.O_RDONLY | _UNFOLLOWED)
    try:
        info = os.fstat(file)
        if not stat.S_ISREG(info.st_mode) or info.st_size > LARGEST:
            return None
        parts = [os.read(file, info.st_size + 1)]
        while parts[-1] and sum(map(len, parts)) != info.st_size:
            parts.append(os.read(file, LARGEST))
        return b"".join(parts)
    finally:
        os.close(file)


def why_unreadable(root: Path, path: str) -> str:
    """Why a file that should be there could not be read, in a few words."""
    try:
        info = (root / path).stat()
        if not stat.S_ISREG(info.st_mode):
            return "not a regular file"
        if info.st_size > LARGEST:
            return f"{info.st_size:,} bytes; files above {LARGEST:,} bytes are not read"
        with (root / path).open("rb") as file:
            file.read(1)
    except OSError as error:
        return error.strerror or type(error).__name__
    return "could not be read"
