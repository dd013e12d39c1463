"""A plan as a file: what is to become of which files, bound to the content that they had.

A plan may come from somebody else. Nothing in it is run, it changes nothing but files that hold exactly what they held
when it was made, and no path in it leads out of the root or to what git keeps there.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import os
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Union, get_args, get_origin, get_type_hints

from codemods import __version__
from codemods.model.edits import Finding, Skip, SkipReason
from codemods.model.plan import Change, FilePlan, Plan
from codemods.sources.files import container
from fixer.errors import Refusal
from fixer.project.worktree import WorkTree
from fixer.report.diff import differences, split_lines

FORMAT = 2
"""Raised whenever an older fixer could not read what a newer one writes, or the other way round."""
_MARK = "fixer-plan"
"""The key that holds the format: nothing else is a plan."""


@dataclass(frozen=True, slots=True)
class SavedEdit:
    """Replace the bytes `[start, end)` of a file by `text`, in UTF-8; other bytes stand there as lone surrogates."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class SavedFile:
    """What is to become of one file."""

    path: str
    before: str
    """The SHA-256 of what it holds."""
    after: str
    """The SHA-256 of what it is to hold."""
    edits: tuple[SavedEdit, ...]
    findings: tuple[Finding, ...] = ()
    """Those that the edits repair."""
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class FittedPlan:
    """A saved plan, laid over the files as they are."""

    plan: Plan
    skips: tuple[Skip, ...]
    """Files that are left as they are, because they or files that belong to them have changed."""
    done: tuple[str, ...]
    """Files that hold already what they are to hold."""


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """A plan that can be written down, and read again by another process."""

    files: tuple[SavedFile, ...]
    together: tuple[tuple[str, ...], ...] = ()
    """Files that are written together or not at all."""

    @classmethod
    def of(cls, plan: Plan) -> SavedPlan:
        """What a plan changes, and why."""
        files = tuple(
            SavedFile(
                file.path,
                _digest(file.before),
                _digest(file.after),
                tuple(_edits(file.before, file.after)),
                tuple(finding for finding in file.findings if finding.applied),
                file.changes,
            )
            for file in plan.changed
        )
        changed = {file.path for file in files}
        groups = (tuple(sorted(component & changed)) for component in plan.components)
        return cls(files, tuple(group for group in groups if len(group) > 1))

    @classmethod
    def read(cls, data: bytes, where: str) -> SavedPlan:
        """The plan that some bytes hold.

        Args:
            where: what they are from, for people.

        Raises:
            Refusal: if they hold no plan of this format, or one that reaches where no plan may.
        """
        try:
            content = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise Refusal(f"{where}: is not JSON: {error}") from error
        if not isinstance(content, dict) or _MARK not in content:
            raise Refusal(f"{where}: is no plan of fixer: `fixer check --write-plan FILE` makes one")
        if content[_MARK] != FORMAT:
            version = str(content.get("version", "another version"))
            raise Refusal(
                f"{where}: is a plan of format {content[_MARK]} (fixer {version}), and this fixer {__version__} "
                f"reads format {FORMAT}: make the plan again"
            )
        try:
            found: SavedPlan = _made(cls, {key: content.get(key) for key in ("files", "together")}, "")
            found._check()
        except (ValueError, RecursionError) as error:
            raise Refusal(f"{where}: is a damaged plan: {error}; make the plan again") from error
        return found

    def to_bytes(self) -> bytes:
        """JSON in ASCII; the same plan gives the same bytes."""
        content = {_MARK: FORMAT, "version": __version__, **_plain(self)}
        return json.dumps(content, indent=1).encode() + b"\n"

    def _check(self) -> None:
        """Refuse what no plan of ours holds.

        Raises:
            ValueError: with a sentence.
        """
        paths = [file.path for file in self.files]
        if len(set(paths)) < len(paths):
            raise ValueError("it names a file twice")
        if not {path for group in self.together for path in group} <= set(paths):
            raise ValueError("it ties files that it does not change")
        for file in self.files:
            if not _is_inside(file.path):
                raise ValueError(f"the path {file.path!r} is none that a plan may change")
            if any(finding.path != file.path for finding in file.findings):
                raise ValueError(f"{file.path}: it holds a finding of another file")
            if any(container(change.edit.path) != file.path for change in file.changes):
                raise ValueError(f"{file.path}: it holds a change of another file")
            codes = {finding.code for finding in file.findings} | {change.code for change in file.changes}
            if not all(re.fullmatch(r"[A-Z]+[0-9]+", code) for code in codes):
                raise ValueError(f"{file.path}: it names what is no rule")

    def only(self, paths: Iterable[str]) -> SavedPlan:
        """The part of the plan that is about some of the files."""
        wanted = set(paths)
        groups = (tuple(path for path in group if path in wanted) for group in self.together)
        return SavedPlan(
            tuple(file for file in self.files if file.path in wanted),
            tuple(group for group in groups if len(group) > 1),
        )

    def fitted(self, root: Path, since: str, *, own: bool = False) -> FittedPlan:
        """The plan for the files below `root` as they are now.

        Args:
            since: says since when files must not have changed, as in `the plan was made`.
            own: it was made here; a file that has become a link that leads out is left alone.

        Raises:
            Refusal: if a path of it leads to where no plan may.
        """
        tree = WorkTree(root.resolve())
        plans: dict[str, FilePlan] = {}
        skips: dict[str, Skip] = {}
        done = []
        for file in self.files:
            place = tree.locate(file.path)
            if place is None or not _is_inside(place.relative_to(tree.root).as_posix()):
                if not own:
                    raise Refusal(f"{file.path}: is a link that leads to where no plan may; nothing was written")
                skips[file.path] = Skip(file.path, SkipReason.OUTDATED, f"is a link that leads out, since {since}")
                continue
            data = tree.read(file.path)
            if data is None:
                gone = "is no regular file any more" if place.exists() else "is gone"
                skips[file.path] = Skip(file.path, SkipReason.OUTDATED, f"{gone}, since {since}")
            elif _digest(data) == file.before:
                plans[file.path] = _planned(file, data)
            elif _digest(data) == file.after:
                done.append(file.path)
            else:
                skips[file.path] = Skip(file.path, SkipReason.OUTDATED, f"changed since {since}; left as it is")
        for group in self.together:
            if because := next((path for path in group if path in skips), None):
                for path in group:
                    if plans.pop(path, None):
                        why = f"left as it is: it belongs together with {because}, which changed since {since}"
                        skips[path] = Skip(path, SkipReason.OUTDATED, why)
        components = tuple(frozenset(group) for group in self.together)
        plan = Plan(tuple(plans.values()), components=components, files_seen=len(self.files), files_read=len(plans))
        return FittedPlan(plan, tuple(skips.values()), tuple(done))


def reversed_plan(plan: Plan, paths: Iterable[str]) -> Plan:
    """The plan that takes back what another one does to some files."""
    wanted = set(paths)
    files = (FilePlan(file.path, file.after, file.before) for file in plan.changed if file.path in wanted)
    return Plan(tuple(files), components=plan.components)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _edits(before: bytes, after: bytes) -> Iterator[SavedEdit]:
    """The lines that differ, as edits of bytes."""
    old, new = split_lines(before), split_lines(after)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    for a0, a1, b0, b1 in sorted(differences(old, new)):
        yield SavedEdit(starts[a0], starts[a1], b"".join(new[b0:b1]).decode("utf-8", "surrogateescape"))


def _planned(file: SavedFile, before: bytes) -> FilePlan:
    """A file with its edits.

    Raises:
        Refusal: if the edits do not lead to what the plan says.
    """
    parts, position = [], 0
    for edit in sorted(file.edits, key=lambda each: (each.start, each.end)):
        try:
            new = edit.text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            new = b""
        parts += [before[position : edit.start], new]
        position = edit.end
    after = b"".join((*parts, before[position:]))
    if _digest(after) != file.after:
        raise Refusal(f"{file.path}: the edits of the plan do not give what it promises; nothing was written")
    return FilePlan(file.path, before, after, file.findings, file.changes)


def _is_inside(path: str) -> bool:
    """Whether a path stays below its root, and away from the directory of git."""
    parts = path.split("/")
    if "\0" in path or PurePosixPath(path).is_absolute() or (os.sep == "\\" and ("\\" in path or ":" in path)):
        return False
    return all(part not in ("", ".", "..") and part.casefold().rstrip(". ") != ".git" for part in parts)


def _plain(value: Any) -> Any:
    """A value of the model as JSON has it."""
    if isinstance(value, enum.Enum):
        return value.name
    if dataclasses.is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return value


def _made(kind: Any, value: Any, where: str) -> Any:
    """A value of a type of the model, from what JSON has.

    Raises:
        ValueError: if it is none.
    """
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return (
            None
            if value is None
            else _made(next(each for each in get_args(kind) if each is not type(None)), value, where)
        )
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        hints = get_type_hints(kind)
        asked = [each.name for each in dataclasses.fields(kind) if each.name in value or _is_needed(each)]
        made = {name: _made(hints[name], value.get(name), f"{where}.{name}") for name in asked}
        return kind(**made)  # type: ignore[operator]
    if origin is tuple and isinstance(value, list):
        inner = get_args(kind)
        each_of = [inner[0]] * len(value) if inner[-1] is Ellipsis else list(inner)
        if len(each_of) == len(value):
            return tuple(
                _made(one, each, f"{where}[{at}]") for at, (one, each) in enumerate(zip(each_of, value, strict=True))
            )
    if origin is not None and issubclass(origin, Mapping) and isinstance(value, dict):
        return {key: _made(get_args(kind)[1], each, f"{where}.{key}") for key, each in value.items()}
    if isinstance(kind, type) and issubclass(kind, enum.Enum) and isinstance(value, str) and value in kind.__members__:
        return kind[value]
    if kind in (str, int, bool) and type(value) is kind and (kind is not int or value >= 0):
        return value
    raise ValueError(f"{where.lstrip('.') or 'it'} is not what stands there in a plan")


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
