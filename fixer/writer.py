"""Writing files: whole or not at all, and only over the bytes that the plan was made from."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from codemods.edits import Skip, SkipReason
from codemods.plan import FilePlan, Plan


def write(plan: Plan, root: Path) -> tuple[frozenset[str], tuple[Skip, ...]]:
    """Bring the files of `plan` below `root` up to date.

    Files tied by a fix are written together or not at all.

    Returns:
        The paths written, and a skip for each file that was left as it is.
    """
    written: set[str] = set()
    skips: list[Skip] = []
    for group in _groups(plan):
        refused = _write_group(group, root)
        skips += refused
        if not refused:
            written.update(file.path for file in group)
    return frozenset(written), tuple(skips)


def _groups(plan: Plan) -> Iterable[tuple[FilePlan, ...]]:
    """The changed files of each component, then those that stand alone."""
    tied: set[str] = set()
    for component in plan.components:
        if group := tuple(file for file in plan.changed if file.path in component and file.path not in tied):
            tied.update(component)
            yield group
    yield from ((file,) for file in plan.changed if file.path not in tied)


def _write_group(group: Sequence[FilePlan], root: Path) -> list[Skip]:
    ready: list[tuple[Path, Path]] = []
    try:
        for file in group:
            prepared = _prepare(file, root)
            if isinstance(prepared, Skip):
                others = [other for other in group if other is not file]
                because = f"belongs together with {file.path}, which was not written"
                return [prepared, *(Skip(other.path, prepared.reason, because) for other in others)]
            ready.append(prepared)
        while ready:
            temporary, target = ready[0]
            temporary.replace(target)
            ready.pop(0)
    except OSError as error:
        return [Skip(file.path, SkipReason.UNREADABLE, f"cannot be written: {error.strerror}") for file in group]
    finally:
        for temporary, _ in ready:
            temporary.unlink(missing_ok=True)
    return []


def _prepare(file: FilePlan, root: Path) -> tuple[Path, Path] | Skip:
    """The new bytes in a temporary file beside the real one, ready to take its place."""
    target = Path(os.path.realpath(root / file.path))
    if not target.is_relative_to(root.resolve()):
        return Skip(file.path, SkipReason.UNSAFE_PATH, f"is a link that leads out of {root}")
    if not target.is_file():
        return Skip(file.path, SkipReason.CHANGED, "is gone, or no longer a regular file; run fixer again")
    if not target.stat().st_mode & 0o222 or not os.access(target, os.W_OK):
        return Skip(file.path, SkipReason.UNREADABLE, "cannot be written: the file is read-only")
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".fixer", dir=target.parent)
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
    return temporary, target
