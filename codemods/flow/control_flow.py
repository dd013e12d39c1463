"""The control-flow graph of one function: which statement may run after which, and what a loop brings back.

A graph is built once per function and asked many times. Its points are simple statements and the heads of compound
ones (a test, an iterable, the items of a `with`, a subject, a pattern), numbered in source order. Every edge leads to a
point with a higher number, but for the edges back to the head of a loop; so "in one pass" is a question about the
edges forward alone, answered from sets of points that are computed in one sweep.

What an expression does inside of itself (`a() if c else b()`, `c and a()`) is no point of its own: see `always`.
Nothing is executed, so a way out counts where the code shows it: any statement of a `try` may raise, and no other.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from codemods.syntax.module import COMPREHENSIONS, FUNCTIONS, LOOPS, TRIES, Scope, evaluated, outside


@dataclass(frozen=True, slots=True)
class Edge:
    """A step from one point to another."""

    target: int
    test: ast.expr | None = None
    """The test that decides whether the step is taken; None: nothing decides it that can be told."""
    holds: bool = True
    """Whether the step is taken where the test holds."""
    back: bool = False
    """Whether the step leads back to the head of a loop."""


@dataclass(slots=True)
class Point:
    """A simple statement, or the head of a compound one."""

    node: ast.AST
    parts: list[ast.AST]
    """What is evaluated at this point, in order."""
    loops: tuple[int, ...]
    """The heads of the loops around it, innermost first; a loop's own test or target is inside of it."""
    arms: tuple[tuple[int, int], ...]
    """The arms around it: for each statement with several (`if`, `match`, handlers of a `try`), which one."""
    after: list[Edge] = field(default_factory=list)


@dataclass(slots=True)
class _Loop:
    head: int
    breaks: list[int] = field(default_factory=list)


class ControlFlow:
    """The control-flow graph of a function, lambda, class or module."""

    def __init__(self, scope: Scope) -> None:
        self.points: list[Point] = []
        self._point_of: dict[ast.AST, int] = {}
        self._extent: dict[ast.AST, tuple[_Place, _Place]] = {}
        self._arms: list[tuple[int, int]] = []
        self._loops: list[_Loop] = []
        self._loop_of: dict[ast.AST, int] = {}
        self._raising: list[list[int]] = []
        """For each `try` around, innermost last: the points from which its handlers are reached."""
        self._leaving: list[list[int]] = []
        """For each `finally` around, innermost last: the points that leave through it."""
        self._ends: list[tuple[int, Edge]] = []
        entry = self._add(scope, [])
        if isinstance(scope, ast.Lambda):
            open_ends = self._then([(entry, None, True)], scope.body, [scope.body])
        else:
            open_ends = self._block(scope.body, [(entry, None, True)])
        self.end = self._add(scope, [])
        self._connect(open_ends, self.end)
        for source, edge in self._ends:
            self.points[source].after.append(Edge(self.end, edge.test, edge.holds))

    # -- questions

    def point(self, node: ast.AST) -> int | None:
        """The point at which a node is evaluated; None for nodes of other functions."""
        return self._point_of.get(node)

    def __contains__(self, node: ast.AST) -> bool:
        return node in self._point_of

    def stands_before(self, a: ast.AST, b: ast.AST) -> bool:
        """Whether all of `a` is evaluated before `b`, where both run in one pass and nothing leaves in between."""
        if a not in self._extent or b not in self._extent:
            return False
        return self._extent[a][1] < self._extent[b][0] and not self.apart(a, b)

    def reaches(self, a: ast.AST, b: ast.AST) -> bool:
        """Whether `b` may run after `a` in one pass: without going back to the head of a loop that holds both."""
        first, second = self._point_of.get(a), self._point_of.get(b)
        if first is None or second is None or not self.stands_before(a, b):
            return False
        return first == second or bool(self._forward[first] >> second & 1)

    def apart(self, a: ast.AST, b: ast.AST) -> bool:
        """Whether the two stand in different arms of an `if`, a `match`, a `try` or a conditional expression."""
        first, second = self._point_of.get(a), self._point_of.get(b)
        if first is None or second is None:
            return False
        if first == second and self._in_other_arm(first, a, b):
            return True
        here, there = self.points[first].arms, self.points[second].arms
        if here == there or not here or not there:
            return False
        mine = dict(here)
        return any(mine.get(branch, arm) != arm for branch, arm in there)

    def comes_round(self, a: ast.AST, b: ast.AST) -> bool:
        """Whether, after `a`, `b` may run in a later round of any loop that holds both, the outermost included."""
        first, second = self._point_of.get(a), self._point_of.get(b)
        if first is None or second is None:
            return False
        for head in self.points[first].loops:
            if head not in self.points[second].loops:
                continue
            again = head == second or self._forward[head] >> second & 1
            for latch in self._latches.get(head, ()):
                if again and (latch == first or self._forward[first] >> latch & 1):
                    return True
        return False

    def loop(self, *nodes: ast.AST) -> ast.For | ast.AsyncFor | ast.While | None:
        """The innermost loop that holds all of the nodes: its body, and what runs in each round of its head.

        Of a loop, the one around it.
        """
        found = [
            tuple(head for head in self.points[p].loops if head != self._loop_of.get(node))
            for node in nodes
            if (p := self._point_of.get(node)) is not None
        ]
        if len(found) < len(nodes):
            return None
        head = next((h for h in found[0] if all(h in loops for loops in found[1:])), None)
        node = self.points[head].node if head is not None else None
        return node if isinstance(node, LOOPS) else None

    def dominates(self, a: ast.AST, b: ast.AST) -> bool:
        """Whether `a` has surely run when `b` runs."""
        first, second = self._point_of.get(a), self._point_of.get(b)
        if first is None or second is None or not always(a, self.points[first]):
            return False
        if first == second:
            return self.stands_before(a, b)
        return not self._reached_without(first) >> second & 1

    def surely_passes(self, nodes: Iterable[ast.AST], last: ast.AST | None) -> bool:
        """Whether one of some nodes has surely run when `last` runs; None: when the end is reached."""
        gone = {p for n in nodes if (p := self._point_of.get(n)) is not None and always(n, self.points[p])}
        goal = len(self.points) - 1 if last is None else self._point_of.get(last)
        if goal is None:
            return False
        if last is not None and goal in gone:
            return any(self._point_of.get(n) == goal and self.stands_before(n, last) for n in nodes)
        seen, waiting = {0}, [0]
        while waiting:
            for edge in self.points[waiting.pop()].after:
                if edge.target not in gone and edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append(edge.target)
        return goal not in seen

    def surely_follows(self, first: ast.AST, nodes: Iterable[ast.AST]) -> bool:
        """Whether one of some nodes surely runs after `first`, before the end is reached or `first` runs again."""
        start = self._point_of.get(first)
        gone = {p for n in nodes if (p := self._point_of.get(n)) is not None and always(n, self.points[p])}
        if start is None or start in gone:
            return start is not None
        seen, waiting = {start}, [start]
        while waiting:
            for edge in self.points[waiting.pop()].after:
                if edge.target not in gone and edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append(edge.target)
        return len(self.points) - 1 not in seen

    def tests(self, node: ast.AST) -> dict[str, bool]:
        """What is surely so when `node` runs: the text of each test that was passed, with its answer.

        Tests of which a name is set again in between are left out.
        """
        point = self._point_of.get(node)
        states = self._assumptions[point] if point is not None else None
        return dict(states or ())

    def evaluation(self, number: int) -> list[ast.AST]:
        """The nodes that a point evaluates, in the order of evaluation, operands before what is made of them."""
        return self._evaluation[number]

    def changed(self, number: int) -> frozenset[str]:
        """The names to which a point may give another value; of `a.b = …` both `a.b` and `b`."""
        return self._changed[number]

    @cached_property
    def recurring(self) -> dict[str, frozenset[str]]:
        """The tests that decide in more than one place, as text, each with the names that it depends on."""
        found: dict[str, set[int]] = {}
        for number, point in enumerate(self.points):
            for edge in point.after:
                if edge.test is not None and (said := condition(edge.test, edge.holds)):
                    found.setdefault(said[0], set()).add(number)
        return {text: _names(text) for text, numbers in found.items() if len(numbers) > 1}

    # -- construction

    def _add(self, node: ast.AST, parts: Sequence[ast.AST]) -> int:
        number = len(self.points)
        loops = tuple(loop.head for loop in reversed(self._loops))
        self.points.append(Point(node, list(parts), loops, tuple(self._arms)))
        position = 0
        for part in parts:
            for each, size in _in_order(part):
                position += 1
                self._point_of[each] = number
                self._extent[each] = (number, position - size), (number, position)
        self._point_of.setdefault(node, number)
        for raising in self._raising[-1:]:
            raising.append(number)
        return number

    def _connect(self, ends: Iterable[_End], target: int, *, back: bool = False) -> None:
        for source, test, holds in ends:
            self.points[source].after.append(Edge(target, test, holds, back))

    def _then(self, ends: Iterable[_End], node: ast.AST, parts: Sequence[ast.AST]) -> list[_End]:
        """A new point after some open ends; the open end behind it."""
        number = self._add(node, parts)
        self._connect(ends, number)
        return [(number, None, True)]

    def _block(self, statements: Iterable[ast.stmt], ends: list[_End]) -> list[_End]:
        for statement in statements:
            first = len(self.points)
            ends = self._statement(statement, ends)
            self._extent[statement] = (first, 0), (len(self.points) - 1, _ALL)
        return ends

    def _arm(self, branch: int, arm: int, statements: Iterable[ast.stmt], ends: list[_End]) -> list[_End]:
        """One of several arms of the statement whose head is the point `branch`."""
        self._arms.append((branch, arm))
        ends = self._block(statements, ends)
        self._arms.pop()
        return ends

    def _statement(self, node: ast.stmt, ends: list[_End]) -> list[_End]:
        match node:
            case ast.If():
                (end,) = self._then(ends, node, [node.test])
                return self._branches(end[0], node.test, node.body, node.orelse)
            case ast.For() | ast.AsyncFor():
                ends = self._then(ends, node.iter, [node.iter])
                return self._loop(node, ends, [node.target], None)
            case ast.While():
                return self._loop(node, ends, [node.test], node.test)
            case ast.With() | ast.AsyncWith():
                return self._block(node.body, self._then(ends, node, node.items))
            case ast.Match():
                return self._match(node, ends)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return self._then(ends, node, [node])
            case ast.Return() | ast.Raise():
                (end,) = self._then(ends, node, [node])
                self._leave(end[0], raises=isinstance(node, ast.Raise))
                return []
            case ast.Break() | ast.Continue():
                (end,) = self._then(ends, node, [node])
                if self._loops:
                    loop = self._loops[-1]
                    if isinstance(node, ast.Break):
                        loop.breaks.append(end[0])
                    else:
                        self.points[end[0]].after.append(Edge(loop.head, back=True))
                return []
        if isinstance(node, TRIES):
            return self._try(node, ends)  # type: ignore[arg-type]
        return self._then(ends, node, [node])

    def _branches(self, test: int, condition: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> list[_End]:
        constant = condition.value if isinstance(condition, ast.Constant) else None
        taken: list[_End] = [] if constant is not None and not constant else [(test, condition, True)]
        skipped: list[_End] = [] if constant else [(test, condition, False)]
        return self._arm(test, 0, body, taken) + self._arm(test, 1, orelse, skipped)

    def _loop(
        self,
        node: ast.For | ast.AsyncFor | ast.While,
        ends: list[_End],
        parts: list[ast.AST],
        condition: ast.expr | None,
    ) -> list[_End]:
        head = len(self.points)
        self._loops.append(_Loop(head))
        self._loop_of[node] = head
        self._then(ends, node, parts)
        constant = condition.value if isinstance(condition, ast.Constant) else None
        ends = self._block(node.body, [(head, condition, True)])
        self._connect(ends, head, back=True)
        loop = self._loops.pop()
        left = [] if constant else self._block(node.orelse, [(head, condition, False)])
        return left + [(number, None, True) for number in loop.breaks]

    def _try(self, node: ast.Try, ends: list[_End]) -> list[_End]:
        if node.finalbody:
            self._leaving.append([])
        entry = [source for source, _, _ in ends]
        self._raising.append([])
        inside = self._block(node.body, ends)
        raised = self._raising.pop()
        if self._raising:
            self._raising[-1] += raised
        branch = -len(self.points)
        inside = self._arm(branch, 0, node.orelse, inside)
        for number, handler in enumerate(node.handlers, start=1):
            first = len(self.points)
            self._arms.append((branch, number))
            parts = [handler.type] if handler.type is not None else []
            begun = self._then([(each, None, True) for each in (*entry, *raised)], handler, parts)
            inside = inside + self._block(handler.body, begun)
            self._arms.pop()
            self._extent[handler] = (first, 0), (len(self.points) - 1, _ALL)
        if not node.finalbody:
            return inside
        leaving = self._leaving.pop()
        began = len(self.points)
        through: list[_End] = [(each, None, True) for each in leaving]
        if not node.handlers:
            # a point of its own says that something was raised on the way here
            thrown = self._add(ast.ExceptHandler(body=[]), [])
            self._connect([(each, None, True) for each in (*entry, *raised)], thrown)
            through.append((thrown, None, True))
        after = self._block(node.finalbody, inside + through)
        if leaving and len(self.points) > began:
            for source, _, _ in after:
                self._leave(source)
        return after if inside else []

    def _match(self, node: ast.Match, ends: list[_End]) -> list[_End]:
        ends = self._then(ends, node, [node.subject])
        found: list[_End] = []
        branch = ends[0][0]
        for number, case in enumerate(node.cases):
            parts: list[ast.AST] = [case.pattern, *([case.guard] if case.guard is not None else [])]
            ends = self._then(ends, case, parts)
            found += self._arm(branch, number, case.body, ends)
            if case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
                return found
        return found + ends

    def _leave(self, source: int, *, raises: bool = False) -> None:
        """Leave the function, through the `finally` around if there is one."""
        if self._leaving:
            self._leaving[-1].append(source)
        elif not raises:
            self._ends.append((source, Edge(-1)))

    # -- what is computed once

    @cached_property
    def _forward(self) -> list[int]:
        """For each point the points that may run after it in one pass, as bits of a number.

        From the end of a loop's body that is what comes after the loop.
        """
        found = [0] * len(self.points)
        for number in range(len(self.points) - 1, -1, -1):
            for edge in self.points[number].after:
                for target in self._exits(edge.target) if edge.back else (edge.target,):
                    found[number] |= 1 << target | found[target]
        return found

    def _exits(self, head: int) -> Iterator[int]:
        """Where a loop leads when it ends by itself."""
        for edge in self.points[head].after:
            if not edge.holds:
                yield from self._exits(edge.target) if edge.back else (edge.target,)

    def _in_other_arm(self, number: int, a: ast.AST, b: ast.AST) -> bool:
        """Whether two nodes of one point stand in different arms of an `x if c else y`."""
        for node in self.evaluation(number):
            if isinstance(node, ast.IfExp):
                arms = [{id(each) for each in ast.walk(arm)} for arm in (node.body, node.orelse)]
                if any(id(a) in arms[i] and id(b) in arms[1 - i] for i in (0, 1)):
                    return True
        return False

    @cached_property
    def _latches(self) -> dict[int, list[int]]:
        """For each head of a loop the points that lead back to it."""
        found: dict[int, list[int]] = {}
        for number, point in enumerate(self.points):
            for edge in point.after:
                if edge.back:
                    found.setdefault(edge.target, []).append(number)
        return found

    @cached_property
    def _without(self) -> dict[int, int]:
        return {}

    def _reached_without(self, gone: int) -> int:
        """The points that are reached from the entry on a way that does not pass one of them, as bits."""
        if gone not in self._without:
            seen, waiting = 1, [0]
            while waiting and gone:
                for edge in self.points[waiting.pop()].after:
                    if edge.target != gone and not seen >> edge.target & 1:
                        seen |= 1 << edge.target
                        waiting.append(edge.target)
            self._without[gone] = seen if gone else 0
        return self._without[gone]

    @cached_property
    def _evaluation(self) -> list[list[ast.AST]]:
        return [[each for part in point.parts for each, _ in _in_order(part)] for point in self.points]

    @cached_property
    def _changed(self) -> list[frozenset[str]]:
        return [frozenset(name for part in nodes for name in _set_by(part)) for nodes in self._evaluation]

    @cached_property
    def _assumptions(self) -> list[frozenset[tuple[str, bool]] | None]:
        """For each point what every way there has passed; None: no way leads there."""
        found: list[frozenset[tuple[str, bool]] | None] = [None] * len(self.points)
        found[0] = frozenset()
        waiting = deque([0])
        while waiting:
            number = waiting.popleft()
            known = found[number]
            assert known is not None
            changed = self._changed[number]
            kept = frozenset(each for each in known if not changed & _names(each[0]))
            for edge in self.points[number].after:
                now = kept
                if edge.test is not None and (said := condition(edge.test, edge.holds)):
                    now = kept | {said}
                before = found[edge.target]
                after = now if before is None else before & now
                if after != before:
                    found[edge.target] = after
                    waiting.append(edge.target)
        return found


_Place = tuple[int, int]
"""A point, and a position in the evaluation of it."""
_ALL = 1 << 60
"""Behind every position of a point."""
_End = tuple[int, ast.expr | None, bool]
"""A point whose next step is open, with the test that decides on it."""


def condition(test: ast.expr, holds: bool) -> tuple[str, bool] | None:
    """A test as text with its answer, negations resolved; None where asking twice may give two answers."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    if any(isinstance(n, (ast.Call, ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)) for n in ast.walk(test)):
        return None
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        opposite = {ast.IsNot: ast.Is, ast.NotEq: ast.Eq, ast.NotIn: ast.In}.get(type(test.ops[0]))
        if opposite is not None:
            test = ast.Compare(test.left, [opposite()], test.comparators)
            holds = not holds
    return ast.unparse(test), holds


def always(node: ast.AST, point: Point) -> bool:
    """Whether a node is evaluated whenever its point is: not the right side of `and`, an arm of `x if c else y`, …"""
    return any(each is node for part in point.parts for each in _surely(part))


def _surely(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    match node:
        case ast.BoolOp(values=[first, *_]):
            yield from _surely(first)
        case ast.IfExp(test=test):
            yield from _surely(test)
        case ast.Compare(left=left, comparators=[first, *_]):
            yield from _surely(left)
            yield from _surely(first)
        case ast.Lambda() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            for each in outside(node):
                yield from _surely(each)
        case ast.Assert(test=test):
            yield from _surely(test)
        case _ if isinstance(node, COMPREHENSIONS):
            yield from _surely(node.generators[0].iter)
        case _:
            for each in evaluated(node):
                yield from _surely(each)


def _in_order(root: ast.AST) -> list[tuple[ast.AST, int]]:
    """A node and what it evaluates, operands first, each with how many of the nodes before it are its own.

    Functions, lambdas and classes inside are not entered.
    """
    found: list[tuple[ast.AST, int]] = []
    waiting: list[tuple[ast.AST, int]] = [(root, -1)]
    while waiting:
        node, began = waiting.pop()
        if began >= 0:
            found.append((node, len(found) - began))
            continue
        waiting.append((node, len(found)))
        if isinstance(node, (ast.Lambda, ast.ClassDef, *FUNCTIONS)):
            below = outside(node)
        elif isinstance(node, LOOPS):  # pragma: no cover  (a loop is no part of a point)
            below = []
        else:
            below = evaluated(node)
        waiting += [(each, -1) for each in reversed(below)]
    return found


def _set_by(node: ast.AST) -> Iterator[str]:
    """The names that evaluating a node may give another value; of `a.b = …` both `a.b` and `b`."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        yield node.attr
    elif isinstance(node, (ast.ClassDef, *FUNCTIONS)):
        yield node.name


def _names(text: str) -> frozenset[str]:
    return frozenset(
        n.id if isinstance(n, ast.Name) else n.attr
        for n in ast.walk(ast.parse(text, mode="eval"))
        if isinstance(n, (ast.Name, ast.Attribute))
    )
