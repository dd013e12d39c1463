"""Protocols over the control-flow graph: which violations are found, and what lies between."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from codemods.flow.control_flow import ControlFlow
from codemods.flow.protocols import ANY, ANYTHING, UNKNOWN, Course, Protocol, run, summarize, unseen
from codemods.frameworks.training import protocols as tables

DOOR = Protocol(
    "shut",
    {("shut", "open"): "open", ("open", "shut"): "shut", (ANY, "lose"): UNKNOWN},
    {("open", "open"): "opened twice", ("shut", "shut"): "shut twice"},
)


def course(body: str, start: str = "shut") -> Course:
    """A protocol run over a function whose calls of `open`, `shut` and `lose` are the events."""
    function = ast.parse("def f(a, b, xs):\n" + textwrap.indent(textwrap.dedent(body), "    ")).body[0]
    assert isinstance(function, ast.FunctionDef)
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    events = {call: call.func.id for call in calls if call.func.id in ("open", "shut", "lose", ANYTHING)}  # type: ignore[attr-defined]
    return run(DOOR, ControlFlow(function), events, start)


def said(found: Course) -> set[tuple[str, int, int]]:
    """The violations: name, line and number of tests in between."""
    return {(each.name, each.node.lineno, len(each.passed)) for each in found.violations}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("open()\nshut()", set()),
        ("open()\nopen()", {("opened twice", 3, 0)}),
        ("open()\nlose()\nopen()", set()),
        ("open()\nanything()\nopen()", set()),
        ("open()\nif a:\n    shut()\nopen()", {("opened twice", 5, 1)}),
        ("open()\nif a:\n    shut()\nelse:\n    shut()\nopen()", set()),
        ("open()\nif a:\n    print(a)\nelse:\n    print(b)\nopen()", {("opened twice", 7, 0)}),
        # a test that occurs twice is one choice, until a name in it is given another value
        ("if a:\n    open()\nif a:\n    shut()\nopen()", set()),
        ("if a:\n    open()\nif not a:\n    open()", set()),
        ("if a:\n    open()\na = b\nif a:\n    shut()\nopen()", {("opened twice", 7, 1), ("shut twice", 6, 2)}),
        ("open()\nif a:\n    if b:\n        return\n    open()", {("opened twice", 6, 2)}),
        # a loop in which something happens may have no round, which is a choice
        ("open()\nfor x in xs:\n    shut()\n    break\nopen()", {("opened twice", 6, 1)}),
        ("open()\nfor x in xs:\n    print(x)\nopen()", {("opened twice", 5, 0)}),
        ("for x in xs:\n    open()", {("opened twice", 3, 0)}),
        ("for x in xs:\n    open()\n    if a:\n        continue\n    shut()", {("opened twice", 3, 1)}),
        ("while a:\n    open()", {("opened twice", 3, 0)}),
        # what is not always evaluated may not happen
        ("open()\na and shut()\nopen()", {("opened twice", 4, 1)}),
        ("open()\ntry:\n    shut()\nfinally:\n    print(a)\nopen()", set()),
        ("open()\ntry:\n    return\nfinally:\n    shut()\nopen()", set()),
        ("open()\ntry:\n    shut()\nexcept OSError:\n    pass\nopen()", {("opened twice", 7, 1)}),
    ],
)
def test_violations(body: str, expected: set[tuple[str, int, int]]) -> None:
    assert said(course(body)) == expected


def test_a_violation_says_what_led_to_it() -> None:
    (found,) = course("open()\nprint(a)\nopen()").violations
    assert found.since is not None and found.since.lineno == 2  # type: ignore[attr-defined]
    (found,) = course("open()", "open").violations
    assert found.since is None


def test_what_is_unknown_breaks_nothing_and_ends() -> None:
    assert not course("open()\nopen()", UNKNOWN).violations - course("open()", "open").violations
    assert {way.state for way in course("lose()\nopen()").exits} == {UNKNOWN}


def test_exits() -> None:
    assert {way.state for way in course("if a:\n    open()").exits} == {"shut", "open"}
    assert {way.state for way in course("open()\nreturn\nshut()").exits} == {"open"}
    assert not course("raise OSError").exits


def test_a_function_is_summarized_and_its_callers_see_the_summary() -> None:
    inner = ast.parse("def g():\n    open()").body[0]
    outer = ast.parse("def f():\n    g()\n    g()").body[0]
    assert isinstance(inner, ast.FunctionDef) and isinstance(outer, ast.FunctionDef)
    opening = next(node for node in ast.walk(inner) if isinstance(node, ast.Call))
    summary = summarize(DOOR, ControlFlow(inner), {opening: "open"})
    assert summary.after == {"shut": {"open"}, "open": {"open"}, UNKNOWN: {UNKNOWN}}
    assert summary.broken["open"] == {"opened twice"} and not summary.broken["shut"] and not summary.is_idle
    calls = [node for node in ast.walk(outer) if isinstance(node, ast.Call)]
    found = run(DOOR, ControlFlow(outer), dict.fromkeys(calls, summary), "shut")
    assert [(each.name, each.node) for each in found.violations] == [("opened twice", calls[1])]
    lost = run(DOOR, ControlFlow(outer), dict.fromkeys(calls, unseen(DOOR)), "shut")
    assert not lost.violations and {way.state for way in lost.exits} == {UNKNOWN}


def test_a_call_that_may_leave_several_states_is_a_choice() -> None:
    inner = ast.parse("def g(a):\n    if a:\n        open()").body[0]
    outer = ast.parse("def f(a):\n    g(a)\n    open()").body[0]
    assert isinstance(inner, ast.FunctionDef) and isinstance(outer, ast.FunctionDef)
    opening = next(node for node in ast.walk(inner) if isinstance(node, ast.Call))
    first, last = (node for node in ast.walk(outer) if isinstance(node, ast.Call))
    happenings = {first: summarize(DOOR, ControlFlow(inner), {opening: "open"}), last: "open"}
    (found,) = run(DOOR, ControlFlow(outer), happenings, "shut").violations
    assert found.node is last and found.passed == (first,)


def test_a_state_may_keep_what_led_to_the_one_before() -> None:
    kept = Protocol("a", {("a", "x"): "b", ("b", "y"): "c"}, {("c", "z"): "late"}, keeps=frozenset({"c"}))
    function = ast.parse("def f(t):\n    x()\n    if t:\n        return\n    y()\n    z()").body[0]
    assert isinstance(function, ast.FunctionDef)
    calls = {node: node.func.id for node in ast.walk(function) if isinstance(node, ast.Call)}  # type: ignore[attr-defined]
    (found,) = run(kept, ControlFlow(function), calls, "a").violations
    assert found.since.lineno == 2 and len(found.passed) == 1  # type: ignore[union-attr]


def test_many_ways_end() -> None:
    tests = "".join(f"if a{n}:\n    open()\nif a{n}:\n    shut()\n" for n in range(12))
    found = course(tests)
    assert not found.complete or not found.violations


def test_the_tables_are_literals_without_imports() -> None:
    """What watches a run can read them, under the oldest Python that a training may use."""
    tree = ast.parse(Path(tables.__file__).read_text(encoding="utf-8"), feature_version=(3, 9))
    told, *assigned = tree.body
    assert isinstance(told, ast.Expr)
    assert all(isinstance(each, ast.Assign) and ast.literal_eval(each.value)["moves"] for each in assigned)
    assert len(assigned) >= 3
