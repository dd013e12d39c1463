"""What a fix does, said of nodes of the syntax tree: replace an expression, insert statements, delete one.

A fix is a sequence of these. How each is written into the file (one-line suites, `a; b`, comments, indentation) is the
business of `codemods.syntax.rewriting`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Replace:
    """An expression becomes another one; parentheses around it stay where the new one may need them."""

    node: ast.expr
    code: str | ast.expr
    """A part of the expression stays as it is written."""


@dataclass(frozen=True, slots=True)
class Insert:
    """Statements directly before or after the statement that holds a node."""

    anchor: ast.AST
    code: tuple[str, ...]
    after: bool


@dataclass(frozen=True, slots=True)
class Delete:
    """The statements that hold these nodes go; a block that would be empty keeps a `pass`."""

    anchors: tuple[ast.AST, ...]


@dataclass(frozen=True, slots=True)
class Drop:
    """Arguments, elements of a list, imported names, decorators or items of a `with` go, with their commas."""

    nodes: tuple[ast.expr | ast.keyword | ast.alias, ...]


@dataclass(frozen=True, slots=True)
class Enclose:
    """The simple statement that holds a node goes into a block of its own; what shares its line stays outside."""

    anchor: ast.AST
    header: str
    before: tuple[str, ...]
    after: str
    values: Mapping[ast.expr, str]


@dataclass(frozen=True, slots=True)
class Unwrap:
    """The body of a `with` takes its place."""

    block: ast.With


@dataclass(frozen=True, slots=True)
class Rename:
    """A function, a class or an imported name is called something else where it is defined or imported."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.alias
    name: str


@dataclass(frozen=True, slots=True)
class AddItem:
    """A `with` enters one more context manager, after those that it has."""

    block: ast.With
    code: str


@dataclass(frozen=True, slots=True)
class DivideBlock:
    """A `with` becomes several: each part of its body, or of the one loop in it, stands in a `with` like it or in none.

    Of a loop, the loop comes out of the `with`.
    """

    block: ast.With
    parts: tuple[tuple[bool, tuple[ast.stmt, ...]], ...]


@dataclass(frozen=True, slots=True)
class NameResult:
    """What a `return` returns gets a name first, and statements stand between."""

    node: ast.Return
    name: str
    code: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EditCall:
    """A call gets another function, other arguments, or both; what stays keeps its layout and its comments."""

    node: ast.Call
    function: str | None
    first: tuple[Argument, ...]
    last: tuple[Argument, ...]
    values: Mapping[ast.expr | ast.keyword, str]
    named: Mapping[ast.expr | ast.keyword, str]
    drop: tuple[ast.expr | ast.keyword, ...]


@dataclass(frozen=True, slots=True)
class EditParameters:
    """A function gets fewer parameters, more at their end, or both; what stays keeps its layout and its comments."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    drop: tuple[str, ...]
    last: tuple[str, ...]
    """Names, each with the default None."""


@dataclass(frozen=True, slots=True)
class Choose:
    """A call is changed where a test holds, and stays as it is elsewhere."""

    test: str
    change: EditCall


Argument: TypeAlias = tuple[str | None, str]
"""A keyword (None: by position) and the code of the value."""
Verb: TypeAlias = (
    Replace
    | Insert
    | Delete
    | Drop
    | Enclose
    | Unwrap
    | Rename
    | AddItem
    | DivideBlock
    | NameResult
    | EditCall
    | EditParameters
    | Choose
)
Verbs: TypeAlias = Sequence[Verb]


def replace(node: ast.expr, code: str | ast.expr) -> Verb:
    """Replace an expression by the one that `code` says, or by a part of itself."""
    return Replace(node, code)


def insert_before(anchor: ast.AST, *code: str) -> Verb:
    """Insert statements before the statement that holds `anchor`; each of `code` is one, indented by four spaces."""
    return Insert(anchor, code, after=False)


def insert_after(anchor: ast.AST, *code: str) -> Verb:
    """Insert statements after the statement that holds `anchor`; each of `code` is one, indented by four spaces."""
    return Insert(anchor, code, after=True)


def delete(*anchors: ast.AST) -> Verb:
    """Delete the simple statements that hold these nodes, and the compound ones that are among them."""
    return Delete(anchors)


def drop(*nodes: ast.expr | ast.keyword | ast.alias) -> Verb:
    """Take arguments, elements, imported names, decorators or items of a `with` out of the list that they stand in.

    Args:
        nodes: values, or keywords; of an item of a `with` its `context_expr`.
    """
    return Drop(nodes)


def enclose(
    anchor: ast.AST,
    header: str,
    *,
    before: Sequence[str] = (),
    after: str = "",
    values: Mapping[ast.expr, str] | None = None,
) -> Verb:
    """Put the simple statement that holds `anchor` into a block with this header: `with torch.enable_grad():`.

    Args:
        before: statements before the block, each as for `insert_before`.
        after: what ends the compound statement: `finally: …`.
        values: expressions in the statement that become others.
    """
    return Enclose(anchor, header, tuple(before), after, values or {})


def unwrap(block: ast.With) -> Verb:
    """Put the body of a `with` in its place."""
    return Unwrap(block)


def rename(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.alias, name: str) -> Verb:
    """Rename a function, a class or an imported name where it is defined or imported; its uses stay as they are."""
    return Rename(node, name)


def add_item(block: ast.With, code: str) -> Verb:
    """Let a `with` enter one more context manager, after those that it has."""
    return AddItem(block, code)


def divide(block: ast.With, *parts: tuple[bool, Sequence[ast.stmt]]) -> Verb:
    """Put parts of the body of a `with`, or of the one loop in it, each into a `with` of its own (True), or into none.

    Args:
        parts: all statements of that body, in order; empty parts are left out.
    """
    return DivideBlock(block, tuple((inside, tuple(statements)) for inside, statements in parts if statements))


def name_result(node: ast.Return, name: str, *code: str) -> Verb:
    """`return f(x)` becomes `name = f(x)`, some statements, and `return name`."""
    return NameResult(node, name, code)


def edit_call(
    call: ast.Call,
    *,
    function: str | None = None,
    first: Sequence[Argument] = (),
    last: Sequence[Argument] = (),
    values: Mapping[ast.expr | ast.keyword, str] | None = None,
    named: Mapping[ast.expr | ast.keyword, str] | None = None,
    drop: Sequence[ast.expr | ast.keyword] = (),
) -> EditCall:
    """Change a call; arguments that are not named here stay as they are written.

    Args:
        function: what is called instead.
        first: arguments to add before the others.
        last: arguments to add behind the others.
        values: other values of arguments that are there: one by position, or a keyword.
        named: keywords for arguments that are given by position, or by another keyword.
        drop: arguments to take away.
    """
    return EditCall(call, function, tuple(first), tuple(last), values or {}, named or {}, tuple(drop))


def edit_parameters(
    function: ast.FunctionDef | ast.AsyncFunctionDef, *, drop: Sequence[ast.arg] = (), last: Sequence[str] = ()
) -> Verb:
    """Change the parameters of a function; those that are not named here stay as they are written.

    Args:
        drop: parameters to take away.
        last: names of parameters to add behind the others, each with the default None.
    """
    return EditParameters(function, tuple(each.arg for each in drop), tuple(last))


def choose(test: str, change: EditCall) -> Verb:
    """Change a call where a test holds: `changed if test else unchanged`, on lines of its own where it stands alone."""
    return Choose(test, change)
