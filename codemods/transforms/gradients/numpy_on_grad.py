"""`.numpy()` of a tensor that requires gradients.

## Why is this bad?
NumPy knows no gradients, and torch refuses (run with PyTorch 2.13):

    RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.

The same for `.cpu().numpy()`, `np.array(loss)` and `np.asarray(loss)`; `float(loss)`, `loss.item()` and `.tolist()`
work.

## Fix safety
Safe where the array is only read: it has the values of the tensor. Unsafe where it is returned or handed on, or where
the function makes tensors of arrays: a loss that goes through NumPy trains nothing, and says nothing. Unsafe where
something in the program is in bfloat16, of which NumPy makes no array with or without a graph.

## When it is not offered
Reported where the function itself differentiates the tensor: then it surely requires gradients. Silent for anything
else, for `detach()`, `.data` and `numpy(force=True)`. Possible where a handler may expect the error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import has_splat, values
from codemods.analysis.python_context import PythonContext
from codemods.frameworks.gradients.accumulators import array_is_only_read
from codemods.frameworks.gradients.differentiated import differentiated_in
from codemods.frameworks.gradients.grad_mode import gradients
from codemods.frameworks.numerics.dtypes import arrays_are_made_by_torch, numpy_has_its_type
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import replace

_ARRAYS = frozenset({"numpy.array", "numpy.asarray"})
_ALIKE = frozenset({"cpu", "float", "double", "mean", "sum", "squeeze", "flatten"})
"""Methods whose result hangs on the same graph."""

rule = Rule(
    code="GRD019",
    name="numpy-on-grad",
    summary="`.numpy()` of a tensor that requires gradients",
    fix_title="Take the array of the tensor without its graph",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    follows=True,
    triggers=(("backward", "manual_backward"), ("numpy", "array", "asarray")),
    imports=("torch", "lightning", "pytorch_lightning", "accelerate"),
    errors=("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html",),
)


@rule.on(ast.Call)
def numpy_on_grad(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    tensor = _of(call, ctx)
    if tensor is None or gradients(ctx, call) or (backward := differentiated_in(ctx, tensor, ctx.scope(call))) is None:
        return
    yield rule.finding(
        call,
        fix=[replace(tensor, f"{tensor.id}.detach()")],
        message=f"`{tensor.id}` requires gradients, and NumPy takes no such tensor",
        evidence=[ctx.evidence(backward, "it is differentiated here")],
        is_bug=[arrays_are_made_by_torch(ctx)],
        is_right=[array_is_only_read(ctx, call), *([] if _is_widened(call) else [numpy_has_its_type(ctx)])],
    )


def _is_widened(call: ast.Call) -> bool:
    """Whether the tensor is made one of 32 or 64 bits first: `loss.float().numpy()`."""
    return any(isinstance(each, ast.Attribute) and each.attr in ("float", "double") for each in ast.walk(call.func))


def _of(call: ast.Call, ctx: PythonContext) -> ast.Name | None:
    """The tensor that a call takes the array of."""
    match call.func:
        case ast.Attribute(value=inner, attr="numpy") if not values(call) and not has_splat(call):
            while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and not values(inner):
                if inner.func.attr not in _ALIKE:
                    return None
                inner = inner.func.value
            return inner if isinstance(inner, ast.Name) else None
        case func if ctx.means(func, _ARRAYS) and call.args and isinstance(call.args[0], ast.Name):
            return call.args[0]
    return None
