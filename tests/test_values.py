"""What an expression may be: small programs, with the answer beside them. `here(…)` holds what is asked about."""

from __future__ import annotations

import ast

import pytest
from test_python_context import call, context

from codemods.analysis.calls import given
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import (
    ANY,
    DEPTH,
    EACH,
    PossibleValue,
    behind,
    elements,
    expressions,
    looped,
    made_by,
    possible_values,
    verdicts,
)


def shown(value: PossibleValue) -> str:
    """A value as it is written, with what is taken of it, and with its file if that is another one."""
    node = value.node
    text = ast.unparse(node).splitlines()[0] if not isinstance(node, ast.withitem) else f"with {ast.unparse(node)}"
    place = "" if value.ctx.path == "p.py" else f"{value.ctx.path}:"
    return place + text + "".join(f"[{key}]" for key in value.path)


def asked(code: str, path: tuple[object, ...] = (), **how: object) -> str:
    """The values of the argument of `here`, with `…` where there may be others."""
    ctx = context(code, base="class Base:\n    def __init__(self):\n        self.x = made()\n")
    found, complete = possible_values(ctx, call(ctx).args[0], path, **how)  # type: ignore[arg-type]
    return ", ".join([*map(shown, found), *([] if complete else ["…"])])


CLASS = "class A:\n    def f(self):\n        self.x = a()\n    def g(self):\n        "


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("here(a())", "a()"),
        ("here(1 + x)", "1 + x"),
        ("x = a()\nhere(x)", "a()"),
        ("x = a()\nx = b()\nhere(x)", "a(), b()"),
        ("x = y = a()\nhere(y)", "a()"),
        ("x: int = a()\nhere(x)", "a()"),
        ("y = a()\nx = y\nhere(x)", "a()"),
        ("x = x if c else x\nhere(x)", ""),
        ("here(a() if c else b())", "a(), b()"),
        ("here(a() or b())", "a(), b()"),
        ("here(x := a())", "a()"),
        ("async def f():\n    here(await a())", "a()"),
        ("x, y = a(), b()\nhere(y)", "b()"),
        ("x, (y, z) = a(), (b(), c())\nhere(z)", "c()"),
        ("x, y = a()\nhere(y)", "a()[1]"),
        ("x, *y = a()\nhere(y)", "x, *y = a()"),
        ("x = a()\nx += b()\nhere(x)", "a(), x += b()"),
        ("with a() as x:\n    here(x)", "with a() as x"),
        ("def x(): pass\nhere(x)", "def x():"),
        ("here(x)", "x"),
        ("def f(x):\n    here(x)", "x"),
        ("def f(x):\n    x = a()\n    here(x)", "x"),
        ("x = a()\ndef f():\n    here(x)", "a()"),
        ("x = a()\ndef f():\n    x = b()\n    here(x)", "b()"),
        ("def f():\n    return a()\nhere(f())", "f()"),
    ],
)
def test_names_and_arms(code: str, expected: str) -> None:
    assert asked(code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (CLASS + "here(self.x)", "a()"),
        (CLASS + "self.x = b()\n        here(self.x)", "a(), b()"),
        (CLASS + "self.x, y = b()\n        here(self.x)", "a(), b()[0]"),
        (CLASS + "here(self.y)", "self.y"),
        ("class A:\n    x = a()\n    def f(self):\n        here(self.x)", "a()"),
        ("from base import Base\nclass A(Base):\n    def f(self):\n        here(self.x)", "base.py:made()"),
        (
            "from base import Base\nclass A(Base):\n    def f(self):\n        self.x = a()\n        here(self.x)",
            "a(), base.py:made()",
        ),
        ("class A:\n    x = a()\n    @staticmethod\n    def f(self):\n        here(self.x)", "self.x"),
    ],
)
def test_attributes_of_self(code: str, expected: str) -> None:
    assert asked(code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f():\n    x = a()\n    x = b()\n    here(x)\n    x = c()", "b()"),
        ("def f():\n    x = a()\n    if c:\n        x = b()\n    here(x)", "a(), b()"),
        ("def f():\n    if c:\n        x = b()\n    here(x)", "b(), …"),
        ("def f():\n    x = a()\n    for i in y:\n        here(x)\n        x = b()", "a(), b()"),
        ("x = a()\ndef f():\n    here(x)", "x"),
        (CLASS + "here(self.x)", "self.x"),
        (CLASS + "self.x = b()\n        here(self.x)", "b()"),
        ("def f(x):\n    x = a()\n    here(x)", "a()"),
    ],
)
def test_only_what_reaches_the_place(code: str, expected: str) -> None:
    assert asked(code, ordered=True) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("here([a(), b()])", "a(), b()"),
        ("here({'k': a(), 'l': b()})", "a(), b()"),
        ("here([a() for i in x])", "a()"),
        ("here({i: a() for i in x})", "a()"),
        ("here([a(), *x])", "a(), x[for each]"),
        ("here([a()] + [b()])", "a(), b()"),
        ("x = [a()]\nx += [b()]\nhere(x)", "a(), b()"),
        ("x = []\nx.append(a())\nx.append(b())\nhere(x)", "a(), b()"),
        ("x = []\nx.append(a())\nx.clear()\nhere(x)", "a(), …"),
        ("x = []\nhere(x)", "[][any item]"),
        ("x = [a()]\nx[0] = b()\nhere(x)", "a(), …"),
        (CLASS + "for y in self.z:\n            self.x.append(b())\n        here(self.x)", "a()[any item], b()"),
        ("here(list(reversed((a(), b()))))", "a(), b()"),
        ("here([a(), b()][:1])", "a(), b()"),
        ("here(a())", "a()[any item]"),
    ],
)
def test_what_a_container_holds(code: str, expected: str) -> None:
    assert asked(code, (ANY,)) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = [a(), b()]\nhere(x[1])", "b()"),
        ("x = [a(), b()]\nhere(x[i])", "a(), b()"),
        ("x = {'k': a(), 'l': b()}\nhere(x['l'])", "b()"),
        ("x = {'k': a()}\nx['l'] = b()\nhere(x['k'])", "a()"),
        ("x = {'k': a()}\nx['k'] = b()\nhere(x['k'])", "a(), …"),
        ("x = {'k': a()}\nhere(x['m'])", "{'k': a()}[m]"),
        ("x = [[a()], [b()]]\nhere(x[1][0])", "b()"),
        ("for x in (a(), b()):\n    here(x)", "a(), b()"),
        ("for x in y():\n    here(x)", "y()[for each]"),
        ("for x in {'k': a()}:\n    here(x)", "{'k': a()}[for each]"),
        ("for x in {'k': a()}.values():\n    here(x)", "a()"),
        ("for k, x in {'k': a()}.items():\n    here(x)", "a()"),
        ("for i, x in enumerate([a(), b()]):\n    here(x)", "a(), b()"),
        ("for x, y in zip([a()], [b()]):\n    here(y)", "b()"),
        ("for i, (x, y) in enumerate(zip([a()], [b()])):\n    here(y)", "b()"),
        ("for x, y in [(a(), b())]:\n    here(y)", "b()"),
        ("[here(x) for x in [a()]]", "a()"),
        ("here(next(iter([a()])))", "a()"),
        ("x = []\nx.append((a(), b()))\nfor y, z in x:\n    here(z)", "b()"),
    ],
)
def test_items(code: str, expected: str) -> None:
    assert asked(code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(x):\n    here(x)\nf(a())\nf(x=b())", "a(), b()"),
        ("def f(x):\n    here(x)\nf(*a())", "…"),
        ("def f(x):\n    here(x)\ndef g(y):\n    f(y)\ng(a())", "a()"),
        ("def f(x):\n    here(x)", "x"),
        ("def f(x):\n    x = b()\n    here(x)\nf(a())", "x"),
    ],
)
def test_parameters(code: str, expected: str) -> None:
    assert asked(code, given=given) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f():\n    if c:\n        return a()\n    return b()\nhere(f())", "a(), b()"),
        ("def f():\n    yield a()\nhere(f())", "f()"),
        ("from base import f\nhere(f())", "f()"),
        ("def f():\n    return a(), b()\nx, y = f()\nhere(y)", "b()"),
    ],
)
def test_returns(code: str, expected: str) -> None:
    assert asked(code, returns=True) == expected


def test_a_long_way_is_not_followed_to_its_end() -> None:
    chain = "".join(f"x{n + 1} = x{n}\n" for n in range(DEPTH + 1))
    assert asked(f"x0 = a()\n{chain}here(x{DEPTH - 1})") == "a()"
    assert asked(f"x0 = a()\n{chain}here(x{DEPTH})") == "x0, …"


def test_a_verdict_ends_the_way() -> None:
    ctx = context("y = a()\nx = y if c else b()\nhere(x)")

    def judge(value: PossibleValue) -> str | None:
        return "y" if isinstance(value.node, ast.Name) and value.node.id == "y" else None

    assert verdicts(PossibleValue(ctx, call(ctx).args[0]), judge) == ["y", None]


def test_arms_are_told_from_assignments() -> None:
    def by_choice(ctx: PythonContext) -> bool:
        found = behind(PossibleValue(ctx, call(ctx).args[0]))
        assert found is not None
        return found.by_choice

    assert by_choice(context("here(a() if c else b())"))
    assert not by_choice(context("x = a()\nx = b()\nhere(x)"))


def test_each_and_any_differ_for_dictionaries() -> None:
    assert asked("here({'k': a()})", (EACH,)) == "{'k': a()}[for each]"
    assert asked("here({'k': a()})", (ANY,)) == "a()"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("here([a(), b()])", ["a()", "b()"]),
        ("x = []\nx.append(a())\nhere(x)", ["a()"]),
        ("x = [a()]\nx = [b()]\nhere(x)", ["b()"]),
        ("here([a(), *x])", None),
        ("here(a())", None),
    ],
)
def test_elements_are_those_at_this_place_or_none(code: str, expected: list[str] | None) -> None:
    ctx = context(code)
    found = elements(ctx, call(ctx).args[0])
    assert (found and [ast.unparse(each) for each in found]) == expected


@pytest.mark.parametrize(
    ("code", "expected", "made"),
    [
        ("x = a()\nhere(x)", ["a()"], "a()"),
        ("x = a()\nx = b()\nhere(x)", ["a()", "b()"], None),
        ("x = 1\nhere(x)", ["1"], None),
        ("x, y = a()\nhere(x)", [], None),
        ("here(x)", [], None),
        ("here(a())", [], "a()"),
    ],
)
def test_expressions_are_all_or_none(code: str, expected: list[str], made: str | None) -> None:
    ctx = context(code)
    asked_for = call(ctx).args[0]
    assert [ast.unparse(each) for _, each in expressions(ctx, asked_for)] == expected
    found = made_by(ctx, asked_for)
    assert (found and ast.unparse(found)) == made


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("for x in y:", "y"),
        ("for i, x in enumerate(y):", "y"),
        ("for z, x in zip(w, reversed(y)):", "y"),
        ("for k, x in y.items():", "y"),
        ("for x in y.children():", "y"),
        ("for x, z in y:", None),
        ("for i, (x, z) in enumerate(y):", None),
    ],
)
def test_which_container_a_loop_runs_over(loop: str, expected: str | None) -> None:
    ctx = context(f"{loop}\n    here(x)")
    (node,) = ctx.all(ast.For)
    found = looped(ctx, node, "x")
    assert (found and ast.unparse(found)) == expected
