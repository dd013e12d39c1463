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

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Pep508
from packaging.specifiers import SpecifierSet

from codemods.model.edits import Edit, Skip, SkipReason, splice
from codemods.sources.manifest import conda, lock, pip, pyproject, setup_cfg, setup_py
from codemods.sources.manifest.requirement import PACKAGES, Entry, Include, Requirement
from codemods.sources.manifest.specifiers import Dialect, alternatives, rendered

_BEYOND = re.compile(r"[$\[{%]")
"""Begins what a template, a variable or conda's own notation says."""


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

    def edits(self, node: object, new: object) -> tuple[Edit, ...] | None:
        """The edit that gives a requirement the constraint `new`, as its place writes it; None: not surely possible."""
        return self.together({node: new})

    def together(self, fix: Mapping[Any, object]) -> tuple[Edit, ...] | None:
        """The edits that give requirements their constraints; None where that is not surely possible.

        The edited text is read again, and must ask for just what was meant; what pip reads, `packaging` reads too.
        """
        wanted: dict[Requirement, tuple[str, ...] | None] = {}
        edits: dict[Requirement, Edit] = {}
        for node, new in fix.items():
            if not isinstance(node, Requirement) or not isinstance(new, str) or not node.editable:
                return None
            wanted[node] = alternatives(new)
            if node.specs != wanted[node]:
                written = rendered(new, node.dialect, node.written)
                if written is None:
                    return None
                edits[node] = Edit(self.path, *node.constraint, written)
        if not edits:
            return ()
        after = splice(self.text, edits.values())
        again = read(self.path, after)
        if isinstance(again, Skip) or again.includes != self.includes:
            return None
        meant = [_meant(each, edits, wanted.get(each, each.specs)) for each in self.requirements]
        if [_said(each, each.start, each.end, each.specs) for each in again.requirements] != meant:
            return None
        of_pip = (new for old, new in zip(self.requirements, again.requirements, strict=True) if old in edits)
        return tuple(edits.values()) if all(_read_by_pip(each, after) for each in of_pip) else None

    def label(self, node: object) -> str:
        """Where a requirement stands, without line numbers: `project.dependencies.torch`."""
        if not isinstance(node, Requirement):
            return ""
        return f"{node.place}.{node.package}" if node.place else node.package

    def notes(self) -> Iterator[str]:
        """A sentence for each requirement of ours that cannot be understood."""
        for each in self.requirements:
            if each.package in PACKAGES and each.specs is None and each.written and not _BEYOND.search(each.written):
                yield f"line {self.line(each)}: {each.package}: nobody reads the constraint {each.written}"

    def line(self, node: Requirement) -> int:
        """The line that a requirement starts in, from 1."""
        return len(re.findall(r"\r\n|\r|\n", self.text[: node.start])) + 1


def _said(each: Requirement, start: int, end: int, specs: tuple[str, ...] | None) -> tuple[object, ...]:
    return (start, end, each.package, specs, each.place, each.condition, each.locked, each.why_not)


def _meant(each: Requirement, edits: Mapping[Requirement, Edit], specs: tuple[str, ...] | None) -> tuple[object, ...]:
    """What a requirement is to say, and where, once the edits of all are made."""
    grown = {node: len(edit.text) - (edit.end - edit.start) for node, edit in edits.items()}
    before = sum(shift for node, shift in grown.items() if node is not each and node.end <= each.start)
    return _said(each, each.start + before, each.end + before + grown.get(each, 0), specs)


def _read_by_pip(each: Requirement, text: str) -> bool:
    """Whether an item of pip's is one by its own rules; what others read goes by ours."""
    if each.dialect is not Dialect.PIP or each.package == "python":
        return True
    try:
        read = Pep508(re.sub(r"\\\r?\n", " ", text[each.start : each.end]))
    except InvalidRequirement:
        return False
    return each.specs is not None and read.specifier == SpecifierSet(each.written)


_Reader = Callable[[str, str], Iterable[Entry] | Skip]
_READERS: dict[str, _Reader] = {
    "setup.py": setup_py.requirements,
    "setup.cfg": setup_cfg.requirements,
    "pyproject.toml": pyproject.project,
    "Pipfile": pyproject.pipfile,
    "Pipfile.lock": lock.pipfile,
    "pixi.toml": pyproject.pixi,
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
