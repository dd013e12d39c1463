"""`optimizer.step` without a call: a statement that names a method and runs nothing.

## Why is this bad?
Python accepts it. Without `optimizer.step()` no weight moves; without `zero_grad()` the gradients of all rounds add up
(their norm grew to 4.0 in three steps); `model.eval` leaves dropout on (run with PyTorch 2.13). Nothing raises and
nothing warns.

## Fix safety
Unsafe: the call changes what the program computes, which is the point; another line may do the same already.

## When it is not offered
Silent where the class of the object is not known, where a class of the project has an attribute or a property of that
name, where an `AttributeError` is caught, and for other methods.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis import instances
from codemods.analysis.optimizers import is_schedule, optimizes
from codemods.analysis.python_context import PythonContext
from codemods.analysis.tensors import is_tensor
from codemods.model.edits import Consequence, Safety
from codemods.model.names import GRAD_SCALER
from codemods.project.index import Ref
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import replace

_METHODS = frozenset({"step", "zero_grad", "backward", "eval", "train", "update"})

rule = Rule(
    code="GRD009",
    name="uncalled-method",
    summary="this statement names a method and does not call it",
    fix_title="Call the method",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    triggers=(("torch", "lightning", "pytorch_lightning"), tuple(sorted(_METHODS))),
    references=("https://docs.pytorch.org/docs/stable/optim.html#taking-an-optimization-step",),
)


@rule.on(ast.Expr)
def uncalled_method(statement: ast.Expr, ctx: PythonContext) -> Iterator[Draft]:
    named = statement.value
    if not isinstance(named, ast.Attribute) or named.attr not in _METHODS or not _has(ctx, named.value, named.attr):
        return
    around = ctx.enclosing(statement, ast.Try)
    handlers = around.handlers if isinstance(around, ast.Try) else []
    if any(each.type is not None and "AttributeError" in ast.unparse(each.type) for each in handlers):
        return  # it is asked whether there is such a method (`asked_for`)
    written = ctx.source(named)
    yield rule.finding(named, fix=[replace(named, f"{written}()")], message=f"`{ctx.written(named)}` is not called")


def _has(ctx: PythonContext, node: ast.expr, method: str) -> bool:
    """Whether an object surely is of a class of torch that has a method."""
    if method in ("step", "zero_grad") and optimizes(ctx, node) is True:
        return not _has_its_own(ctx, node, method)
    if method == "step" and is_schedule(ctx, node):
        return True
    if method == "backward":
        return is_tensor(ctx, node) is True
    kind = instances.of(ctx, node)
    if kind is None or _has_its_own(ctx, node, method):
        return False
    if method in ("update", "step"):
        return kind.names <= GRAD_SCALER and method == "update"
    return all(instances.is_module_class(ctx, each) for each in kind.names)


def _has_its_own(ctx: PythonContext, node: ast.expr, method: str) -> bool:
    """Whether a class of the project gives the name another meaning (`a_property`)."""
    kind = instances.of(ctx, node)
    refs = [Ref.of(each) for each in kind.names if ":" in each] if kind is not None else []
    return any(ctx.index.method(ref, method) or next(ctx.index.assigned(ref, method), None) for ref in refs)
