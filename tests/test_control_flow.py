"""The control-flow graph in small programs: `a()`, `b()`, `c()` mark the places asked about."""

from __future__ import annotations

import ast
import textwrap

import pytest

from codemods.flow.control_flow import ControlFlow
from codemods.syntax.module import Module


class Program:
    """A program with its graphs; `at("a")` is the call `a()` in it."""

    def __init__(self, code: str) -> None:
        self.module = Module(textwrap.dedent(code).lstrip("\n"))

    def at(self, name: str) -> ast.Call:
        (call,) = [c for c in self.module.all(ast.Call) if isinstance(c.func, ast.Name) and c.func.id == name]
        return call

    def flow(self, name: str = "a") -> ControlFlow:
        """The graph of the function that runs `name()`."""
        return ControlFlow(self.module.scope(self.at(name)))


def order(code: str) -> str:
    """How `a()` stands to `b()`."""
    program = Program(code)
    flow, a, b = program.flow(), program.at("a"), program.at("b")
    if b not in flow:
        return "elsewhere"
    if flow.apart(a, b):
        return "apart"
    return "before" if flow.stands_before(a, b) else "after" if flow.stands_before(b, a) else "nested"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a()\nb()", "before"),
        ("b()\na()", "after"),
        ("a(); b()", "before"),
        ("f(a(), b())", "before"),
        ("f(k=a(), *b())", "after"),
        ("a(b())", "nested"),
        ("x[b()] = a()", "before"),
        ("x[b()]: int = a()", "before"),
        ("x[a()] += b()", "before"),
        ("(b() if a() else 0)", "before"),
        ("x = a() if c() else b()", "apart"),
        ("x = [b() for y in a()]", "before"),
        ("x = {y: b() for y in a()}", "before"),
        ("x = {y for y in z if a() if b()}", "before"),
        ("(x := a())\nb()", "before"),
        ("for x in a():\n    b()", "before"),
        ("for a().x in b():\n    pass", "after"),
        ("if a():\n    b()", "before"),
        ("if x:\n    a()\nelse:\n    b()", "apart"),
        ("if x:\n    a()\nelif y:\n    pass\nelse:\n    b()", "apart"),
        ("if x:\n    a()\nelif b():\n    pass", "apart"),
        ("try:\n    a()\nexcept E:\n    b()", "before"),
        ("try:\n    pass\nexcept E:\n    a()\nexcept F:\n    b()", "apart"),
        ("try:\n    pass\nexcept E:\n    a()\nelse:\n    b()", "apart"),
        ("try:\n    pass\nexcept* E:\n    a()\nexcept* F:\n    b()", "apart"),
        ("try:\n    a()\nfinally:\n    b()", "before"),
        ("try:\n    pass\nexcept E:\n    a()\nfinally:\n    b()", "before"),
        ("match a():\n    case 1:\n        b()", "before"),
        ("match x:\n    case 1:\n        a()\n    case 2:\n        b()", "apart"),
        ("with a() as x, b():\n    pass", "before"),
        ("a()\ndef f():\n    b()", "elsewhere"),
        ("a()\nlambda: b()", "elsewhere"),
        ("a()\nclass C:\n    b()", "elsewhere"),
        ("a()\ndef f(x=b()):\n    pass", "before"),
        ("a()\n@b()\nclass C:\n    pass", "before"),
    ],
)
def test_order(code: str, expected: str) -> None:
    assert order(code) == expected


def test_a_compound_statement_stands_before_what_follows_it() -> None:
    program = Program("for x in y:\n    a()\nb()")
    (loop,) = program.module.all(ast.For)
    flow = program.flow()
    assert flow.stands_before(loop, program.at("b"))
    assert not flow.stands_before(loop, program.at("a")) and not flow.stands_before(program.at("a"), loop)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a()\nb()", True),
        ("a()\nreturn\nb()", False),
        ("a()\nif x:\n    return\nb()", True),
        ("a()\nif x:\n    return\nelse:\n    raise E\nb()", False),
        ("if x:\n    a()\n    return\nb()", False),
        ("if x:\n    a()\nelse:\n    return\nb()", True),
        ("for x in y:\n    a()\nb()", True),
        ("for x in y:\n    a()\n    continue\nb()", True),
        ("for x in y:\n    a()\n    continue\n    b()", False),
        ("for x in y:\n    a()\n    break\nelse:\n    b()", False),
        ("for x in y:\n    a()\nelse:\n    b()", True),
        ("for x in y:\n    for z in x:\n        a()\n        continue\nb()", True),
        ("while True:\n    a()\nb()", False),
        ("while True:\n    a()\n    if x:\n        break\nb()", True),
        ("while x:\n    a()\nb()", True),
        ("if False:\n    a()\nb()", True),
        ("with x:\n    a()\n    return\nb()", False),
        ("try:\n    a()\n    return\nexcept E:\n    b()", True),
        ("try:\n    a()\n    return\nfinally:\n    b()", True),
        ("try:\n    a()\n    return\nfinally:\n    c()\nb()", False),
        ("try:\n    return\nexcept E:\n    a()\nb()", True),
        ("try:\n    a()\nexcept E:\n    raise\nb()", True),
        ("match x:\n    case 1:\n        a()\n        return\n    case _:\n        return\nb()", False),
        ("match x:\n    case 1:\n        a()\n    case _:\n        return\nb()", True),
    ],
)
def test_reaches(code: str, expected: bool) -> None:
    program = Program("def f():\n" + textwrap.indent(code, "    "))
    assert program.flow().reaches(program.at("a"), program.at("b")) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("for x in y:\n    b()\n    a()", True),
        ("for x in y:\n    a()\n    b()", True),
        ("b()\nfor x in y:\n    a()", False),
        ("for x in y:\n    b()\nfor x in y:\n    a()", False),
        ("for x in y:\n    b()\n    a()\n    break", False),
        ("for x in y:\n    b()\n    a()\n    return", False),
        ("for x in y:\n    b()\n    a()\n    if z:\n        break", True),
        ("for x in y:\n    b()\n    if z:\n        a()\n        continue\n    c()", True),
        ("for x in y:\n    b()\n    for z in x:\n        a()\n        break", True),
        ("for x in b():\n    a()", False),
        ("while b():\n    a()", True),
        ("for x in y:\n    try:\n        a()\n        return\n    except E:\n        b()", True),
    ],
)
def test_comes_round(code: str, expected: bool) -> None:
    program = Program("def f():\n" + textwrap.indent(code, "    "))
    assert program.flow().comes_round(program.at("a"), program.at("b")) is expected


def test_the_loop_around_nodes() -> None:
    program = Program("for x in c():\n    a()\n    while d():\n        b()")
    flow = program.flow()
    (outer,), (inner,) = program.module.all(ast.For), program.module.all(ast.While)
    assert flow.loop(program.at("b")) is inner
    assert flow.loop(program.at("d")) is inner
    assert flow.loop(program.at("a"), program.at("b")) is outer
    assert flow.loop(program.at("c")) is None
    assert flow.loop(inner) is outer and flow.loop(outer) is None


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a()\nb()", True),
        ("if x:\n    a()\nb()", False),
        ("if x:\n    a()\nelse:\n    return\nb()", True),
        ("for x in y:\n    a()\nb()", False),
        ("for x in y:\n    a()\n    b()", True),
        ("while a():\n    pass\nb()", True),
        ("c and a()\nb()", False),
        ("a() and c\nb()", True),
        ("x = a() if c else d\nb()", False),
        ("x = [a() for y in z]\nb()", False),
        ("x = [y for y in a()]\nb()", True),
        ("try:\n    a()\nexcept E:\n    pass\nb()", False),
        ("try:\n    c()\nfinally:\n    a()\nb()", True),
        ("with x:\n    a()\nb()", True),
        ("assert c, a()\nb()", False),
    ],
)
def test_dominates(code: str, expected: bool) -> None:
    program = Program("def f():\n" + textwrap.indent(code, "    "))
    assert program.flow().dominates(program.at("a"), program.at("b")) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("if x:\n    a()", {"x": True}),
        ("if not x:\n    a()", {"x": False}),
        ("if x is not None:\n    a()", {"x is None": False}),
        ("if x:\n    pass\nelse:\n    a()", {"x": False}),
        ("if x:\n    return\na()", {"x": False}),
        ("if x:\n    x = 1\n    a()", {}),
        ("if self.amp:\n    self.amp = 1\n    a()", {}),
        ("if f(x):\n    a()", {}),
        ("if x:\n    if y:\n        a()", {"x": True, "y": True}),
        ("while x:\n    a()", {"x": True}),
        ("if x:\n    pass\na()", {}),
    ],
)
def test_what_is_surely_so(code: str, expected: dict[str, bool]) -> None:
    program = Program("def f():\n" + textwrap.indent(code, "    "))
    assert program.flow().tests(program.at("a")) == expected
