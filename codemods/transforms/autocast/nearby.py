"""Whether an autocast region can be in reach of a file at all, told from text alone, before it is parsed.

A region is opened where a file says `autocast`, or where Lightning runs `training_step`. Code of another file runs in
it if such a file calls one of its functions, or enters the alias (`with self.amp_context():`) that such a file defines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from codemods.bodies import Deferred
from codemods.context import Context
from codemods.gate import Group, find, functions, holds_together, with_synonyms
from codemods.index import Index

SPEAKING = (b"autocast", b"training_step")
"""What stands in every file in which a region begins."""
UNNAMED = ("forward", "__call__", "__init__", "main", "<lambda>")
"""Function names that too many files call to look for."""

_HEADER = re.compile(rb"([ \t]*)(?:class[ \t]+(\w+)|(?:async[ \t]+)?def[ \t]+(\w+))")
_DEF = re.compile(rb"^[ \t]*(?:async[ \t]+)?def\b", re.MULTILINE)
_NAME = re.compile(rb"(\w+)\s*(?:[(,:]|as\b|$)")
_GRADIENTS = frozenset({b"no_grad", b"enable_grad", b"inference_mode", b"set_grad_enabled", b"as"})
_INSIDE = re.compile(rb"^[ \t]*(?:async[ \t]+)?with\b|set_grad_enabled", re.MULTILINE)
_SPACED = bytes(byte if re.match(rb"[\w(]", bytes([byte])) else ord(" ") for byte in range(256))
"""What stands for each byte of a file when its words, and the parentheses behind them, are told apart."""
_ALIAS = re.compile(rb"(\w+)[ \t]*=(?!=)(?:[^=\n]*autocast|[ \t]*\([ \t]*\n[^=]{0,200}?autocast)")


class _Vocabulary:
    """What the files in which regions begin say: words, each with the number of files; and who calls what."""

    def __init__(self) -> None:
        self.words, self.opening, self.aliases = Counter[bytes](), Counter[bytes](), Counter[bytes]()
        """`opening`: the words of those files that call autocast; `aliases`: names that may stand for a region."""
        self.called: dict[bytes, tuple[str, ...]] = {}
        """Names with a parenthesis behind them, each with the files, sorted."""

    def copy(self) -> _Vocabulary:
        """The same, to be changed."""
        found = _Vocabulary()
        found.words, found.opening, found.aliases = self.words.copy(), self.opening.copy(), self.aliases.copy()
        found.called = dict(self.called)
        return found

    def count(self, path: str, text: str, times: int) -> None:
        """Take in what a file says (1), or out (-1)."""
        data = _bytes(text)
        plain = data.translate(_SPACED)
        words = set(plain.replace(b"(", b" ").split())
        aliases: set[bytes] = set()
        if b"autocast" in data:
            given = (_name(data, start) for start, end in functions(data) if _gives_a_region(data[start:end]))
            aliases = {*_ALIAS.findall(data), *given}
        for counted, said in (
            (self.words, words),
            (self.opening, words if b"autocast(" in data else ()),
            (self.aliases, aliases),
        ):
            for word in said:
                counted[word] += times
        for name in {before.rpartition(b" ")[2] for before in plain.split(b"(")[:-1]}:
            others = [other for other in self.called.get(name, ()) if other != path]
            self.called[name] = tuple(sorted((*others, path) if times > 0 else others))


@dataclass(frozen=True, slots=True)
class _Function:
    """An outermost function, or a method; what stands outside of all is a function without a name."""

    name: bytes
    klass: bytes
    start: int = field(default=-1, compare=False)
    """Of its header."""


@dataclass(frozen=True, slots=True)
class Near:
    """A gate for rules about functions that hold one of some sites and run in a region."""

    sites: Group
    suspected: bool
    """It is enough that a file which calls autocast names the class or the function."""
    unless: re.Pattern[bytes] | None = None
    """Functions of such a name are none of these rules' business."""

    def file(self, path: str, text: str, index: Index) -> bool:
        """Whether a region may hold one of the functions of a file."""
        return bool(_concerned(path, text, index, self))

    def function(self, node: cst.CSTNode, ctx: Context) -> bool:
        """The same question for the function around a node."""
        function, klass = None, None
        for above in (node, *ctx.ancestors(node)):
            if isinstance(above, cst.FunctionDef):
                function, klass = above, None
            elif isinstance(above, cst.ClassDef) and klass is None:
                klass = above
        name = function.name.value if function is not None else ""
        asked = _Function(name.encode(), klass.name.value.encode() if klass is not None and name else b"")
        return asked in _concerned(ctx.path, ctx.text, ctx.index, self)

    def klass(self, body: Deferred, ctx: Context) -> bool:
        """The same question for the functions in a class, and in the classes in it."""
        text = _bytes(body.definition)
        concerned = _concerned(ctx.path, ctx.text, ctx.index, self)
        return any(f.klass in text and f.name in text for f in concerned if f.klass or not f.name)


def named_where_regions_open(ctx: Context, name: str) -> bool:
    """Whether a file of the project that calls autocast holds this word."""
    return _said(ctx.path, ctx.index).opening[name.encode()] > 0


def calling(ctx: Context, name: str) -> Sequence[str]:
    """The files in which regions begin that call something of this name."""
    return _said(ctx.path, ctx.index).called.get(name.encode(), ())


def _said(path: str, index: Index) -> _Vocabulary:
    speaking = index.search(path, SPEAKING)

    def vocabulary() -> _Vocabulary:
        before = index.before
        if before is None:
            found = _Vocabulary()
            for each in speaking:
                found.count(each, index.text(each) or "", 1)
            return found
        found, were = _said(path, before).copy(), frozenset(before.search(path, SPEAKING))
        for each in sorted(index.changed):
            if each in were:
                found.count(each, before.text(each) or "", -1)
            if each in speaking:
                found.count(each, index.text(each) or "", 1)
        return found

    return index.recall((_said, speaking), vocabulary)


def _concerned(path: str, text: str, index: Index, near: Near) -> frozenset[_Function]:
    """The functions with one of `sites` that a region may hold."""

    def concerned() -> frozenset[_Function]:
        file = _File(path, _bytes(text), index)
        (sites,) = with_synonyms((near.sites,), file.data)
        found = {file.around(place) for site in sites for place in find(site, file.data)}
        found = {f for f in found if not (near.unless and near.unless.match(f.name)) and file.does(f, sites)}
        return frozenset(f for f in found if file.is_reached(f) or (near.suspected and file.is_suspected(f)))

    return index.recall((_concerned, path, near), concerned)


class _File:
    """The text of one file, asked about its functions. The project is only asked where the file leaves a doubt."""

    def __init__(self, path: str, data: bytes, index: Index) -> None:
        self.path, self.data, self.index = path, data, index
        self.speaks = _speak(data)
        self._spans = functions(data)

    @property
    def said(self) -> _Vocabulary:
        return _said(self.path, self.index)

    def text(self, function: _Function) -> bytes:
        """A function with its decorators."""
        at = bisect_right(self._spans, (function.start, len(self.data))) - 1
        return self.data[slice(*self._spans[at])] if at >= 0 else b""

    def does(self, function: _Function, sites: Group) -> bool:
        """Whether one of `sites` stands in the code of a function; above it counts only if somebody may call it."""
        text = self.text(function)
        if not text or not holds_together((sites,), text):
            return not text
        header = _DEF.search(text)
        if header is None or b"enable_grad" in text or holds_together((sites,), text[header.end() :]):
            return True
        return next(self._calls(function), None) is not None or self._is_called_elsewhere(function)

    def is_reached(self, function: _Function) -> bool:
        """Whether a region may hold a function: in its own text, or somewhere along its callers."""
        waiting, seen = [function], [function]
        while waiting:
            each = waiting.pop()
            if _speak(self._code(each)):
                return True
            callers = {self.around(place) for place in self._calls(each)}.difference(seen)
            waiting += callers
            seen += callers
        return any(self._enters(each) or self._is_called_elsewhere(each) for each in seen)

    def is_suspected(self, function: _Function) -> bool:
        """Whether a file that opens regions names it, and something may run with gradients after it, or in it."""
        if not self.said.opening[function.klass or function.name]:
            return False
        return next(self._calls(function), None) is not None or _INSIDE.search(self.text(function)) is not None

    def _code(self, function: _Function) -> bytes:
        """What stands in a function; outside of all of them, anything may stand."""
        return self.text(function) if function.name else self.data

    def _enters(self, function: _Function) -> bool:
        """Whether a function enters a context that may be a region by another name."""
        entered = _entered(self._code(function))
        return bool(entered) and any(self.said.aliases[name] for name in entered)

    def _is_called_elsewhere(self, function: _Function) -> bool:
        """Whether another file in which regions begin may call it."""
        if not function.name or function.name.decode() in UNNAMED:
            return False
        own = self.speaks and function.name + b"(" in self.data
        if len(self.said.called.get(function.name, ())) <= own:
            return False
        return not function.klass or self.said.words[function.klass] > self.speaks

    def _calls(self, function: _Function) -> Iterator[int]:
        """Where this file may call one of its functions."""
        if function.name and not function.name.startswith(b"__"):
            header = self.data.find(function.name, function.start)
            written = (b"." if function.klass else b"") + function.name + b"("
            yield from (place for place in find(written, self.data) if place != header)

    def around(self, place: int) -> _Function:
        """The outermost function, or the method, around a place, or decorated there; by indentation."""
        data = self.data
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
        return found or _Function(b"", b"")


def _speak(data: bytes) -> bool:
    return any(word in data for word in SPEAKING)


def _width(data: bytes, line: int) -> int:
    end = line
    while data[end : end + 1] in (b" ", b"\t"):
        end += 1
    return end - line


def _entered(data: bytes) -> set[bytes]:
    """The names of the contexts and decorators that a file uses, those apart that switch gradients."""
    found: set[bytes] = set()
    for mark in (b"with ", b"@"):
        for place in find(mark, data):
            line, end = data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place)
            if data[line:place].strip() in (b"", b"async"):
                found.update(_NAME.findall(data, place, end if end >= 0 else len(data)))
    return found - _GRADIENTS


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
