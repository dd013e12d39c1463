"""One Python file as a tree of `ast` nodes: what stands around a node, where it stands, which code runs it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias, TypeVar

N = TypeVar("N", bound=ast.AST)

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Scope: TypeAlias = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
Placed: TypeAlias = ast.stmt | ast.expr | ast.keyword | ast.arg | ast.alias | ast.ExceptHandler
"""Nodes that say where they begin and end."""
LOOPS = (ast.For, ast.AsyncFor, ast.While)
TRIES: tuple[type[ast.AST], ...] = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.Module, *FUNCTIONS, ast.Lambda, ast.ClassDef)


class Module:
    """The syntax tree of a file, with parents and text positions.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse`.
    """

    def __init__(self, text: str, tree: ast.Module | None = None) -> None:
        self.text = text
        self.tree = ast.parse(text) if tree is None else tree

    @cached_property
    def _walked(self) -> tuple[dict[ast.AST, ast.AST], dict[type[ast.AST], list[ast.AST]]]:
        """The node around each node, and the nodes of each type in source order."""
        parents: dict[ast.AST, ast.AST] = {}
        by_type: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        waiting: list[ast.AST] = [self.tree]
        while waiting:
            node = waiting.pop()
            by_type[type(node)].append(node)
            below = children(node)
            for child in below:
                parents[child] = node
            waiting += reversed(below)
        return parents, by_type

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return self._walked[0]

    @cached_property
    def _by_type(self) -> dict[type[ast.AST], list[ast.AST]]:
        return self._walked[1]

    # -- what stands around a node

    def __contains__(self, node: ast.AST) -> bool:
        return node is self.tree or node in self._parents

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node directly around `node`; None for the module."""
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, innermost first."""
        while (above := self._parents.get(node)) is not None:
            yield above
            node = above

    def enclosing(self, node: ast.AST, *types: type[N]) -> N | None:
        """The nearest node of these types around `node`."""
        return next((a for a in self.ancestors(node) if isinstance(a, types)), None)

    def contains(self, outer: ast.AST, node: ast.AST) -> bool:
        """Whether `node` is `outer` or stands in it."""
        return node is outer or any(above is outer for above in self.ancestors(node))

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that `node` belongs to: a simple one, or the compound one whose header it stands in."""
        return next((each for each in (node, *self.ancestors(node)) if isinstance(each, ast.stmt)), None)

    def scope(self, node: ast.AST) -> Scope:
        """The function, lambda, class or module whose body runs `node` (decorators and defaults run outside)."""
        below = node
        for above in self.ancestors(node):
            if isinstance(above, ast.Module):
                return above
            if isinstance(above, ast.Lambda):
                if below is above.body:
                    return above
            elif isinstance(above, _SCOPES) and isinstance(below, ast.stmt):
                return above
            below = above
        assert isinstance(below, ast.Module), "a node of another tree"
        return below

    def block(self, statement: ast.stmt) -> tuple[ast.AST, str]:
        """The block that a statement stands in: what it belongs to, and which of its blocks: `body`, `orelse`, …"""
        above = self._parents[statement]
        fields = (name for name in ("body", "orelse", "finalbody") if statement in (getattr(above, name, None) or ()))
        return above, next(fields)

    # -- nodes by type and by code

    def all(self, *types: type[N]) -> list[N]:
        """Every node of exactly these types, in source order for one type."""
        found: list[N] = []
        for kind in types:
            found += self._by_type.get(kind, ())  # type: ignore[arg-type]
        return found

    # -- positions

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line begins, as an offset in the text. Lines end as Python's tokenizer ends them."""
        starts, text = [0], self.text
        position = -1
        while (position := text.find("\n", position + 1)) >= 0:
            starts.append(position + 1)
        return starts

    def offset(self, line: int, column: int) -> int:
        """The offset in the text of a line (from 1) and a column in bytes of UTF-8 (from 0), as `ast` counts."""
        start = self._lines[line - 1]
        end = self._lines[line] if line < len(self._lines) else len(self.text)
        piece = self.text[start:end]
        return start + (column if piece.isascii() else len(piece.encode()[:column].decode()))

    def span(self, node: Placed) -> tuple[int, int]:
        """Where a node begins and ends, as offsets in the text; decorators and parentheses around it left out."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def lines_of(self, statement: ast.stmt) -> tuple[int, int]:
        """The first and the last line of a simple statement, or of the header of a compound one."""
        assert statement.end_lineno is not None
        if not any(isinstance(each, _BODIES) for each in children(statement)):
            return statement.lineno, statement.end_lineno
        header = [each for each in _header(statement) if isinstance(each, (ast.expr, ast.arg, ast.keyword))]
        line, end = max(((n.end_lineno or 0, self.span(n)[1]) for n in header), default=(0, 0))
        line, end = max((line, end), (statement.lineno, self.span(statement)[0]))
        colon = _COLON.match(self.text, end)
        assert colon is not None, "a header ends with a colon"
        return statement.lineno, line + self.text.count("\n", end, colon.end())

    def indentation(self, node: ast.stmt) -> str:
        """The white space at the beginning of the line that a statement begins on."""
        line = self.text[self._lines[node.lineno - 1] :].partition("\n")[0]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def source(self, node: ast.stmt | ast.expr | ast.keyword | ast.arg) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.text[start:end]


_BODIES = (ast.stmt, ast.ExceptHandler, ast.match_case)
_COLON = re.compile(r"(?:[^:#]|#[^\n]*)*:")
"""Up to the next colon, comments left out."""


def _header(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of the header of a compound statement, decorators left out."""
    waiting = [
        each
        for each in children(statement)
        if not isinstance(each, _BODIES) and each not in getattr(statement, "decorator_list", ())
    ]
    while waiting:
        node = waiting.pop()
        yield node
        if not hasattr(node, "end_lineno"):
            waiting += children(node)


_PLAIN = frozenset({"id", "attr", "arg", "ctx", "op", "ops", "kind", "level", "module", "asname", "type_comment"})
"""Fields that hold text, numbers, or nodes that Python shares between places and that have no parent of their own."""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each type of node that can hold other nodes."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        self[kind] = () if kind is ast.Constant else tuple(name for name in kind._fields if name not in _PLAIN)
        return self[kind]


_FIELDS = _Fields()


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below a node, in the order of their fields (nearly that of evaluation, see `evaluated`)."""
    found: list[ast.AST] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def evaluated(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below an expression or a simple statement, in the order in which Python evaluates them.

    Source: "Evaluation order" in the Python language reference, section 6.16, and sections 7.2 and 6.2.
    """
    match node:
        case ast.Assign(targets=targets, value=value):
            return [value, *targets]
        case ast.AugAssign(target=target, value=value):
            return [target, value]
        case ast.AnnAssign(target=target, value=value):
            return [value, target] if value is not None else [target]
        case ast.NamedExpr(target=target, value=value):
            return [value, target]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return [test, body, orelse]
        case ast.Dict(keys=keys, values=values):
            return [each for pair in zip(keys, values, strict=True) for each in pair if each is not None]
        case ast.ListComp(elt=elt, generators=generators) | ast.SetComp(elt=elt, generators=generators):
            return [*generators, elt]
        case ast.GeneratorExp(elt=elt, generators=generators):
            return [*generators, elt]
        case ast.DictComp(key=key, value=value, generators=generators):
            return [*generators, key, value]
        case ast.comprehension(target=target, iter=iterable, ifs=ifs):
            return [iterable, target, *ifs]
    return children(node)


def walk(root: ast.AST) -> Iterator[ast.AST]:
    """A node and everything in it, functions and classes too, in source order."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(children(node))


def own(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a body runs, in source order; functions, lambdas and classes are not entered.

    Of a function, lambda or class the body is walked, not its decorators, defaults or bases. Of a function inside, its
    decorators and defaults run here.
    """
    match root:
        case ast.Lambda(body=body):
            first: list[ast.AST] = [body]
        case ast.FunctionDef(body=statements) | ast.AsyncFunctionDef(body=statements) | ast.ClassDef(body=statements):
            first = list(statements)
        case _:
            first = children(root)
    waiting = list(reversed(first))
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(outside(node) if isinstance(node, _SCOPES) else children(node))


def outside(node: ast.AST) -> list[ast.AST]:
    """What of a function, lambda or class runs where it is defined: decorators, defaults, annotations, bases."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return [*node.decorator_list, *children(node.args), *([node.returns] if node.returns else [])]
        case ast.Lambda():
            return children(node.args)
        case ast.ClassDef():
            return [*node.decorator_list, *node.bases, *node.keywords]
    return []


def dotted(node: ast.AST | None) -> str | None:
    """`a.b.c` for a name or a chain of attributes on one, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def is_none(node: ast.AST | None) -> bool:
    """Whether an expression is the literal `None`."""
    return isinstance(node, ast.Constant) and node.value is None


def parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """All parameters, `*args` and `**kwargs` among them."""
    given = function.args
    extra = [each for each in (given.vararg, given.kwarg) if each is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *extra]
