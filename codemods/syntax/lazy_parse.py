"""Trees whose classes and functions are parsed when somebody looks inside.

libcst costs 34 ms per 1,000 lines, and rules look at a function here and there. So the outermost classes and functions
of a file keep their bodies as text: what is parsed is a skeleton (everything else, with `pass` for each body), and a
body when its statements are asked for; those of the functions of a class remain text then. The tree is the same as that
of the whole text, node for node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

from codemods.model.edits import Skip, SkipReason, Unreadable
from codemods.syntax.facts import Body, Facts
from codemods.syntax.tree import children, parse

FEWEST_LINES = 4
"""A shorter body is parsed at once."""


@dataclass(frozen=True, slots=True)
class _File:
    """A text by lines, and how libcst reads it."""

    path: str
    text: str
    lines: Sequence[str]
    """Without their line ends `\\n`; the last one has none."""
    starts: Sequence[int]
    default_indent: str = ""
    newline: str = ""

    @classmethod
    def of(cls, path: str, text: str) -> _File:
        lines = text.split("\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        return cls(path, text, lines, starts)

    def unreadable(self, reason: SkipReason, detail: str) -> Unreadable:
        return Unreadable(Skip(self.path, reason, detail))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a body stands that stays text."""

    body: Body
    last: int
    """Its last line, comments at its end included."""
    indent: str
    """Of its statements, absolute."""

    @classmethod
    def of(cls, body: Body, file: _File) -> _Place | None:
        """None for a body that is short, or begins or ends within a line."""
        first = file.lines[body.first - 1]
        indent = first[: len(first) - len(first.lstrip(" \t"))]
        last = _last(file.lines, body.last, indent)
        if body.last - body.first + 1 < FEWEST_LINES or body.column != len(indent) or last >= len(file.lines):
            return None
        return cls(body, last, indent)


@dataclass(frozen=True, slots=True)
class _About:
    """What becomes the statements of a body."""

    file: _File
    place: _Place
    above: tuple[cst.EmptyLine, ...]
    """Comments and empty lines between the header and the first statement."""

    @property
    def text(self) -> str:
        """Of the statements, whole lines."""
        return self.file.text[self.file.starts[self.place.body.first - 1] : self.file.starts[self.place.last]]

    @property
    def definition(self) -> str:
        """The text of the whole class or function, decorators included."""
        return self.file.text[self.file.starts[self.place.body.top - 1] : self.file.starts[self.place.last]]

    def parse(self) -> tuple[tuple[cst.BaseStatement, ...], tuple[cst.EmptyLine, ...]]:
        """The statements, as libcst reads them in a module that is indented and ended like this one.

        With them, the lines at the end that belong to the definition and to none of the blocks in it.

        Raises:
            Unreadable: if libcst cannot read them.
        """
        file, body = self.file, self.place.body
        short, places = _shortened(file, body.inside, body.first, self.place.last)
        if any(places):
            found = self._read(short)
            if _filled(found[0], places, file):
                return found
        return self._read(self.text)

    def _read(self, text: str) -> tuple[tuple[cst.BaseStatement, ...], tuple[cst.EmptyLine, ...]]:
        file = self.file
        lines = ["if 0:", f"{file.default_indent}pass", f"{self.place.body.keyword} _():", ""]
        try:
            module = cst.parse_module(f"{file.newline.join(lines)}{text}{self.place.indent}pass{file.newline}")
        except cst.ParserSyntaxError as error:
            raise file.unreadable(SkipReason.UNPARSABLE, error.message) from None
        except RecursionError:
            raise file.unreadable(SkipReason.TOO_DEEP, "nested too deeply to be rewritten") from None
        definition = module.body[1]
        assert isinstance(definition, (cst.ClassDef, cst.FunctionDef))
        assert isinstance(definition.body, cst.IndentedBlock)
        *found, last = definition.body.body
        assert isinstance(last, cst.SimpleStatementLine)
        if not found:
            raise file.unreadable(SkipReason.NO_ROUND_TRIP, f"a {self.place.body.keyword} has no statements of its own")
        found[0] = found[0].with_changes(leading_lines=self.above)
        return tuple(found), tuple(last.leading_lines)


class Deferred(cst.IndentedBlock):
    """The body of a class or function, parsed when `body` is read."""

    __slots__ = ("_about", "_maps", "_statements")  # type: ignore[misc]
    _about: _About
    _maps: list[dict[cst.CSTNode, cst.CSTNode]]
    _statements: Sequence[cst.BaseStatement] | None

    @classmethod
    def of(cls, placeholder: cst.IndentedBlock, about: _About) -> Deferred:
        """In the place of a block that holds nothing but a `pass` on a line of its own."""
        block: Deferred = object.__new__(cls)
        for name in ("header", "indent", "footer"):
            object.__setattr__(block, name, getattr(placeholder, name))
        object.__setattr__(block, "_about", about)
        object.__setattr__(block, "_maps", [])
        object.__setattr__(block, "_statements", None)
        return block

    @property
    def opened(self) -> bool:
        """Whether the statements have been parsed."""
        return self._statements is not None

    @property
    def is_class(self) -> bool:
        """Whether it is the body of a class."""
        return self._about.place.body.keyword == "class"

    @property
    def definition(self) -> str:
        """The text of the whole class or function, decorators included."""
        return self._about.definition

    @property
    def body(self) -> Sequence[cst.BaseStatement]:  # type: ignore[override]
        if self._statements is not None:
            return self._statements
        statements, behind = self._about.parse()
        object.__setattr__(self, "_statements", statements)
        object.__setattr__(self, "footer", (*behind, *self.footer))
        for found in self._maps:
            _enter(self, found)
        return statements

    def parents_into(self, found: dict[cst.CSTNode, cst.CSTNode]) -> None:
        """Keep a child → parent map complete, now or as soon as the statements are parsed."""
        if self.opened:
            _enter(self, found)
        else:
            self._maps.append(found)

    def with_changes(self, **changes: Any) -> cst.IndentedBlock:  # type: ignore[override]
        given = {name: getattr(self, name) for name in ("body", "header", "indent", "footer")}
        return cst.IndentedBlock(**{**given, **changes})

    def _codegen_impl(self, state: CodegenState) -> None:
        indent = state.default_indent if self.indent is None else self.indent
        if self.opened or "".join((*state.indent_tokens, indent)) != self._about.place.indent:
            self.with_changes()._codegen_impl(state)  # the same as any block; elsewhere than it was, it must be parsed
            return
        self.header._codegen(state)
        state.increase_indent(indent)
        for line in self._about.above:
            line._codegen(state)
        state.add_token(self._about.text)
        for line in self.footer:
            line._codegen(state)
        state.decrease_indent()


def _enter(block: Deferred, found: dict[cst.CSTNode, cst.CSTNode]) -> None:
    for statement in block.body:
        found[statement] = block
        _complete(statement, found)


def parents(root: cst.CSTNode) -> dict[cst.CSTNode, cst.CSTNode]:
    """Child → parent for all code below `root`; what is still unparsed joins when it is parsed."""
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    _complete(root, found)
    return found


def _complete(root: cst.CSTNode, found: dict[cst.CSTNode, cst.CSTNode]) -> None:
    for node in outside(root):
        if type(node) is Deferred:
            node.parents_into(found)
        else:
            for child in children(node):
                found[child] = node


def outside(*roots: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Nodes and the code below them in source order, without what stands in bodies that are parsed on demand."""
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        yield node
        if type(node) is not Deferred:
            stack.extend(reversed(children(node)))


def parse_outside(path: str, text: str, bodies: Sequence[Body]) -> cst.Module | Skip:
    """A file as a tree with its longer classes and functions unparsed. The text must have passed `ast` before.

    Args:
        bodies: those of every outermost class and function of the file, in source order.
    """
    if "\f" in text or text.count("\r") != text.count("\r\n"):
        return parse(path, text)
    file = _File.of(path, text)
    short, places = _shortened(file, bodies, 1, len(file.lines))
    if not any(places):
        return parse(path, text)
    module = parse(path, short)
    if isinstance(module, cst.Module):
        file = replace(file, default_indent=module.default_indent, newline=module.default_newline)
        if _filled(module.body, places, file):
            return module
    return parse(path, text)


def _shortened(file: _File, bodies: Sequence[Body], first: int, last: int) -> tuple[str, Sequence[_Place | None]]:
    """Some lines of a file with `pass` for those of the bodies in them that stay text, and where these stand."""
    places = [_Place.of(body, file) for body in bodies]
    pieces: list[str] = []
    at = file.starts[first - 1]
    for place in filter(None, places):
        end = "\r\n" if file.lines[place.last - 1].endswith("\r") else "\n"
        pieces += [file.text[at : file.starts[place.body.first - 1]], f"{place.indent}pass{end}"]
        at = file.starts[place.last]
    return "".join((*pieces, file.text[at : file.starts[last]])), places


def _filled(statements: Sequence[cst.CSTNode], places: Sequence[_Place | None], file: _File) -> bool:
    """Put bodies that are parsed on demand where `pass` stands for them; False where these are not found."""
    definitions = list(_outermost(statements))
    if len(definitions) != len(places):
        return False
    pairs = [(d, place) for d, place in zip(definitions, places, strict=True) if place is not None]
    if not all(isinstance(d.body, cst.IndentedBlock) and len(d.body.body) == 1 for d, _ in pairs):
        return False
    for definition, place in pairs:
        block = definition.body
        assert isinstance(block, cst.IndentedBlock) and isinstance(block.body[0], cst.SimpleStatementLine)
        about = _About(file, place, tuple(block.body[0].leading_lines))
        object.__setattr__(definition, "body", Deferred.of(block, about))
    return True


def _last(lines: Sequence[str], last: int, indent: str) -> int:
    """The last line of a body: what is indented deeper behind it, comment or empty, belongs to a block inside."""
    for number in range(last, len(lines)):
        line = lines[number].rstrip("\r")
        code = line.lstrip(" \t")
        deeper = line.startswith(indent) and len(line) - len(code) > len(indent)
        if deeper and (not code or code.startswith("#")):
            last = number + 1
        elif code:
            break
    return last


def _outermost(statements: Sequence[cst.CSTNode]) -> Iterator[cst.ClassDef | cst.FunctionDef]:
    """The classes and functions that lie in no other."""
    stack = list(reversed(statements))
    while stack:
        node = stack.pop()
        if isinstance(node, (cst.ClassDef, cst.FunctionDef)):
            yield node
        elif not isinstance(node, (cst.BaseSmallStatement, cst.BaseExpression)):
            stack.extend(reversed(children(node)))


class Trees:
    """The trees of the files looked at last. Parsing is dear, and so is keeping: the oldest go first."""

    def __init__(self, most: int = 500_000) -> None:
        self.most = most
        """Characters of source whose trees are kept."""
        self._kept: dict[str, tuple[str, cst.Module | Skip]] = {}
        self._size = 0

    def get(self, path: str, text: str, facts: Facts) -> cst.Module | Skip:
        """The tree of a file that holds `text`, parsed once while it is kept."""
        if path in self._kept:
            known, tree = self._kept.pop(path)
            self._size -= len(known)
        else:
            known, tree = "", None
        if tree is None or known != text:
            tree = parse_outside(path, text, facts.bodies)
        self._kept[path] = (text, tree)
        self._size += len(text)
        while self._size > self.most and len(self._kept) > 1:
            oldest, _ = self._kept.pop(next(iter(self._kept)))
            self._size -= len(oldest)
        return tree
