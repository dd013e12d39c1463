"""Whether an autocast region can be in reach of a function at all, told from identifiers, before it is parsed.

A region is opened where a file names `autocast`, or where Lightning runs `training_step`. Code of another file runs in
it if such a file calls one of its functions, or enters the alias (`with self.amp_context():`) that such a file defines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from codemods.project.index import Index
from codemods.rules.context import Context
from codemods.syntax.facts import Body, Facts
from codemods.syntax.identifiers import Group, Words
from codemods.syntax.lazy_parse import Deferred

SPEAKING = (b"autocast", b"training_step")
"""What stands in every file in which a region begins."""
UNNAMED = ("forward", "__call__", "__init__", "main", "<lambda>")
"""Function names that too many files call to look for."""

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Near:
    """A prefilter for rules about functions that hold one of some identifiers and run in a region."""

    sites: Group
    suspected: bool
    """It is enough that a file which calls autocast names the class or the function."""
    unless: re.Pattern[str] | None = None
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
        asked = _Function(name, klass.name.value if klass is not None and name else "")
        return asked in _concerned(ctx.path, ctx.text, ctx.index, self)

    def klass(self, body: Deferred, ctx: Context) -> bool:
        """The same question for the functions in a class, and in the classes in it."""
        concerned = _concerned(ctx.path, ctx.text, ctx.index, self)
        return any(f.klass in body.definition and f.name in body.definition for f in concerned if f.klass or not f.name)


def named_where_regions_open(ctx: Context, name: str) -> bool:
    """Whether a file of the project that calls autocast holds this identifier."""
    return _said(ctx.path, ctx.index).opening[name] > 0


def calling(ctx: Context, name: str) -> Sequence[str]:
    """The files in which regions begin that call something of this name."""
    return _said(ctx.path, ctx.index).called.get(name, ())


@dataclass(frozen=True, slots=True)
class _Function:
    """An outermost function, or a method; what stands outside of all is a function without a name."""

    name: str
    klass: str


class _Vocabulary:
    """What the files in which regions begin say: identifiers, each with the number of files; and who calls what."""

    def __init__(self) -> None:
        self.words, self.opening, self.aliases = Counter[str](), Counter[str](), Counter[str]()
        """`opening`: the words of those files that name autocast; `aliases`: names that may stand for a region."""
        self.called: dict[str, tuple[str, ...]] = {}
        """What is called by name, each with the files, sorted."""

    def copy(self) -> _Vocabulary:
        """The same, to be changed."""
        found = _Vocabulary()
        found.words, found.opening, found.aliases = self.words.copy(), self.opening.copy(), self.aliases.copy()
        found.called = dict(self.called)
        return found

    def count(self, path: str, index: Index, times: int) -> None:
        """Take in what a file says (1), or out (-1)."""
        text, facts = index.text(path) or "", index.facts(path)
        words = set(_IDENTIFIER.findall(text))
        aliases = set(_aliases(text, facts)) if facts is not None else set()
        for counted, said in (
            (self.words, words),
            (self.opening, words if "autocast" in words else set()),
            (self.aliases, aliases),
        ):
            for word in said:
                counted[word] += times
        for name in facts.called if facts is not None else ():
            others = [other for other in self.called.get(name, ()) if other != path]
            self.called[name] = tuple(sorted((*others, path) if times > 0 else others))


def _aliases(text: str, facts: Facts) -> Iterator[str]:
    """The names that may stand for a region: what autocast is assigned to, and functions that name it."""
    known = {"autocast"}
    while new := {name for name, said in facts.aliases.items() if name not in known and said & known}:
        known |= new
    yield from known - {"autocast"}
    for function, part in _functions(text, facts):
        if function.name and known.intersection(_IDENTIFIER.findall(part)):
            yield function.name


def _functions(text: str, facts: Facts) -> Iterator[tuple[_Function, str]]:
    """Every outermost function and method with its text, decorators included; then what stands outside of all."""
    lines: list[str] = text.split("\n")
    rest = list(lines)

    def walk(bodies: Sequence[Body], klass: str) -> Iterator[tuple[_Function, str]]:
        for body in bodies:
            if body.keyword == "class":
                yield from walk(body.inside, body.name)
            else:
                rest[body.top - 1 : body.last] = [""] * (body.last - body.top + 1)
                yield _Function(body.name, klass), "\n".join(lines[body.top - 1 : body.last])

    yield from walk(facts.bodies, "")
    yield _Function("", ""), "\n".join(rest)


def _said(path: str, index: Index) -> _Vocabulary:
    speaking = index.search(path, SPEAKING)

    def vocabulary() -> _Vocabulary:
        before = index.before
        if before is None:
            found = _Vocabulary()
            for each in speaking:
                found.count(each, index, 1)
            return found
        found, were = _said(path, before).copy(), frozenset(before.search(path, SPEAKING))
        for each in sorted(index.changed):
            if each in were:
                found.count(each, before, -1)
            if each in speaking:
                found.count(each, index, 1)
        return found

    return index.recall((_said, speaking), vocabulary)


def _concerned(path: str, text: str, index: Index, near: Near) -> frozenset[_Function]:
    """The functions with one of `sites` that a region may hold."""

    def concerned() -> frozenset[_Function]:
        facts = index.facts(path)
        if facts is None:
            return frozenset()
        file = _File(path, text, facts, index)
        sites = Words((near.sites,), facts)
        found = {f for f, part in file.functions.items() if sites.stand_in(part)}
        found = {f for f in found if not (near.unless and near.unless.match(f.name))}
        return frozenset(f for f in found if file.is_reached(f) or (near.suspected and file.is_suspected(f)))

    return index.recall((_concerned, path, near), concerned)


class _File:
    """The text of one file, asked about its functions. The project is only asked where the file leaves a doubt."""

    def __init__(self, path: str, text: str, facts: Facts, index: Index) -> None:
        self.path, self.index, self.called = path, index, facts.called
        self.functions: dict[_Function, str] = {}
        for function, part in _functions(text, facts):
            self.functions[function] = f"{self.functions.get(function, '')}\n{part}"
        self._words = {function: frozenset(_IDENTIFIER.findall(part)) for function, part in self.functions.items()}
        self.speaks = any(not _SPEAKING.isdisjoint(words) for words in self._words.values())

    @property
    def said(self) -> _Vocabulary:
        return _said(self.path, self.index)

    def is_reached(self, function: _Function) -> bool:
        """Whether a region may hold a function: in its own text, or somewhere along its callers."""
        waiting, seen = [function], [function]
        while waiting:
            each = waiting.pop()
            if self._speaks(each):
                return True
            callers = [other for other in self._callers(each) if other not in seen]
            waiting += callers
            seen += callers
        return any(self._enters(each) or self._is_called_elsewhere(each) for each in seen)

    def is_suspected(self, function: _Function) -> bool:
        """Whether a file that opens regions names it."""
        return self.said.opening[function.klass or function.name] > 0

    def _speaks(self, function: _Function) -> bool:
        """Whether a region may begin in a function; outside of all of them, anywhere in the file."""
        return not _SPEAKING.isdisjoint(self._words[function]) if function.name else self.speaks

    def _enters(self, function: _Function) -> bool:
        """Whether a function names what may be a region by another name."""
        aliases = self.said.aliases
        return any(aliases[word] > 0 for word in self._words[function])

    def _is_called_elsewhere(self, function: _Function) -> bool:
        """Whether another file in which regions begin may call it."""
        if not function.name or function.name in UNNAMED:
            return False
        own = self.speaks and function.name in self.called
        if len(self.said.called.get(function.name, ())) <= own:
            return False
        return not function.klass or self.said.words[function.klass] > self.speaks

    def _callers(self, function: _Function) -> Iterator[_Function]:
        """The functions of this file that name it."""
        if function.name and not function.name.startswith("__"):
            yield from (other for other, words in self._words.items() if function.name in words and other != function)


_SPEAKING = frozenset(word.decode() for word in SPEAKING)
