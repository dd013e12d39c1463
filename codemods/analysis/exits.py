"""How a block is left: whether its end can be reached, and by which statements it is left before."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.syntax.module import FUNCTIONS, LOOPS, TRIES, children

_EXITS: dict[type[ast.AST], str] = {
    ast.Return: "return",
    ast.Raise: "raise",
    ast.Break: "break",
    ast.Continue: "continue",
}


def falls_through(block: Sequence[ast.stmt]) -> bool:
    """Whether control can reach the end of a block."""
    return not any(_leaves(statement) for statement in block)


def _leaves(node: ast.stmt) -> bool:
    """Whether a statement certainly leaves the block that it stands in."""
    match node:
        case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
            return True
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return not falls_through(body)
        case ast.If(body=body, orelse=orelse):
            return not falls_through(body) and not falls_through(orelse)
    if isinstance(node, TRIES):
        assert isinstance(node, ast.Try)
        tried = [*node.body, *node.orelse]
        arms = [tried, *(handler.body for handler in node.handlers)]
        return not falls_through(node.finalbody) or not any(falls_through(arm) for arm in arms)
    return False


def ways_out(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What may leave a statement before its end, in source order: return, break, continue, yield or raise, with node.

    Functions defined inside do not count, nor do `break` and `continue` of loops inside.
    """
    waiting: list[tuple[ast.AST, bool]] = [(node, False)]
    while waiting:
        each, looping = waiting.pop()
        if isinstance(each, (ast.Lambda, ast.ClassDef, *FUNCTIONS)):
            continue
        kind = _EXITS.get(type(each))
        if kind and not (looping and kind in ("break", "continue")):
            yield kind, each
        if isinstance(each, (ast.Yield, ast.YieldFrom, ast.Await)):
            yield "yield", each
        loop = each.body if isinstance(each, LOOPS) else []
        waiting += [(child, looping or child in loop) for child in reversed(children(each))]
