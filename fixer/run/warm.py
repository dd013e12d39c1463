"""A tree that is planned again and again while its files, or their unsaved texts, change: what a language server asks.

What is known of files that did not change stays known, because the index of the last plan is derived for the next one
(`codemods.project.index.Index.derive`). Packaging files, and files that come or go, change what is known of every file:
then it is built anew. One thread may use a tree at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.model.edits import Skip
from codemods.sources import files
from fixer.project.discover import attributed
from fixer.project.unsaved import UnsavedTexts
from fixer.project.worktree import WorkTree, why_unreadable
from fixer.run.execute import fixed_files, index_of, no_progress
from fixer.run.planning import plan_listing
from fixer.run.request import Outcome, Request, configuration

if TYPE_CHECKING:
    from codemods.model.edits import Finding
    from codemods.model.plan import Target
    from codemods.project.index import Index
    from codemods.syntax.facts import Facts
    from fixer.run.execute import Task


@dataclass(frozen=True, slots=True)
class _Stamp:
    """What tells that a file was written."""

    modified: int
    size: int


class WarmTree:
    """The files below `root`, with the unsaved texts of some of them."""

    def __init__(self, root: Path, *, alone: bool = False) -> None:
        """`alone`: the root is just the directory of a file; what lies in directories below it is not listed."""
        self.root, self._alone = root, alone
        self._reader = UnsavedTexts(self._tree())
        self._indexes: dict[tuple[Target, ...], Index] = {}
        self._vendored: dict[str, bool] = {}
        self._stamps = self._stamped()

    def refresh(self) -> None:
        """Look which files were written, made or removed.

        Raises:
            Refusal: if git cannot list them.
        """
        before, self._reader.tree = self._stamps, self._tree()
        self._stamps = self._stamped()
        self._vendored.clear()
        if before.keys() != self._stamps.keys():
            self._indexes.clear()
            return
        written = {path for path, stamp in self._stamps.items() if stamp != before[path]}
        self._changed(written - self._reader.texts.keys())

    def plan(
        self,
        paths: Sequence[str],
        texts: Mapping[str, bytes],
        *,
        fix: bool = False,
        strategies: Sequence[str] = (),
    ) -> Outcome:
        """The plan of some files, as a check of the whole tree makes it: what that leaves out is left out here.

        Settings are those on disk: while they are written, they are often no TOML. `unsafe-fixes` does not count.

        Args:
            texts: the unsaved texts, by path.
            fix: take the safe fixes.
            strategies: as on the command line.

        Raises:
            Refusal: if the configuration of the root cannot be understood.
        """
        self._overlay(texts)
        request = Request(unsafe_fixes=False, strategies=tuple(strategies), jobs=1, cache=False)
        listed = [path for path in paths if path in self._stamps or not (self.root / path).exists()]
        return plan_listing(
            request,
            [""],
            self._reader,
            listed=lambda: listed,
            root=self.root,
            configuration=configuration(request, self._reader.tree, self.root, self.root),
            is_file=lambda path: False,
            vendored=self._attributed,
            why=lambda path: why_unreadable(self.root, path),
            fix=fix,
            progress=no_progress,
            index=self._index,
        )

    def fixed(self, outcome: Outcome, finding: Finding) -> Mapping[str, tuple[bytes, bytes]] | None:
        """The files that the fix of one finding of a plan changes, before and after; None: it cannot be taken alone."""
        for order, plan in outcome.parts:
            if finding in plan.findings:
                after = fixed_files(order, [finding], self._indexes[order.targets])
                if after is not None:
                    return {path: (self._reader.read(path) or b"", data) for path, data in after.items()}
        return None

    def _tree(self) -> WorkTree:
        """The files as they are now."""
        return WorkTree.flat(self.root) if self._alone else WorkTree(self.root)

    def _index(self, task: Task) -> Index:
        targets = task.order.targets
        if targets not in self._indexes:
            self._indexes[targets] = index_of(task)
        return self._indexes[targets]

    def _overlay(self, texts: Mapping[str, bytes]) -> None:
        """Let these be the unsaved texts."""
        before = self._reader.texts
        concerned = {path for path in {*before, *texts} if before.get(path) != texts.get(path)}
        changed = {path for path in concerned if before.get(path, self._reader.tree.read(path)) != texts.get(path)}
        units = {path: self._units(path) for path in changed}
        self._reader.texts = dict(texts)
        if changed:
            self._changed(changed, units)

    def _changed(self, paths: set[str], before: Mapping[str, Sequence[str]] | None = None) -> None:
        """Files hold other texts now. `before`: the programs that they held."""
        changed: dict[str, tuple[str, Facts | None]] = {}
        for path in paths if self._indexes else ():
            units = self._units(path)
            texts = [self._text(unit) for unit in units]
            if files.is_manifest(path) or None in texts or (before is not None and before[path] != units):
                self._indexes.clear()
                return
            changed |= {unit: text for unit, text in zip(units, texts, strict=True) if text is not None}
        self._indexes = {targets: index.derive(changed) for targets, index in self._indexes.items()}

    def _units(self, path: str) -> Sequence[str]:
        return files.units(path, self._reader.read(path) or b"")

    def _text(self, unit: str) -> tuple[str, Facts | None] | None:
        """The text of a unit and its facts; None where it cannot be read."""
        from codemods.syntax.facts import Facts, gather

        data = self._reader.read(files.container(unit))
        source = files.decode(unit, data) if data is not None else None
        if source is None or isinstance(source, Skip):
            return None
        facts = gather(unit, source.text) if files.is_python(unit) else None
        return source.text, facts if isinstance(facts, Facts) else None

    def _stamped(self) -> Mapping[str, _Stamp]:
        """When each file that may be read was written."""
        found: dict[str, _Stamp] = {}
        for path in self._reader.files():
            with suppress(OSError):
                info = (self.root / path).stat()
                found[path] = _Stamp(info.st_mtime_ns, info.st_size)
        return found

    def _attributed(self, paths: Sequence[str]) -> frozenset[str]:
        """The paths that attributes call generated or vendored; git is asked once for each."""
        new = [path for path in paths if path not in self._vendored]
        if new:
            theirs = attributed(new, at=self.root) if self._reader.tree.listing.attributes else frozenset()
            self._vendored |= {path: path in theirs for path in new}
        return frozenset(path for path in paths if self._vendored[path])
