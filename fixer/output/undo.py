"""Taking back what `fixer apply` wrote: the reverse of the last plan, kept for each root until it is used.

It is kept before the files are written. A command that is ended in between leaves a record of which a part has not
happened; files that hold already what they would get back are passed over.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codemods.model.edits import Skip
from codemods.model.plan import Plan
from fixer.errors import Refusal
from fixer.output.files import write
from fixer.output.locked import locked
from fixer.output.saved import FittedPlan, SavedPlan, reversed_plan
from fixer.run import cache_directory

SINCE = "`fixer apply` wrote it"


@dataclass(frozen=True, slots=True)
class LastApply:
    """What the last `fixer apply` below a root wrote, as it is kept."""

    root: Path

    @property
    def file(self) -> Path:
        """Where it is kept."""
        name = hashlib.sha256(os.fsencode(self.root.resolve())).hexdigest()[:32]
        return _directory() / f"{name}.json"

    def write(
        self, plan: Plan, tick: Callable[[int], None] = lambda count: None
    ) -> tuple[frozenset[str], tuple[Skip, ...], bool]:
        """Write the files of a plan, and keep what they held.

        Returns:
            As `fixer.output.files.write`; and whether it can be taken back.
        """
        changed = frozenset(file.path for file in plan.changed)
        if not changed:
            return frozenset(), (), False
        earlier = self._read()
        kept = self._keep(SavedPlan.of(reversed_plan(plan, changed)))
        written, skips = write(plan, self.root, tick)
        if kept and not written:
            self._put(earlier)
        elif kept and written != changed:
            kept = self._keep(SavedPlan.of(reversed_plan(plan, written)))
        return written, skips, kept and bool(written)

    def fitted(self) -> FittedPlan:
        """The way back, for the files as they are now.

        Raises:
            Refusal: if there is none.
        """
        data = self._read()
        if data is None:
            raise Refusal(f"there is nothing to undo: no `fixer apply` wrote below {self.root}, or it was taken back")
        return SavedPlan.read(data, str(self.file)).fitted(self.root, SINCE, own=True)

    def undo(
        self, fitted: FittedPlan, tick: Callable[[int], None] = lambda count: None
    ) -> tuple[frozenset[str], tuple[Skip, ...]]:
        """Give the files back what they held; what cannot be given back now stays kept.

        Returns:
            As `fixer.output.files.write`.
        """
        restored, skips = write(fitted.plan, self.root, tick)
        skips = (*fitted.skips, *skips)
        data = self._read()
        if skips and data is not None:
            self._keep(SavedPlan.read(data, str(self.file)).only(skip.path for skip in skips))
        else:
            self._put(None)
        return restored, skips

    def _read(self) -> bytes | None:
        try:
            return self.file.read_bytes()
        except OSError:
            return None

    def _keep(self, way_back: SavedPlan) -> bool:
        return self._put(way_back.to_bytes())

    def _put(self, data: bytes | None) -> bool:
        """Put a record in place of the one there, readable by the person only; whether that could be done."""
        if data is None:
            with suppress(OSError):
                self.file.unlink()
            return True
        place = self.file.parent
        try:
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            with locked(place):
                for stray in place.glob("tmp*"):  # of runs that were killed here
                    stray.unlink()
                handle, temporary = tempfile.mkstemp(dir=place)
                try:
                    with os.fdopen(handle, "wb") as stream:
                        stream.write(data)
                    Path(temporary).replace(self.file)
                finally:
                    Path(temporary).unlink(missing_ok=True)
        except OSError:
            return False
        return True


def clear() -> None:
    """Forget the ways back of all roots."""
    for file in list(_directory().glob("*")):
        with suppress(OSError):
            file.unlink()


def _directory() -> Path:
    return cache_directory.directory() / "undo"
