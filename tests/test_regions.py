"""Which context managers are in force at a place, in small programs: `here()` marks the place."""

from __future__ import annotations

import ast

import pytest
from test_python_context import call, context

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.autocast.regions import lexical, switched_off
from codemods.frameworks.gradients.grad_mode import gradients
from codemods.syntax.module import dotted

IMPORTS = "import torch\nfrom torch import autocast, enable_grad, no_grad, set_grad_enabled\n"


def around(ctx: PythonContext, *, nested: bool = False) -> str:
    """What is in force at `here()`, as it is written, outermost first."""
    return " ".join(dotted(each.maker) or "?" for each in ctx.regions(call(ctx), nested=nested))


@pytest.mark.parametrize(
    ("code", "expected", "nested"),
    [
        ("here()", "", ""),
        ("with a(): here()", "a", "a"),
        ("with a() as x, b: here()", "a b", "a b"),
        ("with a(), b() as x, c():\n    with d(): here()", "a b c d", "a b c d"),
        ("with a(), here(), b(): pass", "a", "a"),
        ("with here(): pass", "", ""),
        ("with a(): pass\nhere()", "", ""),
        ("async def f():\n    async with a(): here()", "a", "a"),
        ("with a():\n    try: pass\n    except E: here()", "a", "a"),
        ("with a():\n    match x:\n        case 1: here()", "a", "a"),
        ("with a():\n    for x in y: g([here() for z in x])", "a", "a"),
        ("@a()\n@b\ndef f():\n    with c(): here()", "a b c", "a b c"),
        ("@a()\ndef f(x=here()): pass", "", ""),
        ("with a():\n    @b()\n    def f(x=here()): pass", "a", "a"),
        ("with a():\n    @here()\n    def f(): pass", "a", "a"),
        ("with a():\n    @b()\n    def f(): here()", "b", "a b"),
        ("@a()\ndef f():\n    @b()\n    def g(): here()", "b", "a b"),
        ("with a(): f = lambda: here()", "", "a"),
        ("with a(): f = lambda x=here(): 1", "a", "a"),
        ("@a()\nclass C:\n    @b()\n    def f(self): here()", "b", "a b"),
        ("with a():\n    @b()\n    class C: here()", "a", "a b"),
        # statements that switch: for what follows in their block
        ("set_grad_enabled(x)\nhere()", "set_grad_enabled", "set_grad_enabled"),
        ("here()\nset_grad_enabled(x)", "", ""),
        ("torch.set_grad_enabled(x)\nif y:\n    here()", "torch.set_grad_enabled", "torch.set_grad_enabled"),
        ("if y:\n    set_grad_enabled(x)\nhere()", "", ""),
        ("set_grad_enabled(x)\ndef f(): here()", "", "set_grad_enabled"),
        (
            "set_grad_enabled(x)\nwith a():\n    torch.set_grad_enabled(y)\n    here()",
            "set_grad_enabled a torch.set_grad_enabled",
            "set_grad_enabled a torch.set_grad_enabled",
        ),
        ("no_grad()\nhere()", "", ""),
        ("x = set_grad_enabled(y)\nhere()", "", ""),
    ],
)
def test_managers_in_force(code: str, expected: str, nested: str) -> None:
    ctx = context(IMPORTS + code)
    assert (around(ctx), around(ctx, nested=True)) == (expected, nested)


def test_a_manager_knows_what_holds_it() -> None:
    ctx = context(IMPORTS + "@a()\ndef f():\n    with b():\n        set_grad_enabled(False)\n        here()")
    kinds = [type(each.holder) for each in ctx.regions(call(ctx))]
    assert kinds == [ast.FunctionDef, ast.With, ast.Expr]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("here()", ""),
        ("with no_grad(): here()", "off"),
        ("with no_grad(), enable_grad(): here()", "on"),
        ("with no_grad(), here(): pass", "off"),
        ("with no_grad():\n    with enable_grad(): here()", "on"),
        ("with enable_grad():\n    with torch.inference_mode(): here()", "off"),
        ("with torch.inference_mode(x): here()", "maybe"),
        ("with torch.inference_mode(False): here()", ""),
        ("with no_grad():\n    with other(): here()", "off"),
        ("with set_grad_enabled(False): here()", "off"),
        ("with set_grad_enabled(train): here()", "maybe"),
        ("@no_grad()\ndef f(): here()", "off"),
        ("@no_grad\ndef f(): here()", "off"),
        ("@no_grad()\n@enable_grad()\ndef f(): here()", "on"),
        ("@no_grad()\ndef f():\n    def g(): here()", ""),
        ("set_grad_enabled(False)\nhere()", "off"),
        ("set_grad_enabled(False)\nset_grad_enabled(True)\nhere()", "on"),
        ("with no_grad():\n    set_grad_enabled(True)\n    here()", "on"),
        ("set_grad_enabled(True)\nwith no_grad(): here()", "off"),
        ("context = no_grad() if x else other()\nwith context: here()", "maybe"),
        ("with no_grad() if x else other(): here()", "maybe"),
        ("context = context if x else context\nwith context: here()", ""),
        ("a = b\nb = a\nwith a: here()", ""),
    ],
)
def test_whether_gradients_are_on(code: str, expected: str) -> None:
    ctx = context(IMPORTS + code)
    assert gradients(ctx, call(ctx)) == expected


@pytest.mark.parametrize(
    ("code", "line", "off"),
    [
        ("here()", None, False),
        ("with autocast('cuda'): here()", 3, False),
        ("with autocast('cuda'), no_grad(): here()", 3, False),
        ("with autocast('cuda', enabled=False): here()", None, True),
        ("with autocast('cuda'):\n    with autocast('cuda'): here()", 3, False),
        ("with autocast('cuda'):\n    with autocast('cuda', enabled=False): here()", None, True),
        ("with autocast('cuda', enabled=False):\n    with autocast('cuda'): here()", 4, False),
        ("with autocast('cuda'), autocast('cuda', cache_enabled=False): here()", None, True),
        ("with autocast('cuda'), here(): pass", 3, False),
        ("with here(), autocast('cuda'): pass", None, False),
        ("@autocast('cuda', enabled=False)\ndef f(): here()", None, True),
        ("@autocast('cuda')\n@autocast('cuda', enabled=False)\ndef f(): here()", None, True),
        ("@autocast('cuda', enabled=False)\n@autocast('cuda')\ndef f(): here()", None, False),
        ("@autocast('cuda', enabled=False)\ndef f():\n    with autocast('cuda'): here()", 5, False),
    ],
)
def test_where_autocast_is_on(code: str, line: int | None, off: bool) -> None:
    """The line of the outermost `with` that opens a region, and whether autocast is surely without its cache."""
    ctx = context(IMPORTS + code)
    region = lexical(ctx, call(ctx))
    assert (region and region.holder.lineno, switched_off(ctx, call(ctx))) == (line, off)
