"""Where the loss of a backward call is divided by hand, for the sake of accumulation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.analysis.calls import binder, keyword, literal, values
from codemods.analysis.instances import callee
from codemods.analysis.python_context import PythonContext
from codemods.analysis.tensors import METHODS
from codemods.analysis.values import PossibleValue, behind, possible_values, returned
from codemods.model.names import ACCELERATOR
from codemods.syntax.module import FUNCTIONS, own

DIVIDING = frozenset({"div", "div_", "true_divide", "divide"})
MULTIPLYING = frozenset({"mul", "mul_", "multiply"})
_STEPS = re.compile(r"accum|micro_?(?:batch|step)|grad_acc|(?:\b|_)g?acc?_|_acc?\b|grad\w*_steps", re.I)


Loop = ast.For | ast.AsyncFor | ast.While


@dataclass(frozen=True, slots=True)
class Division:
    """Where a loss is divided."""

    ctx: PythonContext
    node: ast.expr | ast.stmt
    by: ast.expr


def divided_by_hand(ctx: PythonContext, call: ast.Call) -> Division | None:
    """A division of the loss that may be for the sake of accumulation: by no literal, and by nothing of the batch."""
    loss = ctx.loss_of(call)
    if loss is None:
        return None
    steps = _configured(ctx)
    for each in _divisions(PossibleValue(ctx, loss)):
        here = each.ctx is ctx and ctx.scope(each.by) is ctx.scope(call)
        loop = ctx.flow_of(ctx.scope(call)).loop(call) if here else None
        if _counts_steps(each.ctx, each.by, steps) or not _measured(each.ctx, each.by, loop):
            return each
    return None


def _divisions(value: PossibleValue) -> Iterator[Division]:
    """The divisions on the way to a value: `x / n`, `x.div(n)`, `x * (1 / n)`, here and in functions it comes from."""
    ctx, made = value.ctx, value.node
    if value.is_far:
        return
    match made:
        case ast.Call():
            yield from _called(value, made)
            return
        case _ if value.path:
            pass
        case ast.BinOp(left=left, op=ast.Div() | ast.FloorDiv(), right=right):
            yield Division(ctx, made, right)
            yield from _divisions(value.part(left))
        case ast.BinOp(left=left, op=operator, right=right):
            for part in (left, right):
                divisor = _reciprocal(ctx, part) if isinstance(operator, ast.Mult) else None
                if divisor is not None:
                    yield Division(ctx, made, divisor)
                else:
                    yield from _divisions(value.part(part))
        case ast.AugAssign(op=ast.Div(), value=divisor):
            yield Division(ctx, made, divisor)
        case ast.AugAssign(op=operator, value=more):
            divisor = _reciprocal(ctx, more) if isinstance(operator, ast.Mult) else None
            if divisor is not None:
                yield Division(ctx, made, divisor)
            elif isinstance(operator, (ast.Add, ast.Sub)):
                yield from _divisions(value.at(more))
        case ast.UnaryOp(operand=inner) | ast.Starred(value=inner):
            yield from _divisions(value.part(inner))
        case ast.Subscript(value=inner) | ast.Attribute(value=inner) if ctx.name(made) is None:
            yield from _divisions(value.part(inner))
            return
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                yield from _divisions(value.part(element))
    for spoken in dict.fromkeys((made, _head(made))):  # also what `out` of `out.loss` is given
        step = behind(value if spoken is made else value.part(spoken))
        for each in step.values if step is not None else ():
            yield from _divisions(each)
    if (name := ctx.name(made)) is not None:
        yield from _divided_in_place(value, name)


def _head(node: ast.AST) -> ast.AST:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _divided_in_place(value: PossibleValue, spoken: str) -> Iterator[Division]:
    """The divisions in statements such as `loss.div_(n)`."""
    for node in own(value.ctx.scope(value.node)):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=held)) as call) if value.ctx.name(held) == spoken:
                yield from _called(value, call, in_place=True)


def _called(value: PossibleValue, call: ast.Call, *, in_place: bool = False) -> Iterator[Division]:
    ctx, args = value.ctx, values(call)
    if ctx.means(call.func, "torch.div", "torch.true_divide", "torch.mul") and len(args) > 1:
        first, second = args[0], args[1]
        divisor = _reciprocal(ctx, second) if ctx.means(call.func, "torch.mul") else second
        yield from [Division(ctx, call, divisor)] if divisor is not None else ()
        yield from _divisions(value.part(first))
        return
    if isinstance(call.func, ast.Attribute) and not ctx.origin(call.func):
        method = call.func.attr
        if method in DIVIDING and args:
            yield Division(ctx, call, args[0])
        elif method in MULTIPLYING and args and (divisor := _reciprocal(ctx, args[0])) is not None:
            yield Division(ctx, call, divisor)
        if method in METHODS | DIVIDING | MULTIPLYING | {"to"} and not in_place:
            yield from _divisions(value.part(call.func.value))
    if (target := callee(ctx, call)) is not None:
        for each in returned(target[1]) if not in_place else ():
            yield from _divisions(value.at(each, ctx=target[0]))
    else:
        steps = _configured(ctx)
        yield from (Division(ctx, call, arg) for arg in args if _counts_steps(ctx, arg, steps))


def _reciprocal(ctx: PythonContext, factor: ast.expr) -> ast.expr | None:
    """`n` of `1 / n`, also through a name."""
    for each in possible_values(ctx, factor)[0]:
        if isinstance(each.node, ast.BinOp) and isinstance(each.node.op, ast.Div) and not each.path:
            return each.node.right
    return None


def _measured(ctx: PythonContext, divisor: ast.expr, loop: Loop | None, depth: int = 4) -> bool:
    """Whether a divisor is a literal, or measured on what comes with the batch (in a helper: with its arguments)."""
    if isinstance(literal(divisor), (int, float)):
        return True
    if depth == 0:
        return False
    if isinstance(divisor, ast.Name):
        return _of_the_batch(ctx, divisor, loop, depth)
    nodes = [divisor, *own(divisor)]
    names = [n for n in nodes if isinstance(n, ast.Name)]
    if isinstance(divisor, ast.BinOp):
        return all(_measured(ctx, part, loop, depth) for part in (divisor.left, divisor.right))
    measured = any(isinstance(n, ast.Call) or (isinstance(n, ast.Attribute) and n.attr == "shape") for n in nodes)
    within = [n for n in names if binder(ctx, n.id, n) is not None and not ctx.origin(n)]
    return measured and any(_of_the_batch(ctx, n, loop, depth, taken=True) for n in within)


def _of_the_batch(ctx: PythonContext, name: ast.Name, loop: Loop | None, depth: int, *, taken: bool = False) -> bool:
    """Whether a name is set in each round of a loop; without one, in the function, by measuring.

    Args:
        taken: whether it is only measured, as `batch` in `len(batch)`: then a parameter will do.
    """
    scope = binder(ctx, name.id, name)
    given = ctx.bindings(scope).get(name.id, ()) if scope is not None else ()
    if not given:
        return taken and loop is None and isinstance(scope, FUNCTIONS)
    for binding in given:
        if loop is not None and loop not in (binding.node, *ctx.ancestors(binding.node)):
            return False
        if not taken and binding.value is not None and not _measured(ctx, binding.value, loop, depth - 1):
            return False
    return True


def _counts_steps(ctx: PythonContext, divisor: ast.expr, steps: set[object]) -> bool:
    if _STEPS.search(ctx.source(divisor)):
        return True
    value = literal(divisor)
    return (ctx.name(divisor) if value is ... else value) in steps


def _configured(ctx: PythonContext) -> set[object]:
    """What this file gives as `gradient_accumulation_steps`, by value or by name."""
    found: set[object] = set()
    for call in ctx.all(ast.Call):
        given = keyword(call, "gradient_accumulation_steps")
        if given is not None and ctx.calls(call, ACCELERATOR):
            value = literal(given)
            found.add(ctx.name(given) if value is ... else value)
    return found - {None}
