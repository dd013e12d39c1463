"""Who uses the gradients of a raw backward call beside an Accelerator, or Fabric."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from codemods.analysis import instances
from codemods.analysis.calls import binder, literal, named_calls
from codemods.analysis.gradient_use import Consumers, Obstacle, ReachedCode, consumers, judge, obstacle
from codemods.analysis.python_context import PythonContext
from codemods.analysis.tensors import is_raw_backward
from codemods.frameworks.accelerators import Keeping, is_keeper, prepared
from codemods.frameworks.gradients.grad_mode import gradients
from codemods.model.names import TORCH_MODULE
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS

_CALLERS = 3
"""How many calls outward is looked for the code around a backward call."""


def prepared_consumers(
    ctx: PythonContext, call: ast.Call, keeping: Keeping, owner: str, stays: Callable[[PythonContext, ast.Call], bool]
) -> Consumers:
    """Who uses the gradients of a raw backward call beside a keeper: as far outward as an optimizer is stepped.

    Args:
        stays: whether another raw backward call of the same code is left as it is.
    """

    def undoes(where: PythonContext, node: ast.expr) -> bool | None:
        if isinstance(node, ast.Call) and any(o.startswith("torch.optim.") for o in where.origin(node.func)):
            return False
        if isinstance(node, ast.Name) and isinstance(function := binder(where, node.id, node), FUNCTIONS):
            if node.id not in where.bindings(function):
                return None  # a parameter: what is given for it counts
        if isinstance(node, ast.Attribute) and node.attr == "optimizer":
            inner = judge(code, where, node.value, undoes)
            return False if inner else prepared(where, node, keeping)
        return prepared(where, node, keeping)

    def by_keeper(where: PythonContext, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _kept(where, node.func.value)

    def _kept(where: PythonContext, node: ast.expr) -> bool:
        return where.name(node) is not None and is_keeper(where, node, keeping)

    users = Consumers(frozenset(), ())
    for outward in range(_CALLERS + 1):
        code = ReachedCode.around(ctx, call, outward)
        users = consumers(code, undoes, owner, known_to=by_keeper)
        if users.steps:
            break
    raw = ((where, n) for where, n in code.nodes if isinstance(n, ast.Call) and is_raw_backward(where, n))
    staying = [obstacle(where, n, "this call stays raw", sure=False) for where, n in raw if stays(where, n)]
    return users.beside((*staying, *_unprepared(code, keeping, owner)))


def _unprepared(code: ReachedCode, keeping: Keeping, owner: str) -> Iterator[Obstacle]:
    """Modules that are made in sight, called with gradients on, and prepared by nobody."""
    seen: set[str] = set()
    for ctx, node in code.nodes:
        if not isinstance(node, ast.Call) or (name := ctx.name(node.func)) is None or name in seen:
            continue
        kind = instances.of(ctx, node.func)
        if kind is None or kind.how != "constructor" or not all(_has_parameters(ctx, k) for k in kind.names):
            continue
        if prepared(ctx, node.func, keeping) is not True and not _frozen(ctx, name, node):
            seen.add(name)
            yield obstacle(ctx, node, f"`{name}` is a module that {owner} is not seen to prepare", sure=False)


def _has_parameters(ctx: PythonContext, name: str) -> bool:
    """Whether a class is one of modules that may have parameters."""
    if ":" in name:
        return ctx.index.descends(Ref(*name.split(":", 1)), TORCH_MODULE) is not False
    last = name.rpartition(".")[2]
    return name.startswith("torch.nn.") and last[:1].isupper() and not last.endswith("Loss")


def _frozen(ctx: PythonContext, name: str, call: ast.Call) -> bool:
    """Whether a call runs without gradients, or the module's parameters take none."""
    if gradients(ctx, call) == "off":
        return True
    frozen = (c for c in named_calls(ctx, "requires_grad_") if ctx.name(c.func) == f"{name}.requires_grad_")
    return any(c.args and literal(c.args[0]) is False for c in frozen)
