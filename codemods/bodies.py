"""Trees whose functions are parsed when somebody looks inside.

libcst costs 34 ms per 1,000 lines, and rules look at a function here and there. So the outermost functions of a file
keep their bodies as text: what is parsed is a skeleton (everything else, with `pass` for each body), and a body when
its statements are asked for. The tree is the same as that of the whole text, node for node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

from codemods.edits import Skip, SkipReason, Unreadable
from codemods.facts import Body, Facts
from codemods.tree import children, parse, walk

FEWEST_LINES = 4
"""A shorter body is parsed at once."""


@dataclass(frozen=True, slots=True)
class _About:
    """What becomes the statements of a body."""

    path: str
    function: str
    """The text of the whole function, decorators included."""
    text: str
    """Of the statements, whole lines."""
    indent: str
    """Of the statements, absolute."""
    above: tuple[cst.EmptyLine, ...]
    """Comments and empty lines between the header and the first statement."""
    awaits: bool
    default_indent: str
    newline: str

    def parse(self) -> tuple[tuple[cst.BaseStatement, ...], tuple[cst.EmptyLine, ...]]:
        """The statements, as libcst reads them in a function of a module that is indented and ended like this one.

        With them, the lines at the end that belong to the function and to none of the blocks in it.

        Raises:
            Unreadable: if libcst cannot read them.
        """
        lines = ["if 0:", f"{self.default_indent}pass", f"{'async ' if self.awaits else ''}def _():", ""]
        try:
            module = cst.parse_module(f"{self.newline.join(lines)}{self.text}{self.indent}pass{self.newline}")
        except cst.ParserSyntaxError as error:
            raise Unreadable(Skip(self.path, SkipReason.UNPARSABLE, error.message)) from None
        except RecursionError:
            raise Unreadable(Skip(self.path, SkipReason.TOO_DEEP, "nested too deeply to be rewritten")) from None
        function = module.body[1]
        assert isinstance(function, cst.FunctionDef) and isinstance(function.body, cst.IndentedBlock)
        *found, last = function.body.body
        assert isinstance(last, cst.SimpleStatementLine)
        if not found:
            raise Unreadable(Skip(self.path, SkipReason.NO_ROUND_TRIP, "a function has no statements of its own"))
        found[0] = found[0].with_changes(leading_lines=self.above)
        return tuple(found), tuple(last.leading_lines)


class Deferred(cst.IndentedBlock):
    """The body of a function, parsed when `body` is read."""

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
    def function(self) -> str:
        """The text of the whole function, decorators included."""
        return self._about.function

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
        if self.opened or "".join((*state.indent_tokens, indent)) != self._about.indent:
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
        for node in walk(statement):
            for child in children(node):
                found[child] = node


def parents(root: cst.CSTNode) -> dict[cst.CSTNode, cst.CSTNode]:
    """Child → parent for all code below `root`; what is still unparsed joins when it is parsed."""
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    for node in outside(root):
        if type(node) is Deferred:
            node.parents_into(found)
        else:
            for child in children(node):
                found[child] = node
    return found


def outside(root: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """`root` and the code below it in source order, without what stands in bodies that are parsed on demand."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if type(node) is not Deferred:
            stack.extend(reversed(children(node)))


def parse_outside(path: str, text: str, bodies: Sequence[Body]) -> cst.Module | Skip:
    """A file as a tree with its longer functions unparsed. The text must have passed `ast` before.

    Args:
        bodies: every outermost function of the file, in source order.
    """
    kept = [body.last - body.first + 1 >= FEWEST_LINES for body in bodies]
    if not any(kept) or "\f" in text or text.count("\r") != text.count("\r\n"):
        return parse(path, text)
    lines = text.split("\n")  # the last one has no line end
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    pieces: list[str] = []
    abouts: list[tuple[Body, int, str] | None] = []
    at = 0
    for body, long in zip(bodies, kept, strict=True):
        first = lines[body.first - 1]
        indent = first[: len(first) - len(first.lstrip(" \t"))]
        last = _last(lines, body.last, indent)
        if not long or body.column != len(indent) or last >= len(lines):
            abouts.append(None)
            continue
        end = "\r\n" if lines[last - 1].endswith("\r") else "\n"
        pieces += [text[at : starts[body.first - 1]], f"{indent}pass{end}"]
        at = starts[last]
        abouts.append((body, last, indent))
    short = "".join((*pieces, text[at:]))
    module = parse(path, short)
    if isinstance(module, Skip):
        return parse(path, text)
    functions = list(_outermost(module))
    if len(functions) != len(bodies):
        return parse(path, text)
    for function, about in zip(functions, abouts, strict=True):
        if about is None:
            continue
        body, last, indent = about
        block = function.body
        if not isinstance(block, cst.IndentedBlock) or len(block.body) != 1:
            return parse(path, text)
        said = _About(
            path=path,
            function=text[starts[body.top - 1] : starts[last]],
            text=text[starts[body.first - 1] : starts[last]],
            indent=indent,
            above=tuple(block.body[0].leading_lines),  # type: ignore[attr-defined]
            awaits=body.awaits,
            default_indent=module.default_indent,
            newline=module.default_newline,
        )
        object.__setattr__(function, "body", Deferred.of(block, said))
    return module


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


def _outermost(module: cst.Module) -> Iterator[cst.FunctionDef]:
    """The functions of a module that lie in no other."""
    stack: list[cst.CSTNode] = [module]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.FunctionDef):
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
