"""Statement order in small programs: `a()`, `b()`, `c()` mark the places asked about."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from codemods.syntax import flow
from codemods.syntax.flow import Order
from codemods.syntax.lazy_parse import parents
from codemods.syntax.tree import walk


class Program:
    """A program with its parent map; `at("a")` is the call `a()` in it."""

    def __init__(self, code: str) -> None:
        self.module = cst.parse_module(textwrap.dedent(code).lstrip("\n"))
        self.parents = parents(self.module)

    def at(self, name: str) -> cst.Call:
        calls = [n for n in walk(self.module) if isinstance(n, cst.Call) and _name(n.func) == name]
        assert len(calls) == 1, f"{len(calls)} calls of {name}"
        return calls[0]

    def first(self, kind: type[cst.CSTNode]) -> cst.CSTNode:
        return next(n for n in walk(self.module) if isinstance(n, kind))

    def order(self) -> Order:
        return flow.order(self.parents, self.at("a"), self.at("b"))

    def reaches(self) -> bool:
        return flow.reaches(self.parents, self.at("a"), self.at("b"))

    def comes_round(self) -> bool:
        return flow.comes_round(self.parents, self.at("a"), self.at("b"))

    def dominates(self) -> bool:
        return flow.dominates(self.parents, self.at("a"), self.at("b"))


def _name(node: cst.CSTNode) -> str | None:
    return node.value if isinstance(node, cst.Name) else None


def body(code: str) -> cst.BaseSuite:
    """The body of a function with this code."""
    function = Program("def f():\n" + textwrap.indent(textwrap.dedent(code), "    ")).module.body[0]
    assert isinstance(function, cst.FunctionDef)
    return function.body


# -- order


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a()\nb()", Order.BEFORE),
        ("b()\na()", Order.AFTER),
        ("a(); b()", Order.BEFORE),
        ("f(a(), b())", Order.BEFORE),
        ("a(b())", Order.NESTED),
        ("x[b()] = a()", Order.BEFORE),
        ("x[b()]: int = a()", Order.BEFORE),
        ("x[b()] += a()", Order.BEFORE),
        ("x = b() if a() else 0", Order.BEFORE),
        ("x = a() if c() else b()", Order.EXCLUSIVE),
        ("x = [b() for y in a()]", Order.BEFORE),
        ("x = {y: b() for y in a()}", Order.BEFORE),
        ("x = (b() for y in a())", Order.BEFORE),
        ("x = {b() for y in z if a()}", Order.BEFORE),
        ("x = [y for a().x in b()]", Order.AFTER),
        ("for x in a():\n    b()", Order.BEFORE),
        ("for a().x in b():\n    pass", Order.AFTER),
        ("if a():\n    b()", Order.BEFORE),
        ("if x:\n    a()\nelse:\n    b()", Order.EXCLUSIVE),
        ("if x:\n    a()\nelif y:\n    pass\nelse:\n    b()", Order.EXCLUSIVE),
        ("if x:\n    a()\nelif b():\n    pass", Order.EXCLUSIVE),
        ("try:\n    a()\nexcept E:\n    b()", Order.BEFORE),
        ("try:\n    pass\nexcept E:\n    a()\nexcept F:\n    b()", Order.EXCLUSIVE),
        ("try:\n    pass\nexcept E:\n    a()\nelse:\n    b()", Order.EXCLUSIVE),
        ("try:\n    pass\nexcept* E:\n    a()\nexcept* F:\n    b()", Order.EXCLUSIVE),
        ("try:\n    a()\nfinally:\n    b()", Order.BEFORE),
        ("try:\n    pass\nexcept E:\n    a()\nfinally:\n    b()", Order.BEFORE),
        ("match a():\n    case 1:\n        b()", Order.BEFORE),
        ("match x:\n    case 1:\n        a()\n    case 2:\n        b()", Order.EXCLUSIVE),
        ("with a() as x, b():\n    pass", Order.BEFORE),
        ("a()\ndef f():\n    b()", Order.UNKNOWN),
        ("a()\nlambda: b()", Order.UNKNOWN),
        ("a()\ndef f(x=b()):\n    pass", Order.BEFORE),
        ("a()\n@b()\nclass C:\n    pass", Order.BEFORE),
        ("a()\nclass C:\n    b()", Order.UNKNOWN),
    ],
)
def test_order(code: str, expected: Order) -> None:
    assert Program(code).order() is expected


def test_a_node_is_nested_in_itself() -> None:
    program = Program("a()")
    assert flow.order(program.parents, program.at("a"), program.at("a")) is Order.NESTED


def test_scope() -> None:
    program = Program("""
        class C:
            a()
            def f(self, x=b()):
                return lambda: c()
    """)
    assert flow.scope(program.parents, program.at("a")) is program.first(cst.ClassDef)
    assert flow.scope(program.parents, program.at("b")) is program.first(cst.ClassDef)
    assert flow.scope(program.parents, program.at("c")) is program.first(cst.Lambda)
    assert flow.scope(program.parents, program.first(cst.Lambda)) is program.first(cst.FunctionDef)
    assert flow.scope(program.parents, program.first(cst.ClassDef)) is program.module
    assert flow.scope(program.parents, program.module) is program.module


def test_ancestors_go_up_to_the_module() -> None:
    program = Program("a()")
    kinds = [type(n).__name__ for n in flow.ancestors(program.parents, program.at("a"))]
    assert kinds == ["Expr", "SimpleStatementLine", "Module"]


# -- what can follow


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a()\nb()", True),
        ("b()\na()", False),
        ("a()\nreturn\nb()", False),
        ("a()\nraise E\nb()", False),
        ("a(); return; b()", False),
        ("a()\nif x:\n    return\nb()", True),
        ("a()\nif x:\n    return\nelse:\n    raise E\nb()", False),
        ("a()\nif x:\n    return\nelif y:\n    return\nelse:\n    return\nb()", False),
        ("a()\nif x:\n    return\nelif y:\n    pass\nelse:\n    return\nb()", True),
        ("if x:\n    a()\n    return\nb()", False),
        ("if x:\n    a()\nb()", True),
        ("if x:\n    a()\nelse:\n    b()", False),
        ("a()\nwith x:\n    return\nb()", False),
        ("with x:\n    a()\n    return\nb()", False),
        ("a()\nif x: return\nelse: return\nb()", False),
        ("a()\ntry:\n    return\nfinally:\n    pass\nb()", False),
        ("a()\ntry:\n    return\nexcept E:\n    pass\nb()", True),
        ("a()\ntry:\n    return\nexcept E:\n    raise\nb()", False),
        ("a()\ntry:\n    x()\nexcept E:\n    raise\nelse:\n    return\nb()", False),
        ("a()\ntry:\n    x()\nfinally:\n    return\nb()", False),
        ("for x in y:\n    a()\n    continue\n    b()", False),
        ("for x in y:\n    a()\n    continue\nb()", True),
        ("for x in y:\n    a()\n    break\nb()", True),
        ("for x in y:\n    a()\n    break\nelse:\n    b()", False),
        ("while x:\n    a()\n    break\n    b()", False),
        ("for x in y:\n    if x:\n        a()\n        continue\n    b()", False),
        ("for x in y:\n    if x:\n        a()\n        break\n    z()\nb()", True),
        ("for z in w:\n    for x in y:\n        a()\n        break\n    b()", True),
        ("for z in w:\n    for x in y:\n        a()\n        return\n    b()", False),
        (
            "for z in w:\n    if x:\n        a()\n        if y: break\n        else: return\n    b()",
            False,
        ),
        (
            "for z in w:\n    if x:\n        a()\n        if y: break\n        else: return\nb()",
            True,
        ),
        ("f(a(), b())", True),
        ("x = a() and b()", True),
        ("if a():\n    b()", True),
        ("with a():\n    b()", True),
        ("def f():\n    a()\nb()", False),
    ],
)
def test_reaches(code: str, expected: bool) -> None:
    assert Program("def g():\n" + textwrap.indent(code, "    ")).reaches() is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a()\nb()", False),
        ("for x in y:\n    b()\n    a()", True),
        ("while x:\n    b()\n    a()", True),
        ("for x in y:\n    a()\n    b()", True),
        ("for x in y:\n    b()\na()", False),
        ("for x in b():\n    a()", False),
        ("for x in y:\n    a()\nelse:\n    b()", False),
        ("for x in y:\n    b()\n    a()\n    return", False),
        ("for x in y:\n    b()\n    a()\n    raise E", False),
        ("for x in y:\n    b()\n    a()\n    break", False),
        ("for x in y:\n    b()\n    a()\n    continue", True),
        ("for x in y:\n    b()\n    a()\n    if z:\n        break", True),
        ("for x in y:\n    b()\n    if z:\n        a()\n        break", False),
        ("for x in y:\n    b()\n    if z:\n        a()\n        continue\n    return", True),
        ("for x in y:\n    b()\n    a()\n    if z:\n        break\n    else:\n        continue", True),
        ("for x in y:\n    b()\n    for z in w:\n        a()\n        break", True),
        ("for x in y:\n    b()\n    for z in w:\n        a()\n    break", False),
        ("for x in y:\n    b()\n    def f():\n        a()", False),
        ("for x in y:\n    b(lambda: a())", False),
        ("for x in y:\n    with z:\n        b()\n        a()", True),
    ],
)
def test_comes_round(code: str, expected: bool) -> None:
    assert Program("def g():\n" + textwrap.indent(code, "    ")).comes_round() is expected


def test_the_loop_around_several_nodes() -> None:
    program = Program("""
        for x in y:
            a()
            while z:
                b()
                c()
    """)
    outer, inner = program.first(cst.For), program.first(cst.While)
    assert flow.loop_around(program.parents, program.at("b"), program.at("c")) is inner
    assert flow.loop_around(program.parents, program.at("b"), program.at("a")) is outer
    assert flow.loop_around(program.parents, program.at("b")) is inner
    assert flow.loop_around(program.parents, outer) is None


# -- what surely ran


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a()\nb()", True),
        ("b()\na()", False),
        ("a()\nif x:\n    b()", True),
        ("if x:\n    a()\nb()", False),
        ("if x:\n    pass\nelse:\n    a()\nb()", False),
        ("if a():\n    pass\nb()", True),
        ("if x:\n    a()\n    b()", True),
        ("for x in y:\n    a()\nb()", False),
        ("for x in a():\n    pass\nb()", True),
        ("for x in y:\n    a()\n    b()", True),
        ("while a():\n    pass\nb()", True),
        ("while x:\n    a()\nb()", False),
        ("with x:\n    a()\nb()", True),
        ("try:\n    a()\nexcept E:\n    pass\nb()", False),
        ("try:\n    a()\n    b()\nfinally:\n    pass", True),
        ("try:\n    x()\nfinally:\n    a()\nb()", True),
        ("try:\n    x()\nexcept* E:\n    a()\nb()", False),
        ("x = y and a()\nb()", False),
        ("x = a() and y\nb()", True),
        ("x = y if z else a()\nb()", False),
        ("x = y if a() else z\nb()", True),
        ("x = [a() for y in z]\nb()", False),
        ("x = [y for y in a()]\nb()", True),
        ("x = [y for y in z if a()]\nb()", False),
        ("x = (y for y in a())\nb()", False),
        ("x = {y: a() for y in z}\nb()", False),
        ("assert a(), x\nb()", True),
        ("assert x, a()\nb()", False),
        ("match x:\n    case 1:\n        a()\nb()", False),
        ("match a():\n    case 1:\n        pass\nb()", True),
        ("lambda: a()\nb()", False),
        ("def f():\n    a()\nb()", False),
        ("f(a(), b())", True),
    ],
)
def test_dominates(code: str, expected: bool) -> None:
    assert Program("def g():\n" + textwrap.indent(code, "    ")).dominates() is expected


def test_what_surely_runs_whenever_a_function_does() -> None:
    program = Program("""
        def f(x):
            a()
            if x:
                b()
            def g():
                c()
    """)
    function = program.first(cst.FunctionDef)
    sure = {name: flow.dominates(program.parents, program.at(name), function) for name in "abc"}
    assert sure == {"a": True, "b": False, "c": False}
    assert not flow.dominates(program.parents, program.module, function)


# -- ways out


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x()", ""),
        ("return x", "return"),
        ("if x:\n    return\nraise E", "raise return"),
        ("for x in y:\n    break", ""),
        ("for x in y:\n    continue\nelse:\n    break", "break"),
        ("while x:\n    if y:\n        return", "return"),
        ("if x:\n    break\ncontinue", "break continue"),
        ("x = yield y", "yield"),
        ("yield from y", "yield"),
        ("await x", "yield"),
        ("def g():\n    return 1", ""),
        ("x = lambda: (yield)", ""),
        ("class C:\n    def g(self):\n        raise E", ""),
        ("with x:\n    return", "return"),
    ],
)
def test_exits(code: str, expected: str) -> None:
    loop = Program("while True:\n    async def f():\n        while True:\n" + textwrap.indent(code, " " * 12))
    block = [n for n in walk(loop.module) if isinstance(n, cst.While)][1].body
    assert flow.exits(block) == frozenset(expected.split())


def test_ways_out_come_in_source_order() -> None:
    block = body("if x:\n    return 1\nyield 2\nreturn 3")
    assert [(kind, type(node)) for kind, node in flow.ways_out(block)] == [
        ("return", cst.Return),
        ("yield", cst.Yield),
        ("return", cst.Return),
    ]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x()", True),
        ("return", False),
        ("if x:\n    return", True),
        ("if x: return\nelse: raise E", False),
        ("with x:\n    raise E", False),
        ("for x in y:\n    return", True),
        ("try:\n    return\nfinally:\n    x()", False),
        ("try:\n    x()\nexcept E:\n    return", True),
        ("def g():\n    return", True),
    ],
)
def test_falls_through(code: str, expected: bool) -> None:
    assert flow.falls_through(body(code)) is expected


def test_own_yields_functions_but_does_not_enter_them() -> None:
    names = [
        n.value
        for n in flow.own(body("a\ndef g():\n    b\nc = lambda: d\nclass E:\n    f"))
        if isinstance(n, (cst.Name,))
    ]
    kinds = {type(n) for n in flow.own(body("def g(): pass\nlambda: d\nclass E: pass"))}
    assert names == ["a", "c"]
    assert {cst.FunctionDef, cst.Lambda, cst.ClassDef} <= kinds
