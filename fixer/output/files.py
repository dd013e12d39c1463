"""Writing files: whole or not at all, and only over the bytes that the plan was made from."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from codemods.model.edits import Skip, SkipReason
from codemods.model.plan import FilePlan, Plan

SUFFIX = ".fixer"
"""How the names of our temporary files end."""
ENDING = [number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))]
"""Signals that end a command in order."""


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
    for group in _groups(plan):
        with _undisturbed():
            refused = _write_group(group, root)
        skips += refused
        if not refused:
            written.update(file.path for file in group)
        tick(len(group))
    return frozenset(written), tuple(skips)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let a signal that ends the command wait for the end of the block. Only the main thread is told of signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    before = {number: signal.signal(number, lambda got, frame: waiting.append(got)) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in waiting:
            signal.raise_signal(number)


def _groups(plan: Plan) -> Iterable[tuple[FilePlan, ...]]:
    """The changed files of each component, then those that stand alone."""
    tied: set[str] = set()
    for component in plan.components:
        if group := tuple(file for file in plan.changed if file.path in component and file.path not in tied):
            tied.update(component)
            yield group
    yield from ((file,) for file in plan.changed if file.path not in tied)


def _write_group(group: Sequence[FilePlan], root: Path) -> list[Skip]:
    """Write all files of a group; where one of them cannot be written, the others get their originals back."""
    ready: dict[str, _Ready] = {}
    path = ""
    try:
        for file in group:
            path = file.path
            prepared = _prepare(file, root)
            if isinstance(prepared, Skip):
                return _refused(group, prepared)
            ready[path] = prepared
        for path in ready if len(group) > 1 else ():
            ready[path].keep_original()
        for path in ready:
            ready[path].temporary.replace(ready[path].target)
    except OSError as error:
        failed = Skip(path, SkipReason.UNREADABLE, f"cannot be written: {error.strerror}")
        stuck = {path: why for path, each in ready.items() if (why := each.put_back())}
        return [replace(skip, detail=stuck.get(skip.path, skip.detail)) for skip in _refused(group, failed)]
    except BaseException:
        for each in ready.values():
            each.put_back()
        raise
    finally:
        for each in ready.values():
            each.temporary.unlink(missing_ok=True)
    for each in ready.values():
        each.original.unlink(missing_ok=True)
    return []


def _refused(group: Sequence[FilePlan], reason: Skip) -> list[Skip]:
    """The skip of the file that cannot be written, and one for each file that stays as it was because of it."""
    others = [file.path for file in group if file.path != reason.path]
    because = f"left as it was: it belongs together with {reason.path}, which was not written"
    return [reason, *(Skip(path, reason.reason, because) for path in others)]


@dataclass(frozen=True, slots=True)
class _Ready:
    """A file whose new bytes lie beside it, in a temporary file."""

    temporary: Path
    target: Path

    @property
    def original(self) -> Path:
        """Where the file itself is kept until the files that it is tied to are written."""
        return self.temporary.with_name(f"{self.temporary.name.removesuffix(SUFFIX)}.original{SUFFIX}")

    def keep_original(self) -> None:
        """Keep the file under a second name, or, where the file system knows no such thing, as a copy."""
        try:
            self.original.hardlink_to(self.target)
        except OSError:
            shutil.copy2(self.target, self.original)

    def put_back(self) -> str:
        """Make it as if the file had never been replaced; why that cannot be done, empty if it is."""
        try:
            if self.temporary.exists():
                self.original.unlink(missing_ok=True)
            else:
                self.original.replace(self.target)
        except OSError as error:
            return f"was written and cannot be put back ({error.strerror}); what it held is in {self.original.name}"
        return ""


def _prepare(file: FilePlan, root: Path) -> _Ready | Skip:
    """The new bytes in a temporary file beside the real one, ready to take its place."""
    target = Path(os.path.realpath(root / file.path))
    if not target.is_relative_to(root.resolve()):
        return Skip(file.path, SkipReason.UNSAFE_PATH, f"is a link that leads out of {root}")
    if not target.is_file():
        return Skip(file.path, SkipReason.CHANGED, "is gone, or no longer a regular file; run fixer again")
    if not target.stat().st_mode & 0o222 or not os.access(target, os.W_OK):
        return Skip(file.path, SkipReason.UNREADABLE, "cannot be written: the file is read-only")
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=SUFFIX, dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(file.after)
            stream.flush()
            os.fsync(stream.fileno())
        shutil.copymode(target, temporary)
        # Looked at last, to leave as little time as possible between looking and writing.
        if target.read_bytes() != file.before:
            temporary.unlink()
            return Skip(file.path, SkipReason.CHANGED, "changed while fixer was running; run fixer again")
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return _Ready(temporary, target)
