"""Statement order: what runs before what in one function, which ways lead out of a block, what a loop brings back.

Works on libcst nodes and a parent map; answers are about one pass through a function, and about the next round of a
loop. Nothing is executed, so an exit counts only where it is certain.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

import libcst as cst

from codemods.syntax.tree import children

Parents = Mapping[cst.CSTNode, cst.CSTNode]
LOOPS = (cst.For, cst.While)
SCOPES = (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.Module)
_BLOCKS = (cst.IndentedBlock, cst.SimpleStatementSuite, cst.SimpleStatementLine, cst.Module)


class Order(enum.Enum):
    """How two nodes of one function stand to each other."""

    BEFORE = "before"
    AFTER = "after"
    EXCLUSIVE = "exclusive"
    """In different arms of an `if`, `match` or `try`: never in one pass."""
    NESTED = "nested"
    """One contains the other, or they are the same."""
    UNKNOWN = "unknown"
    """In different functions."""


def ancestors(parents: Parents, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes around `node`, innermost first, `node` itself left out."""
    while (above := parents.get(node)) is not None:
        yield above
        node = above


def scope(parents: Parents, node: cst.CSTNode) -> cst.CSTNode:
    """The function, lambda, class or module whose body runs `node` (decorators and defaults run outside)."""
    below = node
    for above in ancestors(parents, node):
        if isinstance(above, SCOPES) and (isinstance(above, cst.Module) or below is above.body):
            return above
        below = above
    return below


def order(parents: Parents, a: cst.CSTNode, b: cst.CSTNode) -> Order:
    """Which of two nodes runs first, in one pass through the function they share."""
    if a is b:
        return Order.NESTED
    if scope(parents, a) is not scope(parents, b):
        return Order.UNKNOWN
    line_a = [a, *ancestors(parents, a)]
    line_b = [b, *ancestors(parents, b)]
    if a in line_b or b in line_a:
        return Order.NESTED
    shared = set(line_b)
    index = next(i for i, node in enumerate(line_a) if node in shared)
    meet, child_a = line_a[index], line_a[index - 1]
    child_b = line_b[line_b.index(meet) - 1]
    rank_a, rank_b = _rank(meet, child_a), _rank(meet, child_b)
    if _exclusive(meet, child_a, child_b):
        return Order.EXCLUSIVE
    return Order.BEFORE if rank_a < rank_b else Order.AFTER


def _rank(parent: cst.CSTNode, child: cst.CSTNode) -> int:
    """Where a child comes in the order of evaluation."""
    if isinstance(parent, (cst.Assign, cst.AnnAssign, cst.AugAssign)):
        return 0 if child is parent.value else 1
    if isinstance(parent, cst.IfExp):
        return 0 if child is parent.test else 1
    if isinstance(parent, (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)):
        return 0 if child is parent.for_in else 1
    if isinstance(parent, (cst.For, cst.CompFor)) and child is parent.iter:
        return -1
    return next(position for position, each in enumerate(children(parent)) if each is child)


def _exclusive(parent: cst.CSTNode, a: cst.CSTNode, b: cst.CSTNode) -> bool:
    if isinstance(parent, (cst.If, cst.IfExp)):
        return a is not parent.test and b is not parent.test
    if isinstance(parent, (cst.Try, cst.TryStar)):
        arms = [*parent.handlers, parent.orelse]
        return a in arms and b in arms
    return isinstance(parent, cst.Match) and isinstance(a, cst.MatchCase) and isinstance(b, cst.MatchCase)


def loop_around(parents: Parents, *nodes: cst.CSTNode) -> cst.For | cst.While | None:
    """The innermost loop of their function whose body holds all the nodes."""
    first, *others = nodes
    below = first
    for above in ancestors(parents, first):
        if isinstance(above, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            return None
        if isinstance(above, LOOPS) and below is above.body:
            if all(any(up is above.body for up in ancestors(parents, n)) for n in others):
                return above
        below = above
    return None


def reaches(parents: Parents, a: cst.CSTNode, b: cst.CSTNode) -> bool:
    """Whether control can pass from `a` to `b` in one pass: `a` comes first and no certain exit lies between."""
    return order(parents, a, b) is Order.BEFORE and _unblocked(parents, a, b)


def comes_round(parents: Parents, a: cst.CSTNode, b: cst.CSTNode) -> bool:
    """Whether, after `a`, `b` can run in the next round of a loop that holds both."""
    loop = loop_around(parents, a, b)
    if loop is None:
        return False
    below, jumped = a, None
    for above in takewhile(lambda node: node is not loop, ancestors(parents, a)):
        if jumped is None and isinstance(above, _BLOCKS):
            leaving = next((k for s in _following(above, below) for k in _leaves(s)), None)
            if leaving in ("return", "raise"):
                return False
            if leaving is not None:
                jumped = loop_around(parents, below)
                if jumped is loop:
                    return leaving == "continue"
        if above is jumped:
            jumped = None
        below = above
    return True


def dominates(parents: Parents, a: cst.CSTNode, b: cst.CSTNode) -> bool:
    """Whether `a` has surely run when `b` runs; for a `b` around `a`: whether it surely runs whenever `b` does."""
    around_b = {b, *ancestors(parents, b)}
    if b not in (line := [*ancestors(parents, a)]) and order(parents, a, b) is not Order.BEFORE:
        return False
    below = a
    for above in takewhile(lambda node: node not in around_b, line):
        if _conditional(above, below):
            return False
        below = above
    return True


def _conditional(parent: cst.CSTNode, child: cst.CSTNode) -> bool:
    """Whether `parent` may run without `child`."""
    if isinstance(parent, (cst.If, cst.IfExp, cst.While)):
        return child is not parent.test
    if isinstance(parent, (cst.For, cst.CompFor)):
        return child is not parent.iter
    if isinstance(parent, (cst.Try, cst.TryStar)):
        return child is not parent.finalbody
    if isinstance(parent, cst.BooleanOperation):
        return child is parent.right
    if isinstance(parent, (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)):
        return child is not parent.for_in or isinstance(parent, cst.GeneratorExp)
    if isinstance(parent, cst.Assert):
        return child is not parent.test
    return isinstance(parent, (cst.MatchCase, cst.Lambda, cst.FunctionDef))


def _unblocked(parents: Parents, a: cst.CSTNode, b: cst.CSTNode) -> bool:
    around_b = {b, *ancestors(parents, b)}
    below, jumped = a, None
    for above in ancestors(parents, a):
        if jumped is not None:
            if above is not jumped:
                below = above
                continue
            if above in around_b:
                return False
            jumped, below = None, above
            continue
        if isinstance(above, _BLOCKS):
            for statement in _following(above, below):
                if statement in around_b:
                    return True
                if kind := _leaves(statement):
                    if kind[0] in ("return", "raise"):
                        return False
                    jumped = loop_around(parents, statement)
                    break
        if above in around_b and not isinstance(above, _BLOCKS):
            return True
        below = above
    raise AssertionError("two nodes of a function meet")  # pragma: no cover


def _following(block: cst.CSTNode, child: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The statements of a block after `child`; small statements of its own line first."""
    body: Sequence[cst.CSTNode] = block.body  # type: ignore[attr-defined]
    seen = False
    for statement in body:
        if seen:
            yield statement
        elif statement is child:
            seen = True


def _leaves(node: cst.CSTNode) -> tuple[str, ...]:
    """How a statement certainly leaves its block: at most one of return, raise, break, continue."""
    kind = _EXITS.get(type(node))
    if kind:
        return (kind,)
    if isinstance(node, (cst.SimpleStatementLine, cst.IndentedBlock, cst.SimpleStatementSuite)):
        for statement in node.body:
            if found := _leaves(statement):
                return found
    if isinstance(node, cst.With):
        return _leaves(node.body)
    if isinstance(node, (cst.Try, cst.TryStar)):
        if node.finalbody is not None and (found := _leaves(node.finalbody.body)):
            return found
        kinds = [_leaves(node.body) or (_leaves(node.orelse.body) if node.orelse is not None else ())]
        kinds += [_leaves(handler.body) for handler in node.handlers]
        return _either(kinds)
    if isinstance(node, cst.If) and node.orelse is not None:
        arm = node.orelse if isinstance(node.orelse, cst.If) else node.orelse.body
        return _either([_leaves(node.body), _leaves(arm)])
    return ()


def _either(arms: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """How a choice of blocks certainly leaves: the way that lets most run afterwards."""
    return min(arms, key=lambda arm: _WEAKEST.index(arm[0])) if all(arms) else ()


_WEAKEST = ("continue", "break", "return", "raise")
_EXITS: dict[type[cst.CSTNode], str] = {
    cst.Return: "return",
    cst.Raise: "raise",
    cst.Break: "break",
    cst.Continue: "continue",
}


def exits(block: cst.CSTNode) -> frozenset[str]:
    """The ways in which a block can be left before its end: return, break, continue, yield, raise.

    Functions defined inside do not count, nor do `break` and `continue` of loops inside.
    """
    return frozenset(kind for kind, _ in ways_out(block))


def ways_out(block: cst.CSTNode) -> Iterator[tuple[str, cst.CSTNode]]:
    """The nodes by which a block can be left before its end, each with its way (see `exits`), in source order."""
    stack: list[tuple[cst.CSTNode, bool]] = [(block, False)]
    while stack:
        node, looping = stack.pop()
        if isinstance(node, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            continue
        kind = _EXITS.get(type(node))
        if kind and not (looping and kind in ("break", "continue")):
            yield kind, node
        if isinstance(node, (cst.Yield, cst.Await)):
            yield "yield", node
        below = [(child, looping or (isinstance(node, LOOPS) and child is node.body)) for child in children(node)]
        stack.extend(reversed(below))


def falls_through(block: cst.CSTNode) -> bool:
    """Whether control can reach the end of a block."""
    return not _leaves(block)


def own(root: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes that run when `root`'s body runs: functions, lambdas and classes inside are yielded, not entered."""
    stack = list(reversed(children(root)))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            stack.extend(reversed(children(node)))
