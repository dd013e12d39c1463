"""Protocols: what may happen to an object, as a table of states, run over the control-flow graph of a function.

A protocol says which event leads from which state to which, and which event must not come in a state. It is run along
every way through a function at once, loops included. A way remembers the tests that it passed: one that occurs twice is
one choice, and a violation says how many others lie between the event that led to its state and the one that breaks it.
With none in between it happens whenever the first event does; with one it happens wherever that test goes this way;
with more nobody knows whether such a way exists, for two tests may depend on each other.

What is not known is a state, `UNKNOWN`, which breaks nothing. What a call of a function does is a `Summary`: the states
in which it may leave the object, for each in which it finds it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from codemods.flow.control_flow import ControlFlow, always, condition
from codemods.syntax.module import LOOPS

UNKNOWN = "?"
"""The state of which nothing is known."""
ANY = "*"
"""In a table, every state, for which the table says nothing else."""
ANYTHING = "anything"
"""The event of which nothing is known: it leads to `UNKNOWN` from every state of which a table says nothing else."""
_MOST_WAYS = 400
"""Ways that are followed through one point; more, and the rest of the function is unknown."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """States, the events that lead from one to another, and those that must not come."""

    start: str
    moves: Mapping[tuple[str, str], str]
    """(state, event) → state; an event that no line names changes nothing."""
    violations: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(state, event) → the name of what is wrong then."""
    keeps: frozenset[str] = frozenset()
    """States that go on with what led to the one before: what is decided on the way there counts, too."""

    def after(self, state: str, event: str) -> str:
        """The state in which an event leaves the object."""
        unsaid = UNKNOWN if event == ANYTHING else state
        return self.moves.get((state, event), self.moves.get((ANY, event), unsaid))

    def may_lead(self, happening: Happening, before: str, after: str) -> bool:
        """Whether something that happens may lead from one state to another."""
        if isinstance(happening, Summary):
            return after in happening.after.get(before, ())
        return self.after(before, happening) == after

    def speaks_of(self, happening: Happening) -> bool:
        """Whether something that happens may change a state, or break one."""
        if isinstance(happening, Summary):
            return not happening.is_idle
        return happening == ANYTHING or any(event == happening for _, event in (*self.moves, *self.violations))

    @property
    def states(self) -> frozenset[str]:
        named = {name for (state, _), after in self.moves.items() for name in (state, after)}
        return frozenset(named | {self.start, UNKNOWN}) - {ANY}


@dataclass(frozen=True, slots=True)
class Summary:
    """What a function does to an object, as its callers see it."""

    after: Mapping[str, frozenset[str]]
    """State before → the states in which it may leave the object; none: it does not return."""
    broken: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """State before → the names of the violations to which that state surely leads inside."""

    @property
    def is_idle(self) -> bool:
        """Whether it changes nothing, and breaks nothing."""
        return all(after == {state} for state, after in self.after.items()) and not any(self.broken.values())


Happening = str | Summary
"""An event, or what a call does."""


class Way(NamedTuple):
    """How an object is at one point, on some ways there."""

    state: str
    since: ast.AST | None = None
    """What led to the state; None: it was so when the function began."""
    passed: tuple[ast.AST, ...] = ()
    """What was decided since, and is not known: a test, a loop that may have no round, a handler. Two at most."""
    more: bool = False
    """Whether more was decided than that."""
    known: frozenset[tuple[str, bool]] = frozenset()
    """The tests that were passed and occur again, and the loops that had a round."""

    def beside(self, choice: ast.AST) -> Way:
        """The same behind something more that was decided."""
        if choice in self.passed:
            return self
        return self._replace(more=True) if len(self.passed) > 1 else self._replace(passed=(*self.passed, choice))


class Violation(NamedTuple):
    """An event that came in a state in which it must not."""

    name: str
    node: ast.AST
    """The event, or the call in which it happens."""
    since: ast.AST | None
    """What led to the state; None: the function was called so."""
    passed: tuple[ast.AST, ...]
    """What was decided in between, or two of these."""
    more: bool = False
    """Whether more than two things were decided."""
    known: frozenset[tuple[str, bool]] = frozenset()
    """The tests that occur again and were decided before, each with its answer: it happens where they are so."""
    unseen: ast.AST | None = None
    """It happens unless who else knows the object, which it is let go to there, does something to it."""

    def hangs_only_on(self, choices: Collection[ast.AST]) -> bool:
        """Whether nothing else was decided in between."""
        return not self.more and all(each in choices for each in self.passed)

    def excludes(self, other: Violation) -> bool:
        """Whether two never happen in one run: they need opposite answers of a test."""
        return any((text, not holds) in other.known for text, holds in self.known)


@dataclass(frozen=True, slots=True)
class Course:
    """What came of running a protocol over a function."""

    violations: frozenset[Violation]
    exits: frozenset[Way]
    """How the object may be when the function ends."""
    complete: bool
    """Whether every way was followed."""


def run(
    protocol: Protocol,
    flow: ControlFlow,
    happenings: Mapping[ast.AST, Happening],
    start: str,
    named: Collection[str] = (),
) -> Course:
    """Run a protocol over a function.

    Args:
        happenings: what nodes of the function do to the object.
        start: the state when the function begins.
        named: what goes by these names is there: `if schedule is not None` decides nothing (`made_by_two_functions`).
    """
    there = frozenset(each for name in named for each in ((f"{name} is None", False), (name, True)))
    return _Run(protocol, flow, happenings, there).course(Way(start))


def summarize(protocol: Protocol, flow: ControlFlow, happenings: Mapping[ast.AST, Happening]) -> Summary:
    """What a function does to an object, for each state that it may find it in."""
    after: dict[str, frozenset[str]] = {}
    broken: dict[str, frozenset[str]] = {}
    for state in protocol.states:
        course = run(protocol, flow, happenings, state)
        after[state] = frozenset(way.state for way in course.exits) if course.complete else frozenset({UNKNOWN})
        broken[state] = frozenset(v.name for v in course.violations if v.since is None and not v.passed)
    return Summary(after, broken)


def unseen(protocol: Protocol) -> Summary:
    """A function of which nothing is known."""
    return Summary({state: frozenset({protocol.after(state, ANYTHING)}) for state in protocol.states})


class _Run:
    def __init__(
        self,
        protocol: Protocol,
        flow: ControlFlow,
        happenings: Mapping[ast.AST, Happening],
        there: frozenset[tuple[str, bool]],
    ) -> None:
        self.protocol, self.flow, self.there = protocol, flow, there
        self.happenings = {node: what for node, what in happenings.items() if protocol.speaks_of(what)}
        self.violations: set[Violation] = set()
        self.events: list[list[ast.AST]] = [
            [node for node in flow.evaluation(number) if node in self.happenings] for number in range(len(flow.points))
        ]

    @cached_property
    def busy(self) -> frozenset[int]:
        """The heads of the loops in which something happens."""
        found = (head for number, each in enumerate(self.events) if each for head in self.flow.points[number].loops)
        return frozenset(found)

    @cached_property
    def idle(self) -> frozenset[int]:
        """The points of the conditions behind which all ways meet again, with nothing that happened on either side."""
        return frozenset(
            number
            for number, point in enumerate(self.flow.points)
            if number in self.checks and not any(isinstance(each, ast.Raise) for each in ast.walk(point.node))
        )

    @cached_property
    def checks(self) -> frozenset[int]:
        """Those, and the conditions that raise on some sides: the ways that go on differ in nothing (`by_a_helper`)."""
        return frozenset(
            number
            for number, point in enumerate(self.flow.points)
            if isinstance(point.node, ast.If) and not any(self._matters(each) for each in ast.walk(point.node))
        )

    def _matters(self, node: ast.AST) -> bool:
        return node in self.happenings or isinstance(node, (ast.Break, ast.Continue, ast.Return))

    def course(self, start: Way) -> Course:
        seen: list[set[Way]] = [set() for _ in self.flow.points]
        seen[0].add(start)
        waiting = [(0, start)]
        complete = True
        while waiting:
            number, way = waiting.pop()
            for reached in self._through(number, way):
                for target, beyond in self._onward(number, reached):
                    if beyond in seen[target]:
                        continue
                    if len(seen[target]) >= _MOST_WAYS:
                        complete = False
                        continue
                    seen[target].add(beyond)
                    waiting.append((target, beyond))
        return Course(frozenset(self.violations), frozenset(seen[self.flow.end]), complete)

    def _through(self, number: int, way: Way) -> set[Way]:
        """The ways behind what happens at a point."""
        ways = {way}
        for node in self.events[number]:
            happened = {after for each in ways for after in self._happen(node, each)}
            if not always(node, self.flow.points[number]):
                ways = {each.beside(node) for each in (*ways, *happened)}
            else:
                ways = happened
        changed = self.flow.changed(number)
        if not changed:
            return ways
        return {each._replace(known=frozenset(k for k in each.known if not self._depends(k, changed))) for each in ways}

    def _depends(self, known: tuple[str, bool], changed: frozenset[str]) -> bool:
        return not changed.isdisjoint(self.flow.recurring.get(known[0], ()))

    def _happen(self, node: ast.AST, way: Way) -> Iterator[Way]:
        happening = self.happenings[node]
        if isinstance(happening, Summary):
            for name in happening.broken.get(way.state, ()):
                self._breaks(name, node, way)
            after = happening.after.get(way.state, frozenset({UNKNOWN}))
        else:
            if name := self.protocol.violations.get((way.state, happening), ""):
                self._breaks(name, node, way)
            after = frozenset({self.protocol.after(way.state, happening)})
        for state in after:
            if state == way.state:
                moved = way
            elif state in self.protocol.keeps:
                moved = way._replace(state=state)
            else:
                moved = way._replace(state=state, since=node, passed=(), more=False)
            yield moved if len(after) == 1 else moved.beside(node)

    def _breaks(self, name: str, node: ast.AST, way: Way) -> None:
        known = frozenset(each for each in way.known if each[0] in self.flow.recurring)
        self.violations.add(Violation(name, node, way.since, way.passed, way.more, known))

    def _onward(self, number: int, way: Way) -> Iterator[tuple[int, Way]]:
        """The next points, each with the way there."""
        point = self.flow.points[number]
        for edge in point.after:
            target = self.flow.points[edge.target].node
            if isinstance(target, ast.ExceptHandler):
                if target.body:  # else what was raised goes on behind `finally`, and leaves the function
                    yield edge.target, way.beside(target)
                continue
            if isinstance(point.node, LOOPS) and (edge.test is None or edge.test is getattr(point.node, "test", None)):
                yield edge.target, self._round(number, way, enters=edge.holds)
                continue
            if isinstance(point.node, ast.match_case):
                yield edge.target, way if _always_matches(point.node) else way.beside(target)
                continue
            if edge.test is None or number in self.idle:
                yield edge.target, way
                continue
            said = condition(edge.test, edge.holds)
            decided = way if number in self.checks else way.beside(edge.test)
            if said is None:
                yield edge.target, decided
            elif said in way.known or said in self.there:
                yield edge.target, way
            elif (opposite := (said[0], not said[1])) not in way.known and opposite not in self.there:
                beyond = decided
                if said[0] in self.flow.recurring:
                    beyond = beyond._replace(known=way.known | {said})
                yield edge.target, beyond

    def _round(self, head: int, way: Way, *, enters: bool) -> Way:
        """A way into the body of a loop, or past it: that it had no round counts where something happens inside."""
        had = (f"loop {head}", True)
        if enters:
            return way._replace(known=way.known | {had}) if head in self.busy else way
        if had in way.known:
            return way._replace(known=way.known - {had})
        return way.beside(self.flow.points[head].node) if head in self.busy else way


def _always_matches(case: ast.match_case) -> bool:
    """Whether a case takes whatever comes: `case _:`, `case value:`."""
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
