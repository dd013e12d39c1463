"""What becomes of gradients that `torch.autograd.grad` gives: whether they come into a loss that is scaled again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from codemods.analysis.calls import binder, literal
from codemods.analysis.definitions import reaching, uses
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.model.edits import Evidence
from codemods.syntax.module import LOOPS

_KEEPING = frozenset(
    {"pow", "square", "sum", "mean", "norm", "abs", "sqrt", "view", "reshape", "flatten", "float", "double", "clone"}
    | {"contiguous", "squeeze", "unsqueeze", "max", "min"}
)
"""Methods of a tensor, and functions of torch, whose result is larger where the tensor is."""
_JOINING = frozenset({"stack", "cat", "concat", "linalg.norm", "linalg.vector_norm", "_foreach_norm"})
_FUNCTIONS = frozenset(f"torch.{name}" for name in (_KEEPING - {"pow"}) | _JOINING)
_ENDING = frozenset({"item", "detach", "tolist", "size", "dim", "numel", "shape", "dtype", "device", "ndim", "is_cuda"})
_BUILTINS = frozenset({"sum", "list", "tuple", "max", "min", "abs"})


@dataclass
class Fate:
    """What gradients come to."""

    scaled_again: list[ast.Call] = field(default_factory=list)
    """The calls of the scaler's `scale` that are given something made of them."""
    doubts: list[Evidence] = field(default_factory=list)
    """The factors on the way that are no numbers in sight, and may hold the scale."""


def fate(ctx: PythonContext, scale: str, gradients: ast.Call) -> Fate | None:
    """What gradients come to in their function.

    None where something is done to them that may take the scale out: a quotient of two of them, a function that is not
    known, an attribute or a container that keeps them.

    Args:
        scale: the method that scales, as it is written: `scaler.scale`.
    """
    found = Fate()
    waiting: list[ast.expr] = [gradients]
    seen: set[ast.expr] = set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        onward = _onward(ctx, node, scale, found)
        if onward is None:
            return None
        waiting += onward
    return found


def _onward(ctx: PythonContext, node: ast.expr, scale: str, found: Fate) -> list[ast.expr] | None:
    """The expressions that a gradient comes to next; None where it cannot be told."""
    above = ctx.parent(node)
    match above:
        case ast.Expr() | ast.Return() | ast.Compare() | ast.FormattedValue():
            return []
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target, op=ast.Add() | ast.Sub()):
            return _read(ctx, above, target)
        case ast.For(iter=it) | ast.comprehension(iter=it) if it is node:
            return _read(ctx, above, above.target)
        case ast.BinOp(op=ast.Add() | ast.Sub()) | ast.UnaryOp(op=ast.USub()):
            return [above]
        case ast.BinOp(left=left, op=ast.Pow(), right=right) if left is node:
            return [above] if _is_positive(right) else None
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            if isinstance(op, ast.Div) and right is node:
                return None  # the quotient of two gradients has no scale (`ratio`)
            found.doubts += _factor(ctx, node, right if left is node else left)
            return [above]
        case ast.Subscript(value=value) if value is node:
            return [above]
        case ast.List() | ast.Tuple() | ast.ListComp() | ast.GeneratorExp():
            return [above]
        case ast.Attribute(attr=attr):
            call = ctx.parent(above)
            if attr in _ENDING:
                return []
            kept = isinstance(call, ast.Call) and call.func is above and attr in _KEEPING
            return [call] if isinstance(call, ast.Call) and kept and (attr != "pow" or _raises(call.args)) else None
        case ast.Call(func=func):
            return _given(ctx, above, node, ctx.name(func) == scale, found)
    return None


def _given(ctx: PythonContext, call: ast.Call, node: ast.expr, scales: bool, found: Fate) -> list[ast.expr] | None:
    if scales:
        found.scaled_again.append(call)
        return []
    name = call.func.id if isinstance(call.func, ast.Name) and binder(ctx, call.func.id, call) is None else ""
    if name in ("print", "len"):
        return []
    if name in _BUILTINS or ctx.means(call.func, _FUNCTIONS):
        return [call]
    loop = ctx.parent(call)
    if name in ("zip", "enumerate") and isinstance(loop, (ast.For, ast.comprehension)) and loop.iter is call:
        place = call.args.index(node) if name == "zip" else 1
        names = loop.target.elts if isinstance(loop.target, ast.Tuple) else []
        return _read(ctx, loop, names[place]) if place < len(names) else None
    return None


def _is_positive(exponent: ast.expr) -> bool:
    """Whether a power grows with what is raised: with a negative one, too, a product may have no scale."""
    number = literal(exponent)
    return isinstance(number, (int, float)) and number > 0


def _raises(given: list[ast.expr]) -> bool:
    return len(given) == 1 and _is_positive(given[0])


def _factor(ctx: PythonContext, node: ast.expr, factor: ast.expr) -> Iterator[Evidence]:
    """The place of a factor that may hold the scale: none of a number, or of the same gradient."""
    values, complete = possible_values(ctx, factor)
    numbers = complete and all(isinstance(literal(each.node), (int, float)) for each in values)
    counts = isinstance(factor, ast.Call) and ctx.name(factor.func) == "len"
    if not numbers and not counts and (ctx.name(factor) is None or ctx.name(factor) != ctx.name(node)):
        yield ctx.evidence(factor, f"`{ctx.written(factor)}` may hold the scale")


def _read(ctx: PythonContext, binding: ast.AST, target: ast.expr) -> list[ast.expr] | None:
    """The places that read what is bound to a target; None where others may, too."""
    if isinstance(target, (ast.Tuple, ast.List)):
        parts = [_read(ctx, binding, each) for each in target.elts]
        return None if None in parts else [use for part in parts for use in part or ()]
    if not isinstance(target, ast.Name):
        return None
    if isinstance(binding, ast.comprehension):
        around = ctx.parent(binding)
        assert around is not None
        named = (each for each in ast.walk(around) if isinstance(each, ast.Name) and each.id == target.id)
        return [each for each in named if isinstance(each.ctx, ast.Load)]
    inside = binding.body[0] if isinstance(binding, LOOPS[0]) else binding
    return [each for each in uses(ctx, target.id, inside) if any(b.node is binding for b in reaching(ctx, each)[0])]
