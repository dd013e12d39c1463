"""What is a tensor, on which `backward()` is called."""

from __future__ import annotations

import ast

import pytest
from memory import Memory

from codemods.analysis.python_context import PythonContext
from codemods.analysis.tensors import is_tensor
from codemods.project.index import Index


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(x):\n    x.backward()\n", None),
        ("def f(loss):\n    loss.backward()\n", None),
        ("def f(loss_fn):\n    loss_fn.backward()\n", None),
        ("def f(losses):\n    losses['total'].backward()\n", None),
        ("def f(out):\n    out['loss'].backward()\n", None),
        ("def f(out):\n    out[1:].backward()\n", None),
        ("def f(x):\n    x.item()\n    x.backward()\n", True),
        ("def f(x, y):\n    y.item()\n    x.backward()\n", None),
        ("def f(x):\n    x.save()\n    x.backward()\n", None),
        ("def f(x):\n    y = 2 * x\n    x.backward()\n", True),
        ("def f(x, y):\n    y = 2 * y\n    x.backward()\n", None),
        ("def f(x):\n    y = x.mean()\n    y.backward()\n", True),
        ("def f(x, y):\n    z = sum(x)\n    z.backward()\n", True),
        ("def f(x):\n    with x as y:\n        y.backward()\n", False),
        ("class A: pass\ndef f():\n    x = A()\n    x.backward()\n", False),
        ("import torch\ndef f(x: torch.Tensor):\n    x.backward()\n", True),
        ("import torch\ndef f(a, b):\n    x = torch.nn.functional.mse_loss(a, b)\n    x.backward()\n", True),
        ("from torch import nn\ndef f(a, b):\n    nn.MSELoss()(a, b).backward()\n", True),
        ("class A:\n  def __init__(a, loss):\n    a.loss = loss\n  def f(a):\n    a.loss.backward()\n", None),
        ("class A:\n  def g(a, loss):\n    a.loss = loss\n  def f(a):\n    a.loss.backward()\n", None),
    ],
)
def test_what_is_a_tensor(code: str, expected: bool | None) -> None:
    index = Index(Memory({"p.py": code.encode()}))
    facts, text, module = index.facts("p.py"), index.text("p.py"), index.syntax("p.py")
    assert facts is not None and text is not None and module is not None
    ctx = PythonContext("p.py", text, module, facts, index)
    (found,) = (node.value for node in ctx.all(ast.Attribute) if node.attr == "backward")
    assert is_tensor(ctx, found) is expected
