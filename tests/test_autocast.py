"""Regions of autocast and what runs in them, as literal programs with the answer beside them."""

from __future__ import annotations

import ast
import textwrap

import pytest
from memory import Memory

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.autocast.modules import written
from codemods.frameworks.autocast.openings import opening
from codemods.frameworks.autocast.regions import around, callers
from codemods.frameworks.autocast.uses import gradients, uses
from codemods.frameworks.autocast.version_tests import version_tested
from codemods.project.index import Index
from codemods.syntax.module import FUNCTIONS, dotted

HEAD = "import torch\nfrom torch import autocast, nn, no_grad\nfrom torch.cuda.amp import GradScaler\n"
NET = "net = nn.Linear(1, 1)\n"
STEP = """import lightning
class M(lightning.LightningModule):
    def training_step(self): self.g()
    def g(self): here()
"""


def context(code: str, **others: str) -> PythonContext:
    """A program below some imports, with other files of its project by module name."""
    texts = {"p.py": HEAD + textwrap.dedent(code), **{f"{name}.py": HEAD + text for name, text in others.items()}}
    index = Index(Memory({path: text.encode() for path, text in texts.items()}))
    facts, text, module = index.facts("p.py"), index.text("p.py"), index.syntax("p.py")
    assert facts is not None and text is not None and module is not None
    return PythonContext("p.py", text, module, facts, index)


def here(ctx: PythonContext) -> ast.Call:
    """The one call of `here`."""
    (found,) = [c for c in ctx.all(ast.Call) if dotted(c.func) == "here"]
    return found


@pytest.mark.parametrize(
    ("code", "caches"),
    [
        ("here(autocast('cuda'))", True),
        ("here(autocast('cuda', enabled=False))", False),
        ("here(autocast('cuda', torch.float16, True, False))", False),
        ("here(autocast('cuda', **{'cache_enabled': False}))", False),
        ("amp = autocast('cuda')\nhere(amp)", True),
        ("from functools import partial\namp = partial(autocast, 'cuda', cache_enabled=False)\nhere(amp())", False),
        ("def amp(): return autocast('cuda')\nhere(amp())", True),
        ("from contextlib import nullcontext\namp = autocast('cuda') if a else nullcontext()\nhere(amp)", True),
        ("amp = make()\nhere(amp)", None),
    ],
)
def test_what_entering_an_expression_does(code: str, caches: bool | None) -> None:
    ctx = context(code)
    found = opening(ctx, here(ctx).args[0])
    assert (found.caches if found is not None else None) is caches


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("with autocast('cuda'):\n    here()", "With"),
        ("with autocast('cuda'), here(): pass", "With"),
        ("with here(), autocast('cuda'): pass", None),
        ("with autocast('cuda'):\n    with autocast('cuda', enabled=False):\n        here()", None),
        ("async def f():\n    async with a: here()", None),
        ("@autocast('cuda')\ndef f(): here()", "FunctionDef"),
        ("def f(): here()\nwith autocast('cuda'): f()", "With"),
        ("def f(): here()\ndef g(): f()\n@autocast('cuda')\ndef h(): g()", "FunctionDef"),
        ("def f(): f(); here()", None),
        (STEP, "FunctionDef"),
    ],
)
def test_the_region_around_a_node(code: str, expected: str | None) -> None:
    ctx = context(code)
    region = around(ctx, here(ctx))
    assert (type(region.holder).__name__ if region is not None else None) == expected


def test_callers_in_other_files() -> None:
    ctx = context("def f(): here()\n", q="from p import f\nwith autocast('cuda'): f()\n", r="from p import f\nf()\n")
    (function,) = ctx.all(*FUNCTIONS)
    assert [where.path for where, _ in callers(ctx, function)] == ["q.py", "r.py"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("here()", ""),
        ("with no_grad(): here()", "off"),
        ("with no_grad():\n    with torch.enable_grad(): here()", "on"),
        ("with torch.set_grad_enabled(a): here()", "maybe"),
        ("@no_grad()\ndef f(): here()", "off"),
        ("@no_grad()\ndef f():\n    def g(): here()", ""),
        ("torch.set_grad_enabled(False)\nif a:\n    here()", "off"),
        ("torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)\nhere()", "on"),
        ("if a:\n    torch.set_grad_enabled(False)\nhere()", ""),
    ],
)
def test_whether_gradients_are_on(code: str, expected: str) -> None:
    ctx = context(code)
    assert gradients(ctx, here(ctx)) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("model(x)", set()),
        (NET + "net(x)", {("net", False)}),
        (NET + "with no_grad(): net(x)", {("net", True)}),
        (NET + "no_grad()(net.forward)(x)", {("net", True)}),
        (NET + "with torch.set_grad_enabled(a): net(x)", set()),
        ("def f(v, x): v(x)\nf(net.part, x)", {("net.part", False)}),
        ("def f(v, x): v(net(x))\nf(g, x)", set()),
        ("a = nn.Linear(1, 1)\na(x)", {("a", False)}),
        ("a = nn.ReLU()\na(x)", set()),
        (NET + "net.half()\nnet(x)", set()),
        (NET + "def f(m): m.encode(net(1))\nf(a)", {("net", False)}),
        ("def f(net): net(1)\nf(model.part)", {("model.part", False)}),
        ("for block in blocks: block(x)\nblocks = nn.ModuleList([])", {("blocks[…]", False)}),
        ("w = nn.Parameter(a)\nself.w = w", set()),
    ],
)
def test_what_runs_which_weights(code: str, expected: set[tuple[str, bool]]) -> None:
    ctx = context(code)
    assert {(written(use.path), use.off) for use in uses(ctx, ctx.module.tree)} == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("here()", False),
        ("if torch.__version__ > '2': here()", True),
        ("if a: here()", False),
        ("new = hasattr(torch, 'amp')\na = here() if new else b", True),
        ("is_new and here()", False),
        ("TORCH_VERSION >= 2 and here()", True),
        ("try:\n    here()\nexcept AttributeError: pass", True),
        ("try:\n    here()\nexcept OSError: pass", False),
        ("try:\n    a\nexcept OSError: here()", True),
        ("def f():\n    if version('torch') < '2':\n        return a\n    return here()", True),
    ],
)
def test_what_a_test_of_the_version_decides_about(code: str, expected: bool) -> None:
    ctx = context(code)
    assert version_tested(ctx, here(ctx)) is expected
