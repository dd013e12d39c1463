"""Surgery on small programs: arguments, statements, blocks."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst
import pytest
from memory import Memory

from codemods.engine.rounds import Options, plan
from codemods.project.index import Index
from codemods.rules.context import Context
from codemods.rules.rule import Rule, Safety
from codemods.syntax import rewrite
from codemods.syntax.facts import Facts, gather
from codemods.syntax.rewrite import Replacement
from codemods.syntax.tree import parse


def context(text: str) -> Context:
    facts, tree = gather("p.py", text), parse("p.py", text)
    assert isinstance(facts, Facts)
    assert isinstance(tree, cst.Module)
    return Context("p.py", text, tree, facts, Index(Memory({"p.py": text})))


def call(text: str) -> cst.Call:
    found = cst.parse_expression(text)
    assert isinstance(found, cst.Call)
    return found


def code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


def changed(text: str, make: Callable[[cst.Call, Context], dict[cst.CSTNode, Replacement]]) -> str:
    """A program after a rule has made `make` of the calls of `here`."""
    rule = Rule("TST001", "here", "s", "t", Safety.SAFE, (("here",),))

    @rule.on(cst.Call)
    def on_call(node: cst.Call, ctx: Context):  # type: ignore[no-untyped-def]
        if ctx.name(node.func) == "here" and "DONE" not in ctx.text:
            yield rule.finding(node, fix=make(node, ctx))

    found = plan(["p.py"], Memory({"p.py": text}), Options((rule,)), fix=True)
    assert found.skips == ()
    return found.changed[0].after.decode() if found.changed else text


# -- reading


@pytest.mark.parametrize(
    ("text", "name", "index", "expected"),
    [
        ("f()", "x", 0, None),
        ("f(a, x=b)", "x", 0, "b"),
        ("f(a, b)", "x", 1, "b"),
        ("f(*a, b)", "x", 1, None),
        ("f(y=a)", "x", 0, None),
        ("f(**x)", "x", 0, None),
    ],
)
def test_argument(text: str, name: str, index: int, expected: str | None) -> None:
    found = rewrite.argument(call(text), name, index)
    assert (code(found.value) if found else None) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("f(a, b=1)", False), ("f(*a)", True), ("f(a, **b)", True), ("f()", False)]
)
def test_has_splat(text: str, expected: bool) -> None:
    assert rewrite.has_splat(call(text)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'a'", "a"),
        ("'a' 'b'", "ab"),
        ("1", 1),
        ("-1.5", -1.5),
        ("True", True),
        ("False", False),
        ("None", None),
        ("x", ...),
        ("not 1", ...),
        ("[1]", ...),
    ],
)
def test_literal(text: str, expected: object) -> None:
    found = rewrite.literal(cst.parse_expression(text))
    assert (type(found), found) == (type(expected), expected)


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


def test_another_value() -> None:
    node = call("f(a, x = b ,)")
    assert code(rewrite.with_value(node, node.args[1], cst.Name("c"))) == "f(a, x = c ,)"


@pytest.mark.parametrize(
    ("text", "expected"), [("a", "a"), ("a.b()[0]", "a.b()[0]"), ("a + b", "(a + b)"), ("(a + b)", "(a + b)")]
)
def test_parentheses(text: str, expected: str) -> None:
    node = cst.parse_expression(text)
    assert code(rewrite.parenthesized(node)) == expected
    assert code(rewrite.unparenthesized(node)) == text.strip("(") if text[0] != "(" else "a + b"


def test_replace_exchanges_by_identity() -> None:
    node = call("f(a, a)")
    assert code(rewrite.replace(node, {node.args[1].value: cst.Name("b")})) == "f(a, b)"


@pytest.mark.parametrize(
    ("text", "expected"), [("x = 'a'\n", "'k'"), ('x = "a"\n', '"k"'), ("x = 1\n", '"k"'), ("x = 'a', \"b\"\n", '"k"')]
)
def test_quotes_of_the_file(text: str, expected: str) -> None:
    assert code(rewrite.quoted(context(text), "k")) == expected


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
    assert changed(text, lambda node, ctx: rewrite.insert(ctx, node, ["DONE"], after=False)) == before
    assert changed(text, lambda node, ctx: rewrite.insert(ctx, node, ["DONE"], after=True)) == after


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("a; here()  # c\n", "a\nif y: DONE\nhere()  # c\n", "a; here()  # c\nif y: DONE\n"),
        ("# why\nhere(); b\n", "# why\nif y: DONE\nhere(); b\n", "# why\nhere()\nif y: DONE\nb\n"),
        ("if x: here()\n", "if x:\n    if y: DONE\n    here()\n", "if x:\n    here()\n    if y: DONE\n"),
    ],
)
def test_insert_a_block(text: str, before: str, after: str) -> None:
    assert changed(text, lambda node, ctx: rewrite.insert(ctx, node, ["if y: DONE"], after=False)) == before
    assert changed(text, lambda node, ctx: rewrite.insert(ctx, node, ["if y: DONE"], after=True)) == after


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
        ("a\nhere()", "a\n"),
    ],
)
def test_remove(text: str, expected: str) -> None:
    assert changed(text, lambda node, ctx: rewrite.remove(ctx, node)) == expected


def owner(node: cst.Call, ctx: Context) -> cst.CSTNode:
    found = ctx.enclosing(node, cst.FunctionDef, cst.ClassDef, cst.If)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if here(): a\n", "if here():\n    a\n    DONE\n"),
        ("if here(): a; b  # c\n", "if here():  # c\n    a\n    b\n    DONE\n"),
        ("if here():\n  a  # c\n", "if here():\n  a  # c\n  DONE\n"),
        ("def f(): here()\n", "def f():\n    here()\n    DONE\n"),
        ('class A:\n    "Doc."\n    here()\n', 'class A:\n    "Doc."\n    here()\n    DONE\n'),
    ],
)
def test_append(text: str, expected: str) -> None:
    assert (
        changed(text, lambda node, ctx: {owner(node, ctx): rewrite.append(ctx, owner(node, ctx), ["DONE"])}) == expected
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("here()\n", "with DONE:\n    here()\n"),
        ("# why\nhere()  # c\n", "# why\nwith DONE:\n    here()  # c\n"),
        ("if x:\n\there()\n", "if x:\n\twith DONE:\n\t\there()\n"),
        ("if x:\r\n  here(\r\n    1)\r\n", "if x:\r\n  with DONE:\r\n    here(\r\n      1)\r\n"),
        ("here('''\na\n''')\n", "with DONE:\n    here('''\na\n''')\n"),
        ("a; here()\n", "with DONE:\n    a; here()\n"),
    ],
)
def test_wrapped(text: str, expected: str) -> None:
    def wrap(node: cst.Call, ctx: Context) -> dict[cst.CSTNode, Replacement]:
        line = ctx.enclosing(node, cst.SimpleStatementLine)
        assert line is not None
        return {line: rewrite.wrapped(ctx, "with DONE:", [line])}

    assert changed(text, wrap) == expected
