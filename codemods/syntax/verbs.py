"""What a fix does, said of nodes of the syntax tree: replace an expression, insert statements, delete one.

A fix is a sequence of these. How each is written into the file (one-line suites, `a; b`, comments, indentation) is the
business of `codemods.engine.rewriting`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Replace:
    """An expression becomes another one; parentheses around it stay where the new one may need them."""

    node: ast.expr
    code: str


@dataclass(frozen=True, slots=True)
class Insert:
    """Statements directly before or after the statement that holds a node."""

    anchor: ast.AST
    code: tuple[str, ...]
    after: bool


@dataclass(frozen=True, slots=True)
class Delete:
    """The simple statement that holds a node goes; a block that would be empty keeps a `pass`."""

    anchor: ast.AST


Verb: TypeAlias = Replace | Insert | Delete
Verbs: TypeAlias = Sequence[Verb]


def replace(node: ast.expr, code: str) -> Verb:
    """Replace an expression by the one that `code` says."""
    return Replace(node, code)


def insert_before(anchor: ast.AST, *code: str) -> Verb:
    """Insert statements before the statement that holds `anchor`; each of `code` is one, indented by four spaces."""
    return Insert(anchor, code, after=False)


def insert_after(anchor: ast.AST, *code: str) -> Verb:
    """Insert statements after the statement that holds `anchor`; each of `code` is one, indented by four spaces."""
    return Insert(anchor, code, after=True)


def delete(anchor: ast.AST) -> Verb:
    """Delete the simple statement that holds `anchor`."""
    return Delete(anchor)
