"""Dependency files, read with the place of everything they ask for; a constraint is set in the manner of its file.

Nothing is executed or looked up. Lock files, and requirements files that pip-compile or uv wrote, are read but never
edited: what they say follows from other files, by a command that `Requirement.why_not` names.
"""

from __future__ import annotations

import configparser
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from codemods.edits import Edit, Skip, SkipReason, splice
from codemods.sources import conda, lock, pip, pyproject, setup_cfg, setup_py
from codemods.sources.requirement import PACKAGES, Entry, Include, Requirement
from codemods.sources.specifiers import alternatives, rendered

__all__ = ["PACKAGES", "Include", "Manifest", "Requirement", "read"]


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """One packaging file."""

    KIND: ClassVar[str] = "manifest"
    path: str
    text: str
    requirements: tuple[Requirement, ...] = ()
    """In the order in which they stand there."""
    includes: tuple[Include, ...] = ()

    @property
    def start(self) -> int:
        return 0

    @property
    def end(self) -> int:
        return len(self.text)

    def nodes(self) -> Iterator[Manifest | Requirement]:
        """The file itself, then its requirements."""
        yield self
        yield from self.requirements

    def together(self, fix: Mapping[Any, object]) -> tuple[Edit, ...] | None:
        """The edits that give several requirements their constraints; None where one is not surely possible."""
        each = [self.edits(node, new) for node, new in fix.items()]
        return None if None in each else tuple(edit for edits in each if edits for edit in edits)

    def edits(self, node: object, new: object) -> tuple[Edit, ...] | None:
        """The edit that gives a requirement the constraint `new`, as its place writes it.

        None where that is not surely possible: the edited text is read again, and must ask for just what was meant.
        """
        if not isinstance(node, Requirement) or not isinstance(new, str) or not node.editable:
            return None
        if node.specs == alternatives(new):
            return ()
        written = rendered(new, node.dialect, node.written)
        if written is None:
            return None
        edit = Edit(self.path, *node.constraint, written)
        again = read(self.path, splice(self.text, [edit]))
        shift = len(written) - (edit.end - edit.start)
        wanted = [_meant(each, node, shift, alternatives(new)) for each in self.requirements]
        if isinstance(again, Skip) or [_said(each) for each in again.requirements] != wanted:
            return None
        return (edit,) if again.includes == self.includes else None

    def label(self, node: object) -> str:
        """Where a requirement stands, without line numbers: `project.dependencies.torch`."""
        if not isinstance(node, Requirement):
            return ""
        return f"{node.place}.{node.package}" if node.place else node.package

    def notes(self) -> Iterator[str]:
        """A sentence for each requirement of ours that cannot be understood."""
        for each in self.requirements:
            if each.package in PACKAGES and each.specs is None and each.written and "$" not in each.written:
                yield f"line {self.line(each)}: {each.package}: nobody reads the constraint {each.written}"

    def line(self, node: Requirement) -> int:
        """The line that a requirement starts in, from 1."""
        return len(re.findall(r"\r\n|\r|\n", self.text[: node.start])) + 1


def _said(each: Requirement) -> tuple[object, ...]:
    return (each.start, each.end, each.package, each.specs, each.place, each.condition, each.locked, each.why_not)


def _meant(each: Requirement, node: Requirement, shift: int, specs: tuple[str, ...] | None) -> tuple[object, ...]:
    """What a requirement says once `node` has those specs, and so many characters more."""
    start, end = each.start, each.end
    if each is node:
        end += shift
    elif start >= node.end:
        start, end = start + shift, end + shift
    said = specs if each is node else each.specs
    return (start, end, each.package, said, each.place, each.condition, each.locked, each.why_not)


_Reader = Callable[[str, str], Iterable[Entry] | Skip]
_READERS: dict[str, _Reader] = {
    "setup.py": setup_py.requirements,
    "setup.cfg": setup_cfg.requirements,
    "pyproject.toml": pyproject.project,
    "Pipfile": pyproject.pipfile,
    "Pipfile.lock": lock.pipfile,
    "pixi.lock": lambda path, text: (),
    **dict.fromkeys(("uv.lock", "poetry.lock", "pdm.lock"), lock.tables),
}
"""Name of a file → who reads it; by their suffix go the others."""


def read(path: str, text: str) -> Manifest | Skip:
    """The packaging file, by its name; a name that says nothing else is read as a requirements file."""
    try:
        found = _reader(posixpath.basename(path))(path, text)
        if isinstance(found, Skip):
            return found
        entries = list(found)
    except (RecursionError, MemoryError):
        return Skip(path, SkipReason.TOO_DEEP, "line 1: nested too deeply to be read")
    except (ValueError, SyntaxError, configparser.Error) as error:
        return Skip(path, SkipReason.UNPARSABLE, _why(error))
    placed: dict[tuple[object, ...], Requirement] = {}
    for each in entries:
        if isinstance(each, Requirement):
            key = (each.start, each.end, each.package, each.specs)
            if key not in placed or not each.condition:
                placed[key] = each
    ordered = sorted(placed.values(), key=lambda each: (each.start, each.end))
    return Manifest(path, text, tuple(ordered), tuple(each for each in entries if isinstance(each, Include)))


def _reader(name: str) -> _Reader:
    if name in _READERS:
        return _READERS[name]
    if name.endswith((".yml", ".yaml")):
        return conda.environment
    if name.endswith(".toml"):
        return lock.tables
    return pip.requirements


def _why(error: Exception) -> str:
    """The message of a parser, with its line."""
    message = (str(error).splitlines() or [type(error).__name__])[0]
    line = getattr(error, "lineno", None)
    if line is None and (found := re.search(r"\(?at line (\d+)|line (\d+)|\[line:? +(\d+)", str(error))):
        line = next(each for each in found.groups() if each)
    message = getattr(error, "msg", message) or message
    return f"line {line or 1}: {message.splitlines()[0] if message else type(error).__name__}"
