"""Surgery on small programs: arguments, statements, blocks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import libcst as cst
import pytest
from memory import Memory

from codemods.analysis.python_context import PythonContext
from codemods.engine.rounds import Options, plan
from codemods.model.edits import Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax import rewrite
from codemods.syntax.verbs import Verb, delete, enclose, insert_after, insert_before


def call(text: str) -> cst.Call:
    found = cst.parse_expression(text)
    assert isinstance(found, cst.Call)
    return found


def code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


def changed(text: str, make: Callable[[ast.Call], Verb]) -> str:
    """A program after a rule has made `make` of the calls of `here`."""
    rule = Rule("TST001", "here", "s", "t", Safety.SAFE, (("here",),))

    @rule.on(ast.Call)
    def on_call(node: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
        if ctx.name(node.func) == "here" and "DONE" not in ctx.text:
            yield rule.finding(node, fix=[make(node)])

    found = plan(["p.py"], Memory({"p.py": text}), Options((rule,)), fix=True)
    assert found.skips == ()
    return found.changed[0].after.decode() if found.changed else text


# -- arguments

ARGUMENTS = [
    ("f()", "f(x=1)", "f(x=1)"),
    ("f(a)", "f(a, x=1)", "f(x=1, a)"),
    ("f(a,)", "f(a, x=1,)", "f(x=1, a,)"),
    ("f(a, b)", "f(a, b, x=1)", "f(x=1, a, b)"),
    ("f(a,b)", "f(a,b,x=1)", "f(x=1, a,b)"),
    ("f(i for i in a)", "f((i for i in a), x=1)", "f(x=1, (i for i in a))"),
    ("f((i for i in a))", "f((i for i in a), x=1)", "f(x=1, (i for i in a))"),
    ("f(\n    a,\n    b,\n)", "f(\n    a,\n    b,\n    x=1,\n)", "f(\n    x=1,\n    a,\n    b,\n)"),
    ("f(\n    a,\n    b\n)", "f(\n    a,\n    b,\n    x=1\n)", "f(\n    x=1,\n    a,\n    b\n)"),
    ("f(\n    a\n)", "f(\n    a,\n    x=1\n)", "f(\n    x=1,\n    a\n)"),
    ("f(\n    a,  # one\n)", "f(\n    a,  # one\n    x=1,\n)", "f(\n    x=1,\n    a,  # one\n)"),
    ("f(\n    a  # one\n)", "f(\n    a,  # one\n    x=1\n)", "f(\n    x=1,\n    a  # one\n)"),
    (
        "f(\n    a,\n    # on b\n    b,\n)",
        "f(\n    a,\n    # on b\n    b,\n    x=1,\n)",
        "f(\n    x=1,\n    a,\n    # on b\n    b,\n)",
    ),
    ("f(a  # one\n)", "f(a,  # one\nx=1\n)", "f(x=1, a  # one\n)"),
    ("f(a,\n  b)", "f(a,\n  b,\n  x=1)", "f(x=1, a,\n  b)"),
]


@pytest.mark.parametrize(("before", "last", "first"), ARGUMENTS)
def test_one_more_argument(before: str, last: str, first: str) -> None:
    one = cst.Integer("1")
    assert code(rewrite.with_argument(call(before), "x", one)) == last
    assert code(rewrite.with_first_argument(call(before), None, one)) == first.replace("x=1", "1")


def test_one_more_positional_argument() -> None:
    assert code(rewrite.with_argument(call("f(a)"), None, cst.Name("b"))) == "f(a, b)"
    assert code(rewrite.with_first_argument(call("f(a)"), None, cst.Name("b"))) == "f(b, a)"


@pytest.mark.parametrize(
    ("text", "index", "expected"),
    [
        ("f(a)", 0, "f()"),
        ("f(a, b)", 0, "f(b)"),
        ("f(a, b)", 1, "f(a)"),
        ("f(a, b,)", 1, "f(a,)"),
        ("f(\n    a,\n)", 0, "f()"),
        ("f(  # why\n    a,\n)", 0, "f(  # why\n    )"),
        ("f(\n    # on a\n    a,\n)", 0, "f(\n    # on a\n    )"),
        ("f(\n    a,\n    b,\n)", 1, "f(\n    a,\n)"),
        ("f(\n    a,\n    b\n)", 1, "f(\n    a,\n)"),
        ("f(\n    a,  # one\n    b,  # two\n)", 1, "f(\n    a,  # one\n)"),
        ("f(\n    a,  # one\n    b,  # two\n)", 0, "f(\n    b,  # two\n)"),
    ],
)
def test_one_argument_less(text: str, index: int, expected: str) -> None:
    node = call(text)
    assert code(rewrite.without_argument(node, node.args[index])) == expected


def test_replace_exchanges_by_identity() -> None:
    node = call("f(a, a)")
    assert code(rewrite.replace(node, {node.args[1].value: cst.Name("b")})) == "f(a, b)"


# -- statements

LINES = [
    ("here()\n", "DONE\nhere()\n", "here()\nDONE\n"),
    ("# why\nhere()  # c\n", "# why\nDONE\nhere()  # c\n", "# why\nhere()  # c\nDONE\n"),
    ("a; here(); b\n", "a; DONE; here(); b\n", "a; here(); DONE; b\n"),
    ("a;here()  # c\n", "a; DONE; here()  # c\n", "a; here(); DONE  # c\n"),
    ("if x: here()\n", "if x: DONE; here()\n", "if x: here(); DONE\n"),
    ("if x:\n\there()\n", "if x:\n\tDONE\n\there()\n", "if x:\n\there()\n\tDONE\n"),
    ("if x:\r\n  here()\r\n", "if x:\r\n  DONE\r\n  here()\r\n", "if x:\r\n  here()\r\n  DONE\r\n"),
    ("here()", "DONE\nhere()", "here()\nDONE"),
    ("if here():\n    pass\n", "DONE\nif here():\n    pass\n", "if here():\n    pass\nDONE\n"),
    (
        "# why\nfor i in here():\n    pass\n",
        "# why\nDONE\nfor i in here():\n    pass\n",
        "# why\nfor i in here():\n    pass\nDONE\n",
    ),
    (
        "if x:\n    pass\nelif here():\n    pass\n",
        "DONE\nif x:\n    pass\nelif here():\n    pass\n",
        "if x:\n    pass\nelif here():\n    pass\nDONE\n",
    ),
    ("x = f(\n    here(),\n)\n", "DONE\nx = f(\n    here(),\n)\n", "x = f(\n    here(),\n)\nDONE\n"),
]


@pytest.mark.parametrize(("text", "before", "after"), LINES)
def test_insert(text: str, before: str, after: str) -> None:
    assert changed(text, lambda node: insert_before(node, "DONE")) == before
    assert changed(text, lambda node: insert_after(node, "DONE")) == after


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("a; here()  # c\n", "a\nif y: DONE\nhere()  # c\n", "a; here()  # c\nif y: DONE\n"),
        ("# why\nhere(); b\n", "# why\nif y: DONE\nhere(); b\n", "# why\nhere()\nif y: DONE\nb\n"),
        ("if x: here()\n", "if x:\n    if y: DONE\n    here()\n", "if x:\n    here()\n    if y: DONE\n"),
    ],
)
def test_insert_a_block(text: str, before: str, after: str) -> None:
    assert changed(text, lambda node: insert_before(node, "if y: DONE")) == before
    assert changed(text, lambda node: insert_after(node, "if y: DONE")) == after


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nhere()\nb\n", "a\nb\n"),
        ("a; here(); b\n", "a; b\n"),
        ("a; here()\n", "a\n"),
        ("if x: here()\n", "if x: pass\n"),
        ("if x: here(); a\n", "if x: a\n"),
        ("if x:\n    here()  # c\n", "if x:\n    # c\n    pass\n"),
        ("if x:\n    here()\n    a\n", "if x:\n    a\n"),
        ("a\n# stays\nhere()\n", "a\n# stays\n"),
        ("a\r\nhere()\r\nb\r\n", "a\r\nb\r\n"),
        ("a\nhere()", "a"),
        ("a\r\nhere()", "a"),
        ("here()", ""),
    ],
)
def test_remove(text: str, expected: str) -> None:
    assert changed(text, delete) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("here()\n", "with DONE:\n    here()\n"),
        ("# why\nhere()  # c\n", "# why\nwith DONE:\n    here()  # c\n"),
        ("if x:\n\there()\n", "if x:\n\twith DONE:\n\t\there()\n"),
        ("if x:\r\n  here(\r\n    1)\r\n", "if x:\r\n  with DONE:\r\n    here(\r\n      1)\r\n"),
        ("here('''\na\n''')\n", "with DONE:\n    here('''\na\n''')\n"),
        ("a; here()\n", "a\nwith DONE:\n    here()\n"),
    ],
)
def test_wrapped(text: str, expected: str) -> None:
    assert changed(text, lambda node: enclose(node, "with DONE:")) == expected
