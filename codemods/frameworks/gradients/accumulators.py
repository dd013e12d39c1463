"""What becomes of a value that is no longer trained on: a sum or a list of losses, an array of NumPy."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import binder
from codemods.analysis.definitions import uses, uses_of
from codemods.analysis.mentions import is_written_in_place
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, no, question, unless
from codemods.frameworks.gradients.differentiated import sinks
from codemods.model.edits import Evidence
from codemods.syntax.module import own

_READING = frozenset({"print", "float", "int", "str", "repr", "len", "format", "bool"})
_COMBINING = frozenset({"sum", "min", "max", "abs", "round"})
_CUTTING = frozenset({"item", "tolist", "detach", "data", "shape", "dtype", "append"})
_MOVING = frozenset({"cpu", "mean", "sum", "float", "double", "to"})
_TENSORS = frozenset({f"torch.{each}" for each in ("from_numpy", "as_tensor", "tensor", "asarray", "Tensor")})
_LOGGING = ("wandb.", "logging.", "torch.utils.tensorboard.", "tqdm.")


def is_bound_before(ctx: PythonContext, name: str, loop: ast.AST, adding: ast.stmt) -> bool:
    """Whether a name is bound to a number, a tensor or a list outside of a loop, and in its rounds only added to."""
    scope = ctx.scope(adding)
    bound = [each for each in ctx.bindings(scope).get(name, ()) if not isinstance(each.node, ast.AugAssign)]
    if not bound or any(ctx.module.contains(loop, each.node) or not _gathers(ctx, each.value) for each in bound):
        return False
    elsewhere = (node for node in ctx.all(ast.Name) if node.id == name and ctx.scope(node) is not scope)
    return not any(ctx.module.contains(scope, each) for each in elsewhere)


def _gathers(ctx: PythonContext, value: ast.expr | None) -> bool:
    """Whether losses are gathered in a value as they are: another object may take what it needs (`meter`)."""
    match value:
        case ast.Constant(value=int() | float()) | ast.List():
            return True
        case ast.Call(func=func):
            return any(each.startswith("torch.") for each in ctx.origin(func)) or ctx.name(func) == "list"
    return False


@question
def nobody_differentiates_the_sum(ctx: PythonContext, adding: ast.stmt, name: str) -> Answer:
    """Whether what a loop gathers is not what its function differentiates."""
    for use in uses(ctx, name, adding):
        for sink in sinks(ctx, use):
            return no(ctx.evidence(sink.node, "this differentiates what was gathered"))
    handed = (use for use in uses(ctx, name, adding) if isinstance(ctx.parent(use), ast.Starred))
    return unless(ctx.evidence(use, "this may differentiate what was gathered") for use in handed)


@question
def graph_is_not_handed_on(ctx: PythonContext, adding: ast.stmt, name: str) -> Answer:
    """Whether a function makes only numbers and texts of what its loop gathers."""
    return unless(place for use in uses(ctx, name, adding) for place in handed_on(ctx, use))


@question
def array_is_only_read(ctx: PythonContext, array: ast.Call) -> Answer:
    """Whether a function makes only numbers and texts of an array, and no tensor again (`back_in_torch`)."""
    back = (node for node in own(ctx.scope(array)) if isinstance(node, ast.Call) and ctx.means(node.func, _TENSORS))
    again = (ctx.evidence(node, "the array may come back as a tensor here") for node in back)
    return unless((*again, *handed_on(ctx, array)))


def handed_on(ctx: PythonContext, node: ast.expr) -> Iterator[Evidence]:
    """Where a function hands a value on, or what holds it, and not only numbers and texts made of it."""
    return _leaving(ctx, node, set())


def _leaving(ctx: PythonContext, node: ast.expr, seen: set[ast.AST]) -> Iterator[Evidence]:
    seen.add(node)
    match above := ctx.parent(node):
        case ast.FormattedValue() | ast.Compare() | ast.Expr():
            return
        case ast.Attribute(attr=name) if name in _CUTTING:
            return
        case ast.Attribute(attr=name) if name in _MOVING and isinstance(call := ctx.parent(above), ast.Call):
            yield from _leaving(ctx, call, seen)
        case ast.BinOp() | ast.Subscript() | ast.IfExp() | ast.UnaryOp():
            yield from _leaving(ctx, above, seen)
        case ast.Call(func=ast.Name(id=name)) if name in _READING and binder(ctx, name, above) is None:
            return
        case ast.Call(func=ast.Name(id=name)) if name in _COMBINING and binder(ctx, name, above) is None:
            yield from _leaving(ctx, above, seen)
        case ast.Call(func=func) if any(each.startswith(_LOGGING) for each in ctx.origin(func)):
            return
        case ast.Call(func=func) if any(each.startswith("numpy.") for each in ctx.origin(func)):
            yield from _leaving(ctx, above, seen)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append")):
            for use in uses(ctx, name, above):
                if use not in seen:
                    yield from _leaving(ctx, use, seen)
        case ast.Assign(targets=[ast.Name() as target]) if not is_written_in_place(ctx, target):
            for use in uses_of(ctx, above):
                if use not in seen:
                    yield from _leaving(ctx, use, seen)
        case _:
            yield ctx.evidence(node, "this is handed on here")
