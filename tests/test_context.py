"""What a check may ask about one file: methods, kinds, roles, spelling, callees."""

from __future__ import annotations

import libcst as cst
import pytest
from memory import Memory

from codemods.model.names import ACCELERATOR, GRAD_SCALER, NO_GRAD
from codemods.project.index import Index
from codemods.rules.context import Context
from codemods.rules.rule import Rule, Safety
from codemods.syntax.facts import Facts, gather
from codemods.syntax.lazy_parse import Deferred, parse_outside
from codemods.syntax.tree import parse, text_of


def context(text: str, others: dict[str, str] | None = None, path: str = "p.py") -> Context:
    facts, tree = gather(path, text), parse(path, text)
    assert isinstance(facts, Facts)
    assert isinstance(tree, cst.Module)
    return Context(path, text, tree, facts, Index(Memory({path: text, **(others or {})})))


def calls(ctx: Context, name: str) -> list[cst.Call]:
    return [c for c in ctx.all(cst.Call) if (ctx.name(c.func) or text_of(c.func)) == name]


# -- place


METHOD = "class A:\n    def f(self):\n        here()\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(METHOD, ("A", "f", "self"), id="method"),
        pytest.param(METHOD.replace("self", "this"), ("A", "f", "this"), id="another name for self"),
        pytest.param("class A:\n    def f(self, /): here()\n", ("A", "f", "self"), id="positional only"),
        pytest.param("class A:\n    async def f(self):\n        here()\n", ("A", "f", "self"), id="async"),
        pytest.param(
            METHOD.replace("here()", "def g(x):\n            here()"), ("A", "f", "self"), id="nested function"
        ),
        pytest.param(METHOD.replace("here()", "g(lambda: here())"), ("A", "f", "self"), id="lambda"),
        pytest.param("class A:\n    class B:\n        def f(self): here()\n", ("A.B", "f", "self"), id="nested class"),
        pytest.param("here()\n", None, id="module"),
        pytest.param("def f(self): here()\n", None, id="function"),
        pytest.param("class A:\n    here()\n", None, id="class body"),
        pytest.param("class A:\n    @here()\n    def f(self): pass\n", None, id="decorator"),
        pytest.param("class A:\n    def f(self, x=here()): pass\n", None, id="default"),
        pytest.param("class A:\n    @staticmethod\n    def f(x): here()\n", None, id="static"),
        pytest.param("class A:\n    def f(): here()\n", None, id="no parameter"),
        pytest.param("class A:\n    def __new__(cls): here()\n", None, id="__new__"),
        pytest.param(METHOD.replace("here()", "self = 1; here()"), None, id="self rebound"),
        pytest.param(METHOD.replace("here()", "def g(self): here()"), None, id="self shadowed by a parameter"),
    ],
)
def test_method(text: str, expected: tuple[str, str, str] | None) -> None:
    ctx = context(text)
    method = ctx.method(calls(ctx, "here")[0])
    assert (method and (method.owner.name, method.name, method.self)) == expected


def test_places() -> None:
    ctx = context("class A:\n    def f(self):\n        if here(): pass\n")
    (call,) = calls(ctx, "here")
    function, statement = ctx.function(call), ctx.statement(call)
    assert function is not None
    assert (ctx.qualified(function), ctx.scope_name(call), str(ctx.klass(call))) == ("A.f", "A.f", "p.py:A")
    assert isinstance(statement, cst.If)
    assert (ctx.klass(ctx.module), ctx.statement(ctx.module), ctx.all(cst.Yield)) == (None, None, [])


# -- kinds

SCALER = "from torch.amp import GradScaler\n"
USE = "here(s)\n"


@pytest.mark.parametrize(
    ("text", "how"),
    [
        pytest.param("s = GradScaler()\nhere(s)\n", "constructor", id="in the module"),
        pytest.param("s = GradScaler()\ndef f():\n    here(s)\n", "constructor", id="of the module"),
        pytest.param("def f():\n    s = GradScaler()\n    here(s)\n", "constructor", id="in the function"),
        pytest.param("def f():\n    s = GradScaler()\n    def g(): here(s)\n", "constructor", id="around"),
        pytest.param("s = None\ns = GradScaler()\nhere(s)\n", "constructor", id="None first"),
        pytest.param("s = GradScaler() if x else None\nhere(s)\n", "constructor", id="or None"),
        pytest.param("s = GradScaler() if x else GradScaler(1)\nhere(s)\n", "constructor", id="either way"),
        pytest.param("t = GradScaler()\ns = t\nhere(s)\n", "constructor", id="by another name"),
        pytest.param("s = GradScaler()\ns = s if x else s\nhere(s)\n", None, id="itself"),
        pytest.param("s, t = GradScaler(), 1\nhere(s)\n", "constructor", id="unpacked"),
        pytest.param("(s := GradScaler())\nhere(s)\n", "constructor", id="walrus"),
        pytest.param("s: GradScaler = GradScaler()\nhere(s)\n", "constructor", id="annotated assignment"),
        pytest.param("here(GradScaler())\n", "constructor", id="the call itself"),
        pytest.param("class A:\n    def __init__(self): self.s = GradScaler()\n    def f(self): here(self.s)\n",
                     "constructor", id="attribute"),
        pytest.param("class A:\n    s = None\n    def g(self): self.s = GradScaler()\n    def f(self): here(self.s)\n",
                     "constructor", id="attribute, None first"),
        pytest.param("def f(s: GradScaler): here(s)\n", "annotation", id="annotation"),
        pytest.param("def f(s: 'GradScaler'): here(s)\n", "annotation", id="annotation in a string"),
        pytest.param("def f(s: Optional[GradScaler]): here(s)\n", "annotation", id="Optional"),
        pytest.param("def f(s: GradScaler | None): here(s)\n", "annotation", id="or None"),
        pytest.param("def f(s: None | GradScaler): here(s)\n", "annotation", id="None or"),
        pytest.param("def f(*, s: GradScaler):\n    def g(): here(s)\n", "annotation", id="of the function around"),
        pytest.param("def f(s):\n    s.scale(l).backward()\n    s.step(o)\n    here(s)\n", "protocol", id="protocol"),
        pytest.param("class A:\n    def f(self):\n        self.s.scale(l).backward()\n        self.s.step(o)\n"
                     "        here(self.s)\n", "protocol", id="protocol of an attribute"),
        pytest.param("here(s)\n", None, id="bound nowhere"),
        pytest.param("here(f(x)[0])\n", None, id="no name"),
        pytest.param("s = 1\nhere(s)\n", None, id="a number"),
        pytest.param("s = f()\nhere(s)\n", None, id="an unknown call"),
        pytest.param("s = GradScaler()\ns = f()\nhere(s)\n", None, id="one of two"),
        pytest.param("for s in x: here(s)\n", None, id="loop"),
        pytest.param("s += 1\nhere(s)\n", None, id="augmented"),
        pytest.param("s = GradScaler()\ndel s\nhere(s)\n", None, id="deleted"),
        pytest.param("s, *t = GradScaler(), 1\nhere(s)\n", None, id="unpacked with a star"),
        pytest.param("s = GradScaler()\ndef f(s): here(s)\n", None, id="shadowed by a parameter"),
        pytest.param("s = GradScaler()\nhere(lambda s: there(s))\n", None, id="shadowed in a lambda"),
        pytest.param("def f(s: GradScaler):\n    g(lambda s: here(s))\n", None, id="annotation shadowed by a lambda"),
        pytest.param("class A:\n    s = GradScaler()\n    def f(self): here(s)\n", None, id="class body"),
        pytest.param("def f(s: GradScaler):\n    s = g()\n    here(s)\n", None, id="annotated, rebound"),
        pytest.param("def f(s: GradScaler):\n    def g():\n        for s in x: here(s)\n", None, id="rebound inside"),
        pytest.param("def f(s: 'not an expression'): here(s)\n", None, id="annotation that is no expression"),
        pytest.param("def f(s: List[GradScaler]): here(s)\n", None, id="a list of them"),
        pytest.param("def f(s: GradScaler | int): here(s)\n", None, id="a union"),
        pytest.param("def f(s): here(s)\n", None, id="no annotation"),
        pytest.param("def f(s):\n    s.scale(l).backward()\n    here(s)\n", None, id="half a protocol"),
        pytest.param("def f(s):\n    s.scale(l).backward()\n    t.step(o)\n    here(s)\n", None, id="of two values"),
        pytest.param("s = 1 if s else s\nhere(s)\n", None, id="asks for itself"),
        pytest.param("s, t = t, s\nhere(s)\n", None, id="swapped"),
        pytest.param("class A:\n    def f(self):\n        self.s = g()\n        here(self.s)\n", None, id="attribute?"),
        pytest.param("match x:\n    case {'a': s}: here(s)\n", None, id="pattern"),
        pytest.param("match x:\n    case [*s]: here(s)\n", None, id="star pattern"),
    ],
)  # fmt: skip
def test_kind(text: str, how: str | None) -> None:
    ctx = context(SCALER + "from typing import Optional, List\n" + text)
    names = [name for name in ("there", "here") if calls(ctx, name)]
    kind = ctx.kind(calls(ctx, names[0])[0].args[0].value)
    expected = GRAD_SCALER if how == "protocol" else frozenset({"torch.amp.GradScaler"})
    assert (kind and (kind.names, kind.how)) == (how and (expected, how))
    assert ctx.is_a(calls(ctx, names[0])[0].args[0].value, GRAD_SCALER) is (how is not None)


@pytest.mark.parametrize("beside", ["prepare(m)", "accumulate(m)"])
def test_kind_of_an_accelerator_by_protocol(beside: str) -> None:
    ctx = context(f"def f(a):\n    a.{beside}\n    a.backward(l)\n    here(a)\n")
    assert ctx.is_a(calls(ctx, "here")[0].args[0].value, ACCELERATOR)


def test_means_and_calls() -> None:
    ctx = context("import torch\ntorch.no_grad()\nf()\n")
    one, other = ctx.all(cst.Call)
    assert (ctx.calls(one, "torch.no_grad"), ctx.calls(one, NO_GRAD), ctx.calls(other, "f")) == (
        True,
        True,
        False,
    )
    assert (ctx.means(None, "x"), ctx.calls(ctx.module, "x")) == (False, False)


# -- roles


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("loss.backward()", "loss"),
        ("f(x).sum().backward()", "f(x).sum()"),
        ("(a + b).backward(retain_graph=True)", "(a + b)"),
        ("loss.backward(g)", "loss"),
        ("torch.autograd.backward(loss)", "loss"),
        ("torch.autograd.backward(tensors=loss)", None),
        ("self.manual_backward(loss)", "loss"),
        ("self.manual_backward(*x)", None),
        ("fabric.backward(loss)", "loss"),
        ("self.accelerator.backward(loss)", "loss"),
        ("model_engine.backward(loss)", "loss"),
        ("a.backward(loss)", "loss"),
        ("scaler.scale(loss).backward()", "loss"),
        ("scaler.scale(*x).backward()", "scaler.scale(*x)"),
        ("scaler.scale(a, b).backward()", "scaler.scale(a, b)"),
        ("f().backward()", "f()"),
        ("super().backward(loss)", None),
        ("self.backward(loss)", None),
        ("backward(loss)", None),
        ("loss.item()", None),
    ],
)
def test_loss_of(text: str, expected: str | None) -> None:
    head = "import torch\nfrom accelerate import Accelerator\na = Accelerator()\n"
    ctx = context(f"{head}class A:\n    def f(self):\n        {text}\n")
    statement = ctx.all(cst.Expr)[-1].value
    found = ctx.loss_of(statement)
    assert (text_of(found) if found is not None else None) == expected
    assert ctx.loss_of(cst.Name("x")) is None


# -- spelling


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("import torch\nhere()\n", ("torch.amp.autocast", None), id="package"),
        pytest.param("import torch as t\nhere()\n", ("t.amp.autocast", None), id="alias"),
        pytest.param("import torch.cuda\nhere()\n", ("torch.amp.autocast", None), id="dotted import"),
        pytest.param("import torch.amp as ta\nimport torch\nhere()\n", ("ta.autocast", None), id="shortest"),
        pytest.param("from torch import amp\nhere()\n", ("amp.autocast", None), id="from"),
        pytest.param("from torch.amp import autocast as ac\nhere()\n", ("ac", None), id="the thing itself"),
        pytest.param("from torch import autocast\nhere()\n", ("autocast", None), id="another name of one thing"),
        pytest.param("here()\n", ("torch.amp.autocast", "import torch"), id="nothing"),
        pytest.param("here()\nimport torch\n", ("torch.amp.autocast", "import torch"), id="below"),
        pytest.param("def f():\n    here()\nimport torch as t\n", ("torch.amp.autocast", "import torch"), id="below f"),
        pytest.param("import torch as t\ndef f():\n    here()\n", ("t.amp.autocast", None), id="above a function"),
        pytest.param("from torch import nn\nhere()\n", ("torch.amp.autocast", "import torch"), id="only a neighbour"),
        pytest.param("def f():\n    import torch as t\n    here()\n", ("t.amp.autocast", None), id="function"),
        pytest.param("def f():\n    import torch as t\n    def g(): here()\n", ("t.amp.autocast", None), id="around"),
        pytest.param(
            "def f():\n    import torch as t\ndef g(): here()\n",
            ("torch.amp.autocast", "import torch"),
            id="of another",
        ),
        pytest.param(
            "class A:\n    import torch as t\n    def f(self): here()\n",
            ("torch.amp.autocast", "import torch"),
            id="class bodies are no scope",
        ),
        pytest.param("class A:\n    import torch as t\n    here()\n", ("t.amp.autocast", None), id="class body"),
        pytest.param(
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\nhere()\n",
            ("torch.amp.autocast", "import torch"),
            id="TYPE_CHECKING",
        ),
        pytest.param("from torch import *\nhere()\n", ("torch.amp.autocast", "import torch"), id="star"),
        pytest.param("import torch\ntorch = 1\nhere()\n", None, id="rebound"),
        pytest.param("def f(torch): here()\n", None, id="shadowed"),
        pytest.param("import mytorch as torch\nhere()\n", None, id="taken by another"),
        pytest.param("import torch\ndef f():\n    import my as torch\n    here()\n", None, id="taken in the function"),
        pytest.param("import torch as t\nt = 1\nhere()\n", ("torch.amp.autocast", "import torch"), id="alias rebound"),
    ],
)
def test_spell(text: str, expected: tuple[str, str | None] | None) -> None:
    ctx = context(text)
    found = ctx.spell("torch.amp.autocast", at=calls(ctx, "here")[0])
    assert (found and (text_of(found.node), found.need.statement if found.need else None)) == expected


def test_choose() -> None:
    rule = Rule("TST001", "n", "s", "t", Safety.SAFE, ())
    ctx = context("")
    assert (ctx.choose(rule, ["a", "b"]), ctx.choose(rule, [])) == ("a", None)
    ctx.strategies["TST001"] = "b"
    assert (ctx.choose(rule, ["a", "b"]), ctx.choose(rule, ["a"])) == ("b", None)


# -- callees


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("def g(): pass\ng()\n", "p.py:g", id="function"),
        pytest.param("def f():\n    def g(): pass\n    g()\n", "p.py:f.g", id="nested function"),
        pytest.param("def f():\n    def g(): pass\n    def h(): g()\n", "p.py:f.g", id="of the function around"),
        pytest.param("class A:\n    def g(self): pass\n    def f(self): self.g()\n", "p.py:A.g", id="method"),
        pytest.param("from m import B\nclass A(B):\n    def f(self): self.g()\n", "m.py:B.g", id="inherited"),
        pytest.param("import m\nm.g()\n", "m.py:g", id="of a module"),
        pytest.param("from m import g as h\nh()\n", "m.py:g", id="imported"),
        pytest.param("from m import B\nB.g(x)\n", None, id="method by its class"),
        pytest.param("f()()\n", None, id="no name"),
        pytest.param("g()\n", None, id="unknown"),
        pytest.param("import torch\ntorch.g()\n", None, id="of a library"),
        pytest.param("from m import B\nB()\n", None, id="a class"),
        pytest.param("from bad import g\ng()\n", None, id="unreadable"),
        pytest.param("def f():\n    def g(): pass\n    g = x\n    g()\n", None, id="nested, rebound"),
        pytest.param("def f():\n    def g(): pass\n    def g(): pass\n    g()\n", None, id="nested, twice"),
        pytest.param("def f(g): g()\ndef g(): pass\n", None, id="parameter"),
        pytest.param("class A:\n    def f(self): self.g()\n", None, id="no such method"),
        pytest.param(
            "class A:\n    def __init__(self): self.g = x\n    def g(self): pass\n    def f(self): self.g()\n",
            None,
            id="an attribute in its place",
        ),
    ],
)
def test_callee(text: str, expected: str | None) -> None:
    others = {"m.py": "def g(): pass\nclass B:\n    def g(self): pass\n", "bad.py": "def g(\n"}
    ctx = context(text, others)
    found = ctx.callee(ctx.all(cst.Call)[0])
    name = found and f"{found[0].path}:{found[0].qualified(found[1])}"
    assert name == (expected if "B.g(x)" not in text else "m.py:B.g")


def test_callers() -> None:
    ctx = context("def g(): pass\ng()\ndef f(g): g()\nx.g()\ng(1)\nh()()\n")
    found = [text_of(c) for c in ctx.callers(ctx.all(cst.FunctionDef)[0])]
    assert found == []
    ctx = context("def g(): pass\ng()\nx.g()\ng(1)\nh()()\n")
    assert [text_of(c) for c in ctx.callers(ctx.all(cst.FunctionDef)[0])] == ["g()", "g(1)"]


def test_calls_by_name() -> None:
    text = "def f(): pass\nf()\nx.f (1)\n(f)(2)\nf # why\nmy_f()\nf.g()\nclass f(A): pass\ng(\\\nf\\\n(3))\n"
    assert [text_of(c) for c in context(text).named_calls("f")] == ["f()", "x.f (1)", "(f)(2)", "f\\\n(3)"]
    found = context("a(b())\nx.c()\n").named_calls("b", "c")
    assert [text_of(c) for c in found] == ["b()", "x.c()"]


CLASSES = """\
class A:
    def f(self):
        a = 1
        b = 2
        c = 3
        d = 4

    class B:
        def f(self):
            def g():
                a = 1
                b = 2
                c = 3
                d = 4

            return g
"""


def _lazily(text: str) -> Context:
    facts = gather("p.py", text)
    assert isinstance(facts, Facts)
    tree = parse_outside("p.py", text, facts.bodies)
    assert isinstance(tree, cst.Module)
    return Context("p.py", text, tree, facts, Index(Memory({"p.py": text})))


def test_definitions_by_name_in_what_is_not_parsed_yet() -> None:
    ctx = _lazily(CLASSES)
    for name in ("A.f", "A.B.f", "A.B.f.g"):
        found = ctx.definition(name)
        assert found is not None and ctx.qualified(found[1]) == name
    assert ctx.definition("A") is ctx.definition("A.g") is ctx.definition("B.f") is None
    assert [k.name.value for name in ("A", "A.B", "B") for k in ctx.classes(name)] == ["A", "B"]
    assert ctx.definition("A.f") is not None
    twice = _lazily(CLASSES + CLASSES)
    assert len(twice.classes("A.B")) == 2 and twice.definition("A.f") is None


def test_looking_for_one_definition_parses_no_other() -> None:
    ctx = _lazily(CLASSES)
    assert ctx.definition("A.B.f") is not None
    (f,) = (f for f in ctx.all(cst.FunctionDef, "class A") if ctx.qualified(f) == "A.f")
    assert isinstance(f.body, Deferred) and not f.body.opened


def test_other_files() -> None:
    ctx = context("x\n", {"m.py": "old()\n", "bad.py": "old(\n", "deep.py": "x" + ".a()" * 5000})
    other = ctx.other("m.py")
    assert other is not None
    assert (ctx.other("p.py") is ctx, ctx.other("m.py") is other, other.path) == (True, True, "m.py")
    assert [ctx.other(path) for path in ("bad.py", "gone.py", "deep.py")] == [None] * 3


def test_spellings_are_all_names_under_which_a_file_may_use_something() -> None:
    ctx = context("from torch import compile as c\nfrom torch import jit\nscript = jit.script\ns = jit.script\nx = 1\n")
    assert sorted(ctx.spellings("torch.compile", "torch.jit.script")) == ["c", "compile", "s", "script"]


def test_what_an_unparsed_function_says() -> None:
    ctx = _lazily(LONG)
    (function,) = ctx.all(cst.FunctionDef, "nowhere")
    assert (ctx.says(function, "deep"), ctx.says(function, "nowhere")) == (True, False)
    assert not ctx.all(cst.Pass, "nowhere") and len(ctx.all(cst.Pass, "deep")) == 4
    assert ctx.says(function, "nowhere"), "it is parsed by now: who asks looks for himself"


LONG = "def f(deep):\n" + "    pass\n" * 4
