"""Writing files: whole or not at all, and only over the bytes that the plan was made from."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from codemods.model.edits import Skip, SkipReason
from codemods.model.plan import FilePlan, Plan
from fixer.output.journal import Journal, TemporaryNames
from fixer.output.undisturbed import undisturbed

_CHANGED = "changed while fixer was running; run fixer again"


def write(
    plan: Plan, root: Path, tick: Callable[[int], None] = lambda count: None
) -> tuple[frozenset[str], tuple[Skip, ...]]:
    """Bring the files of `plan` below `root` up to date.

    Files tied by a fix are written together or not at all.

    Args:
        tick: told of files that are done.

    Returns:
        The paths written, and a skip for each file that was left as it is.
    """
    written: set[str] = set()
    skips: list[Skip] = []
    groups = list(_groups(plan))
    if not groups:
        return frozenset(), ()
    with Journal.begin(groups, root) as journal:
        for group in groups:
            with undisturbed():
                refused = _write_group(group, root, journal)
            skips += refused
            if not refused:
                written.update(file.path for file in group)
            tick(len(group))
    return frozenset(written), tuple(skips)


def _groups(plan: Plan) -> Iterable[tuple[FilePlan, ...]]:
    """The changed files of each component, then those that stand alone."""
    tied: set[str] = set()
    for component in plan.components:
        if group := tuple(file for file in plan.changed if file.path in component and file.path not in tied):
            tied.update(component)
            yield group
    yield from ((file,) for file in plan.changed if file.path not in tied)


def _write_group(group: Sequence[FilePlan], root: Path, journal: Journal) -> list[Skip]:
    """Write all files of a group; where one of them cannot be written, the others get their originals back."""
    ready: dict[str, _Ready] = {}
    path = ""
    try:
        for file in group:
            path = file.path
            prepared = _prepare(file, root, journal)
            if isinstance(prepared, Skip):
                return _refused(group, prepared)
            ready[path] = prepared
        for path in ready if len(group) > 1 else ():
            ready[path].keep_original()
        for path in ready:
            ready[path].take_place()
    except (OSError, _ChangedMeanwhile) as error:
        failed = _failed(path, error)
        stuck = {path: why for path, each in ready.items() if (why := each.put_back())}
        return [replace(skip, detail=stuck.get(skip.path, skip.detail)) for skip in _refused(group, failed)]
    except BaseException:
        for each in ready.values():
            each.put_back()
        raise
    finally:
        for each in ready.values():
            each.tidy(journal)
    return []


def _failed(path: str, error: Exception) -> Skip:
    if isinstance(error, OSError):
        return Skip(path, SkipReason.UNREADABLE, f"cannot be written: {error.strerror}")
    return Skip(path, SkipReason.CHANGED, _CHANGED)


def _refused(group: Sequence[FilePlan], reason: Skip) -> list[Skip]:
    """The skip of the file that cannot be written, and one for each file that stays as it was because of it."""
    others = [file.path for file in group if file.path != reason.path]
    because = f"left as it was: it belongs together with {reason.path}, which was not written"
    return [reason, *(Skip(path, reason.reason, because) for path in others)]


class _ChangedMeanwhile(Exception):
    """A file is no longer the one that was looked at."""


@dataclass(slots=True)
class _Ready:
    """A file whose new bytes lie beside it, in a temporary file."""

    names: TemporaryNames
    there: os.stat_result
    """What was known of the file when its bytes were compared."""
    kept: bool = False
    """Whether what it held lies beside it, too."""
    placed: bool = False
    stuck: bool = False
    """Whether it could not be put back."""

    def keep_original(self) -> None:
        """Keep the file under a second name, or, where the file system knows no such thing, as a copy.

        Raises:
            OSError: if neither can be done.
        """
        try:
            self.names.original.hardlink_to(self.names.target)
        except OSError:
            try:
                shutil.copy2(self.names.target, self.names.original)
            except OSError:
                with suppress(OSError):
                    self.names.original.unlink(missing_ok=True)
                raise
        self.kept = True

    def take_place(self) -> None:
        """Put the new bytes in place of the old ones.

        Raises:
            _ChangedMeanwhile: if the file, or a directory above it, is another one by now.
            OSError: if it cannot be done.
        """
        target = self.names.target
        if _identity(target.lstat()) != _identity(self.there) or os.path.realpath(target) != str(target):
            raise _ChangedMeanwhile
        self.names.temporary.replace(target)
        self.placed = True

    def put_back(self) -> str:
        """Make it as if the file had never been replaced; why that cannot be done, empty if it is."""
        if not self.placed:
            return ""
        try:
            self.names.original.replace(self.names.target)
        except OSError as error:
            self.stuck = True
            kept = self.names.original.name
            return f"was written and cannot be put back ({error.strerror}); what it held is in {kept}"
        self.kept = False
        return ""

    def tidy(self, journal: Journal) -> None:
        """Remove what lies beside the file, or leave it to the next run."""
        if not self.placed:
            journal.remove(self.names.temporary)
        if self.stuck:
            journal.needed = True
        elif self.kept:
            journal.remove(self.names.original)


def _prepare(file: FilePlan, root: Path, journal: Journal) -> _Ready | Skip:
    """The new bytes in a temporary file beside the real one, ready to take its place."""
    target = Path(os.path.realpath(root / file.path))
    if not target.is_relative_to(root.resolve()):
        return Skip(file.path, SkipReason.UNSAFE_PATH, f"is a link that leads out of {root}")
    if not target.is_file():
        return Skip(file.path, SkipReason.CHANGED, "is gone, or no longer a regular file; run fixer again")
    there = target.lstat()
    if not there.st_mode & 0o222 or not os.access(target, os.W_OK):
        return Skip(file.path, SkipReason.UNREADABLE, "cannot be written: the file is read-only")
    if there.st_nlink > 1:
        why = f"has {there.st_nlink} names (hard links), which writing would part; make it a file of its own first"
        return Skip(file.path, SkipReason.UNREADABLE, why)
    names = TemporaryNames(target, journal.token)
    handle = os.open(names.temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(file.after)
            stream.flush()
            os.fsync(stream.fileno())
        if lost := _given(target, there, names.temporary):
            journal.remove(names.temporary)
            return Skip(file.path, SkipReason.UNREADABLE, f"would lose its {lost}; run fixer as its owner")
        # Looked at last, to leave as little time as possible between looking and writing.
        if target.read_bytes() != file.before:
            journal.remove(names.temporary)
            return Skip(file.path, SkipReason.CHANGED, _CHANGED)
    except BaseException:
        journal.remove(names.temporary)
        raise
    return _Ready(names, there)


def _identity(there: os.stat_result) -> tuple[int, ...]:
    """What is another one when somebody has written to a file, or put another one in its place."""
    return there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns


def _given(target: Path, there: os.stat_result, temporary: Path) -> str:
    """Give a new file the owner, the mode and the attributes of the one that it replaces; what it cannot be given."""
    here = temporary.stat()
    if (here.st_uid, here.st_gid) != (there.st_uid, there.st_gid):
        try:
            os.chown(temporary, there.st_uid, there.st_gid)
        except PermissionError:
            return "owner" if here.st_uid != there.st_uid else "group"
    temporary.chmod(stat.S_IMODE(there.st_mode))
    for name in _attributes(target):
        try:
            os.setxattr(temporary, name, os.getxattr(target, name))
        except OSError:
            if name.startswith(_PERSONS):
                return "access control list" if name == _ACL else f"extended attribute {name}"
    return ""


_ACL = "system.posix_acl_access"
_PERSONS = ("user.", _ACL)
"""Attributes that people set; the others (labels of security modules) are the system's."""


def _attributes(target: Path) -> list[str]:
    """The extended attributes of a file, its access control list among them."""
    try:
        return os.listxattr(target) if hasattr(os, "listxattr") else []
    except OSError:  # a file system without any
        return []
