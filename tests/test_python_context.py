"""What a rule may ask about Python on `ast`: small programs, with the answer beside them."""

from __future__ import annotations

import ast
import textwrap

import pytest
from memory import Memory

from codemods.analysis import instances
from codemods.analysis.calls import argument, binder, callers, default, given, keyword, literal, positional, values
from codemods.analysis.definitions import reaching, unused_name, uses_of
from codemods.analysis.instances import called, callee
from codemods.analysis.python_context import Binding, PythonContext, program
from codemods.project.index import Index
from codemods.syntax.module import dotted


def context(code: str, **others: str) -> PythonContext:
    """A program, with other files of its project by module name."""
    texts = {"p.py": code, **{f"{name}.py": text for name, text in others.items()}}
    files = {path: textwrap.dedent(text).lstrip("\n").encode() for path, text in texts.items()}
    index = Index(Memory(files))
    facts, text, module = index.facts("p.py"), index.text("p.py"), index.syntax("p.py")
    assert facts is not None and text is not None and module is not None
    return PythonContext("p.py", text, module, facts, index)


def call(ctx: PythonContext, name: str = "here") -> ast.Call:
    """The one call of a name."""
    (found,) = [c for c in ctx.all(ast.Call) if dotted(c.func) == name]
    return found


# -- names


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from m import c\nhere(c)", {"m.c"}),
        ("from m import c\nc = 1\nhere(c)", set()),
        ("from m import c\ndef f(c): pass\nhere(c)", {"m.c"}),
        ("from m import c\ndef f(c): here(c)", set()),
        ("from m import c\ndef f():\n    c = 1\ndef g(): here(c)", {"m.c"}),
        ("from m import c\ndef f():\n    global c\n    c = 1\ndef g(): here(c)", set()),
        ("from m import c\ndef f(c):\n    def g(): here(c)", set()),
        ("from m import c\ng = lambda c: 1\nhere(c)", {"m.c"}),
        ("from m import c\nx = [c for c in y]\nhere(c)", set()),
        ("import m\ndef f(m): pass\nclass A:\n    def g(self): here(m.c)", {"m.c"}),
    ],
)
def test_what_a_name_means(code: str, expected: set[str]) -> None:
    ctx = context(code)
    assert ctx.origin(call(ctx).args[0]) == expected


# -- callees


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import torch.nn as nn\nnn.here()", {"torch.nn.here"}),
        ("from m import c\nclass A:\n    def f(self): self.c = c\n    def g(self): self.c()", {"m.c"}),
        ("from m import c\nclass A:\n    c = c\n    def g(self): self.c()", set()),
        ("from m import c\nclass B:\n    def f(s): s.c = c\nclass A(B):\n    def g(self): self.c()", {"m.c"}),
        ("from m import c\nclass A:\n    def f(self): self.c = c()\n    def g(self): self.c()", set()),
        ("from m import c\nclass A:\n    def f(self, d): self.c = c; self.c = d\n    def g(self): self.c()", set()),
    ],
)
def test_what_a_call_calls(code: str, expected: set[str]) -> None:
    ctx = context(code)
    assert called(ctx, next(c for c in ctx.all(ast.Call) if dotted(c.func) in ("nn.here", "self.c"))) == expected


# -- instances


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from torch.amp import GradScaler\ns = GradScaler()\nhere(s)", "torch.amp.GradScaler"),
        ("from torch.amp import GradScaler as G\ns = G() if x else None\nhere(s)", "torch.amp.GradScaler"),
        ("from torch.amp import GradScaler\nhere(GradScaler())", "torch.amp.GradScaler"),
        ("from torch.amp import GradScaler\ndef f(s: GradScaler):\n    here(s)", "torch.amp.GradScaler"),
        ("from torch.amp import GradScaler\ndef f(s: 'GradScaler | None'):\n    here(s)", "torch.amp.GradScaler"),
        (
            (
                "from typing import Optional\nfrom torch.amp import GradScaler\n"
                "def f(s: Optional[GradScaler] = None):\n    here(s)"
            ),
            "torch.amp.GradScaler",
        ),
        ("from torch.amp import GradScaler\ndef f(s: None | GradScaler):\n    here(s)", "torch.amp.GradScaler"),
        ("from torch.amp import GradScaler\ndef f(s: Other | GradScaler):\n    here(s)", None),
        ("from torch.amp import GradScaler\ndef f(s: GradScaler):\n    s = other()\n    here(s)", None),
        ("from torch.amp import GradScaler\ns = GradScaler()\ns = other()\nhere(s)", None),
        ("s = s if x else s\nhere(s)", None),
        ("def f(s, o, loss):\n    s.scale(loss).backward()\n    s.step(o)\n    here(s)", "torch.amp.GradScaler"),
        ("def f(a, loss):\n    a.prepare(loss)\n    a.backward(loss)\n    here(a)", "accelerate.Accelerator"),
        (
            (
                "from torch.amp import GradScaler\nclass T:\n    def __init__(self):\n        self.s = GradScaler()\n"
                "    def f(self):\n        here(self.s)"
            ),
            "torch.amp.GradScaler",
        ),
        ("here(x)", None),
    ],
)
def test_what_a_value_is_an_instance_of(code: str, expected: str | None) -> None:
    ctx = context(code)
    found = instances.of(ctx, call(ctx).args[0])
    assert (expected in found.names) if expected and found else found is expected


# -- methods, names, bindings


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("class A:\n    def f(self):\n        here()", "A.f self"),
        ("class A:\n    def f(this):\n        def g():\n            here()", "A.f this"),
        ("class A:\n    async def f(self, /):\n        here()", "A.f self"),
        ("class A:\n    def f(self):\n        def g(self):\n            here()", None),
        ("class A:\n    def f(self):\n        self = 1\n        here()", None),
        ("class A:\n    @staticmethod\n    def f(x):\n        here()", None),
        ("class A:\n    def __new__(cls):\n        here()", None),
        ("class A:\n    here()", None),
        ("def f(self):\n    here()", None),
    ],
)
def test_the_method_around_a_node(code: str, expected: str | None) -> None:
    ctx = context(code)
    found = ctx.method(call(ctx))
    assert (f"{found.owner.name}.{found.name} {found.self}" if found else None) == expected


@pytest.mark.parametrize(
    ("code", "name", "expected"),
    [
        ("a = 1\na += 2\nfor a in b: pass\nhere()", "a", ["1", None, None]),
        ("a, (b, c) = 1, (2, 3)\nhere()", "b", ["2"]),
        ("a, *b = 1, 2\nhere()", "b", [None]),
        ("with f() as (a, b): here()", "b", [None]),
        ("try: pass\nexcept E as a: here()", "a", [None]),
        ("(a := 1)\nhere()", "a", ["1"]),
        ("a: int = 1\ndel a\nhere()", "a", ["1", None]),
        ("def a(): pass\nhere()", "a", [None]),
        ("match x:\n    case [*a]: here()", "a", [None]),
        ("match x:\n    case {'k': 1} as a: here()", "a", [None]),
        ("self.a = 1\nhere()", "self.a", ["1"]),
    ],
)
def test_bindings(code: str, name: str, expected: list[str | None]) -> None:
    ctx = context(code)
    found = ctx.bindings(ctx.scope(call(ctx))).get(name, ())
    assert [ast.unparse(b.value) if b.value is not None else None for b in found] == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1\ndef f():\n    here(x)", "Module"),
        ("def f(x):\n    def g():\n        here(x)", "f"),
        ("def f():\n    x = 1\n    lambda: here(x)", "f"),
        ("lambda x: here(x)", "Lambda"),
        ("class A:\n    x = 1\n    here(x)", "A"),
        ("here(x)", None),
    ],
)
def test_whose_variable_a_name_is(code: str, expected: str | None) -> None:
    ctx = context(code)
    scope = binder(ctx, "x", call(ctx).args[0])
    assert (getattr(scope, "name", type(scope).__name__) if scope is not None else None) == expected


# -- calls


def test_arguments() -> None:
    made = call(context("here(1, *a, -2, k=3, **b)"))
    assert literal(positional(made, 0)) == 1 and positional(made, 2) is None
    assert literal(keyword(made, "k")) == 3 and keyword(made, "b") is None
    assert literal(argument(made, "k", 0)) == 3 and literal(argument(made, "z", 0)) == 1
    assert [ast.unparse(value) for value in values(made)] == ["1", "a", "-2", "3", "b"]
    assert literal(made.args[2]) == -2 and literal(made.func) is ... and literal(None) is ...


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(): pass\nf()", "p.py f"),
        ("from q import g as f\nf()", "q.py g"),
        ("import q\nq.g()", "q.py g"),
        ("def h():\n    def f(): pass\n    f()", "p.py h.f"),
        ("def h():\n    f = other\n    f()", None),
        ("class A:\n    def f(self): pass\n    def h(self):\n        self.f()", "p.py A.f"),
        ("from q import B\nclass A(B):\n    def h(self):\n        self.f()", "q.py B.f"),
        ("class A:\n    def f(self): pass\n    def h(self):\n        self.f = 1\n        self.f()", None),
        ("from q import B\nb = B()\nb.f()", "q.py B.f"),
        ("if x:\n    def f(): pass\nelse:\n    def f(): pass\nf()", None),
        ("unknown.f()", None),
    ],
)
def test_the_function_that_a_call_runs(code: str, expected: str | None) -> None:
    ctx = context(code, q="class B:\n    def f(self): pass\ndef g(): pass")
    made = next(c for c in reversed(ctx.all(ast.Call)) if (dotted(c.func) or "").rpartition(".")[2] in ("f", "g"))
    found = callee(ctx, made)
    assert (f"{found[0].path} {found[0].qualified(found[1])}" if found else None) == expected


def test_who_calls_a_function_with_what() -> None:
    ctx = context("def f(a, b=0): pass\nf(1)\nf(b=2, a=3)\nf(*x)", q="from p import f\nf(4)", r="def f(a): pass\nf(5)")
    function = ctx.definition("f")
    assert function is not None
    assert sorted(where.path for where, _ in callers(ctx, function[1])) == ["p.py", "p.py", "p.py", "q.py"]
    found = given(ctx, function[1], "a")
    assert sorted(str(literal(each[1])) if each else "" for each in found) == ["", "1", "3", "4"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("loss.backward()", "loss"),
        ("import torch\ntorch.autograd.backward(loss)", "loss"),
        ("self.manual_backward(loss)", "loss"),
        ("accelerator.backward(loss)", "loss"),
        ("scaler.scale(loss).backward()", "loss"),
        ("scaler.scale(*losses).backward()", "scaler.scale(*losses)"),
        ("engine.backward(loss)", "loss"),
        ("from lightning import Fabric\nf = Fabric()\nf.backward(loss)", "loss"),
        ("x.sum().backward(retain_graph=True)", "x.sum()"),
        ("super().backward(loss)", None),
        ("class A:\n    def f(self):\n        self.backward()", None),
        ("optimizer.step()", None),
    ],
)
def test_what_a_call_differentiates(code: str, expected: str | None) -> None:
    ctx = context(code)
    losses = [loss for c in ctx.all(ast.Call) if (loss := ctx.loss_of(c)) is not None]
    assert [ctx.source(loss) for loss in losses] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f():\n    x = 1\n    here(x)\n", ("1", True)),
        ("def f():\n    x = 1\n    x = 2\n    here(x)\n", ("2", True)),
        ("def f(a):\n    x = 1\n    if a:\n        x = 2\n    here(x)\n", ("1 2", True)),
        ("def f(a):\n    if a:\n        x = 1\n    else:\n        x = 2\n    here(x)\n", ("1 2", False)),
        ("def f(a):\n    x = 1\n    for b in a:\n        here(x)\n        x = 2\n", ("1 2", True)),
        ("def f(a):\n    for b in a:\n        x = 1\n        here(x)\n        x = 2\n", ("1", True)),
        ("def f(a):\n    x = 1\n    for x in a:\n        here(x)\n", ("for", True)),
        ("def f(x):\n    here(x)\n    x = 1\n", ("", False)),
        ("def f(a):\n    with a as x:\n        here(x)\n", ("as", True)),
        ("def f(a):\n    x = 1\n    if a:\n        x = 2\n        return\n    here(x)\n", ("1", True)),
        ("def f(self):\n    self.x = 1\n    here(self.x)\n", ("1", True)),
        ("def f(x):\n    x += 1\n    here(x)\n", ("+=", True)),
    ],
)
def test_the_assignments_that_reach_a_use(code: str, expected: tuple[str, bool]) -> None:
    def written(binding: Binding) -> str:
        marks = {ast.For: "for", ast.withitem: "as", ast.AugAssign: "+="}
        return ast.unparse(binding.value) if binding.value is not None else marks[type(binding.node)]

    ctx = context(code)
    found, complete = reaching(ctx, call(ctx).args[0])
    assert (" ".join(written(b) for b in found), complete) == expected


def test_the_uses_of_an_assignment() -> None:
    ctx = context("def f(a):\n    x = 1\n    here(x)\n    x = x + 1\n    print(x)\n    x = a\n")
    first, second, last = ctx.all(ast.Assign)
    assert [use.lineno for use in uses_of(ctx, first)] == [3, 4]
    assert [use.lineno for use in uses_of(ctx, second)] == [5]
    assert list(uses_of(ctx, last)) == []


def test_the_default_of_a_parameter() -> None:
    (function,) = context("def f(a, b=1, *, c, d=2): pass\n").all(ast.FunctionDef)
    assert {name: literal(default(function, name)) for name in "abcd"} == {"a": ..., "b": 1, "c": ..., "d": 2}


@pytest.mark.parametrize(
    ("code", "expected"),
    [("x = 1", "a"), ("a = 1", "b"), ("import a\nx.b", "a_0"), ("def f(a, b): pass\nclass a_0: pass", "a_1")],
)
def test_a_name_that_a_file_does_not_use(code: str, expected: str) -> None:
    assert unused_name(context(code), "a", "b") == expected


def test_a_file_with_line_ends_that_are_not_counted_is_no_program() -> None:
    index = Index(Memory({"p.py": b"x = 1\ry = 2\r", "q.py": b"x = 1\r\ny = 2\n"}))
    assert index.facts("p.py") is not None
    assert program(index, "p.py") is None and program(index, "q.py") is not None
