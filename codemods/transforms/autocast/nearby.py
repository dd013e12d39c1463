"""Whether an autocast region can be in reach of a file at all, told from text alone, before it is parsed.

A region is opened where a file says `autocast`, or where Lightning runs `training_step`. Code of another file runs in
it if such a file calls one of its functions, or enters the alias (`with self.amp_context():`) that such a file defines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from codemods.gate import functions
from codemods.index import Index
from codemods.rule import Concern

SPEAKING = (b"autocast", b"training_step")
"""What stands in every file in which a region begins."""
UNNAMED = ("forward", "__call__", "__init__", "main", "<lambda>")
"""Function names that too many files call to look for."""

_HEADER = re.compile(rb"([ \t]*)(?:class[ \t]+(\w+)|(?:async[ \t]+)?def[ \t]+(\w+))")
_NAME = re.compile(rb"(\w+)\s*(?:[(,:]|as\b|$)")
_GRADIENTS = frozenset({b"no_grad", b"enable_grad", b"inference_mode", b"set_grad_enabled", b"as"})
_INSIDE = re.compile(rb"^[ \t]*(?:async[ \t]+)?with\b|set_grad_enabled", re.MULTILINE)
_ALIAS = re.compile(rb"(\w+)[ \t]*=(?!=)(?:[^=\n]*autocast|[ \t]*\([ \t]*\n[^=]{0,200}?autocast)")


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """What the files in which regions begin say."""

    words: frozenset[bytes]
    called: frozenset[bytes]
    """Names with a parenthesis behind them."""
    opening: frozenset[bytes]
    """The words of those files that call autocast."""
    aliases: frozenset[bytes]
    """Names that may stand for a region."""


@dataclass(frozen=True, slots=True)
class _Function:
    """An outermost function, or a method, by its header."""

    name: bytes
    klass: bytes
    start: int


def near(sites: tuple[bytes, ...], *, suspected: bool) -> Concern:
    """A gate for rules about functions that hold one of `sites` and run in a region.

    Args:
        suspected: it is enough that a file which calls autocast names the class or the function.
    """
    return partial(_is_near, sites=sites, suspected=suspected)


def _is_near(path: str, text: str, index: Index, sites: tuple[bytes, ...], suspected: bool) -> bool:
    speaking = index.search(path, SPEAKING)
    if path in speaking or not speaking:
        return path in speaking
    said = index.recall((_is_near, speaking), lambda: _vocabulary(speaking, index))
    data = _bytes(text)
    found = {f for site in sites for place in _places(data, site) if (f := _around(data, place)) is not None}
    if _is_called(data, found, said):
        return True
    if suspected and any((f.klass or f.name) in said.opening and _goes_on(data, f) for f in found):
        return True
    return not said.aliases.isdisjoint(_entered(data))


def _places(data: bytes, literal: bytes) -> Iterator[int]:
    place = data.find(literal)
    while place >= 0:
        yield place
        place = data.find(literal, place + 1)


def _around(data: bytes, place: int) -> _Function | None:
    """The outermost function, or the method, around a place, or decorated there; by indentation."""
    line = data.rfind(b"\n", 0, place) + 1
    width = _width(data, line)
    if data.startswith(b"@", line + width):
        width += 1  # the header has the indentation of its decorator
        place = data.find(b"def ", place) + len(b"def ")
    found: _Function | None = None
    while width and (place := max(data.rfind(b"def ", 0, place), data.rfind(b"class ", 0, place))) >= 0:
        header = _HEADER.match(data, data.rfind(b"\n", 0, place) + 1)
        if header is None or len(header[1]) >= width:
            continue
        width = len(header[1])
        if header[3] is not None:
            found = _Function(header[3], b"", header.start())
        elif found is not None:
            return _Function(found.name, header[2], found.start)
    return found


def _width(data: bytes, line: int) -> int:
    indented = re.compile(rb"[ \t]*").match(data, line)
    return len(indented[0]) if indented else 0


def _calls(data: bytes, function: _Function) -> Iterator[int]:
    """Where a file may call one of its functions."""
    if not function.name.startswith(b"__"):
        header = data.find(function.name, function.start)
        written = (b"." if function.klass else b"") + function.name + b"("
        yield from (place for place in _places(data, written) if place != header)


def _is_called(data: bytes, found: set[_Function], said: _Vocabulary) -> bool:
    """Whether a file in which regions begin may call one of these functions, or one of this file that leads to it."""
    waiting, seen = list(found), set(found)
    while waiting:
        function = waiting.pop()
        if function.name.decode() not in UNNAMED and function.name in said.called:
            if not function.klass or function.klass in said.words:
                return True
        callers = {f for place in _calls(data, function) if (f := _around(data, place)) is not None}
        waiting += callers - seen
        seen |= callers
    return False


def _goes_on(data: bytes, function: _Function) -> bool:
    """Whether something may run with gradients after a function, or a part of it, ran without."""
    if next(_calls(data, function), None) is not None:
        return True
    end = next((end for start, end in functions(data) if start <= function.start < end), len(data))
    return _INSIDE.search(data, function.start, end) is not None


def _entered(data: bytes) -> set[bytes]:
    """The names of the contexts and decorators that a file uses, those apart that switch gradients."""
    found: set[bytes] = set()
    for mark in (b"with ", b"@"):
        for place in _places(data, mark):
            line, end = data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place)
            if data[line:place].strip() in (b"", b"async"):
                found.update(_NAME.findall(data, place, end if end >= 0 else len(data)))
    return found - _GRADIENTS


def _vocabulary(speaking: tuple[str, ...], index: Index) -> _Vocabulary:
    words, called, opening, aliases = set[bytes](), set[bytes](), set[bytes](), set[bytes]()
    for path in speaking:
        data = _bytes(index.text(path) or "")
        found = re.findall(rb"\w+", data)
        words.update(found)
        called.update(re.findall(rb"(\w+)\(", data))
        if b"autocast(" in data:
            opening.update(found)
        if b"autocast" in data:
            aliases.update(_ALIAS.findall(data))
            aliases.update(_name(data, start) for start, end in functions(data) if _gives_a_region(data[start:end]))
    return _Vocabulary(frozenset(words), frozenset(called), frozenset(opening), frozenset(aliases))


def _name(data: bytes, start: int) -> bytes:
    header = re.compile(rb"\bdef[ \t]+(\w+)").search(data, start)
    return header[1] if header else b""


def _gives_a_region(function: bytes) -> bool:
    """Whether a function may return a region, or yield inside one."""
    if b"autocast" not in function:
        return False
    return b"yield" in function or re.search(rb"return\b[^\n]*autocast", function) is not None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
