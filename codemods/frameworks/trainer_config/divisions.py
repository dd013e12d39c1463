"""Where the loss of a backward call is divided by hand, for the sake of accumulation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from codemods.analysis.tensors import METHODS
from codemods.frameworks.accelerators import binder
from codemods.frameworks.gradient_consumers import callee
from codemods.model.names import ACCELERATOR
from codemods.rules.context import Context
from codemods.syntax import flow
from codemods.syntax.rewrite import keyword, literal

DIVIDING = frozenset({"div", "div_", "true_divide", "divide"})
MULTIPLYING = frozenset({"mul", "mul_", "multiply"})
_STEPS = re.compile(r"accum|micro_?(?:batch|step)|grad_acc|(?:\b|_)g?acc?_|_acc?\b|grad\w*_steps", re.I)


@dataclass(frozen=True, slots=True)
class Division:
    """Where a loss is divided."""

    ctx: Context
    node: cst.CSTNode
    by: cst.BaseExpression


def divided_by_hand(ctx: Context, call: cst.Call) -> Division | None:
    """A division of the loss that may be for the sake of accumulation: by no literal, and by nothing of the batch."""
    loss = ctx.loss_of(call)
    if loss is None:
        return None
    steps = _configured(ctx)
    for each in _divisions(ctx, loss):
        loop = (
            flow.loop_around(ctx.parents, call) if each.ctx is ctx and ctx.scope(each.by) is ctx.scope(call) else None
        )
        if _counts_steps(each.ctx, each.by, steps) or not _measured(each.ctx, each.by, loop):
            return each
    return None


def _divisions(ctx: Context, made: cst.BaseExpression, depth: int = 6) -> Iterator[Division]:
    """The divisions on the way to a value: `x / n`, `x.div(n)`, `x * (1 / n)`, here and in functions it comes from."""
    if depth == 0:
        return
    match made:
        case cst.BinaryOperation(left=left, operator=cst.Divide() | cst.FloorDivide(), right=right):
            yield Division(ctx, made, right)
            yield from _divisions(ctx, left, depth)
        case cst.BinaryOperation(left=left, operator=operator, right=right):
            for part in (left, right):
                divisor = _reciprocal(ctx, part) if isinstance(operator, cst.Multiply) else None
                if divisor is not None:
                    yield Division(ctx, made, divisor)
                else:
                    yield from _divisions(ctx, part, depth)
        case cst.IfExp(body=body, orelse=orelse):
            yield from _divisions(ctx, body, depth)
            yield from _divisions(ctx, orelse, depth)
        case cst.NamedExpr(value=value) | cst.UnaryOperation(expression=value) | cst.Await(expression=value):
            yield from _divisions(ctx, value, depth)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _divisions(ctx, element.value, depth)
        case cst.Subscript(value=value) | cst.Attribute(value=value) if ctx.name(made) is None:
            yield from _divisions(ctx, value, depth)
        case cst.Call():
            yield from _called(ctx, made, depth)
        case cst.Name() | cst.Attribute():
            yield from _bound(ctx, made, depth)


def _called(ctx: Context, call: cst.Call, depth: int) -> Iterator[Division]:
    args = [a.value for a in call.args]
    if ctx.means(call.func, "torch.div", "torch.true_divide", "torch.mul") and len(args) > 1:
        first, second = args[0], args[1]
        divisor = _reciprocal(ctx, second) if ctx.means(call.func, "torch.mul") else second
        yield from [Division(ctx, call, divisor)] if divisor is not None else ()
        yield from _divisions(ctx, first, depth)
        return
    if isinstance(call.func, cst.Attribute) and not ctx.origin(call.func):
        method = call.func.attr.value
        if method in DIVIDING and args:
            yield Division(ctx, call, args[0])
        elif method in MULTIPLYING and args and (divisor := _reciprocal(ctx, args[0])) is not None:
            yield Division(ctx, call, divisor)
        if method in METHODS | DIVIDING | MULTIPLYING | {"to"}:
            yield from _divisions(ctx, call.func.value, depth)
    if (target := callee(ctx, call)) is not None:
        where, function = target
        for node in flow.own(function.body):
            if isinstance(node, cst.Return) and node.value is not None:
                yield from _divisions(where, node.value, depth - 1)
    else:
        steps = _configured(ctx)
        yield from (Division(ctx, call, arg) for arg in args if _counts_steps(ctx, arg, steps))


def _bound(ctx: Context, name: cst.Name | cst.Attribute, depth: int) -> Iterator[Division]:
    """The divisions in what a name, or a part of what it holds, is given."""
    scope, spoken = ctx.scope(name), ctx.name(name)
    if not isinstance(scope, (cst.FunctionDef, cst.Module)) or spoken is None:
        return
    heads = {spoken, spoken.partition(".")[0]}
    for head in heads:
        for binding in ctx.bindings(scope).get(head, ()):
            match binding.node:
                case cst.AugAssign(operator=cst.DivideAssign(), value=value):
                    yield Division(ctx, binding.node, value)
                case cst.AugAssign(operator=operator, value=value):
                    divisor = _reciprocal(ctx, value) if isinstance(operator, cst.MultiplyAssign) else None
                    if divisor is not None:
                        yield Division(ctx, binding.node, divisor)
                    elif isinstance(operator, (cst.AddAssign, cst.SubtractAssign)):
                        yield from _divisions(ctx, value, depth - 1)
                case cst.Assign(value=value):
                    yield from _divisions(ctx, value if binding.value is None else binding.value, depth - 1)
                case _ if binding.value is not None:
                    yield from _divisions(ctx, binding.value, depth - 1)
    for node in flow.own(scope.body if isinstance(scope, cst.FunctionDef) else scope):
        match node:
            case cst.Expr(value=cst.Call(func=cst.Attribute(value=changed)) as call) if ctx.name(changed) == spoken:
                yield from _called(ctx, call, 1)


def _reciprocal(ctx: Context, factor: cst.BaseExpression, depth: int = 3) -> cst.BaseExpression | None:
    """`n` of `1 / n`, also through a name."""
    if isinstance(factor, cst.BinaryOperation) and isinstance(factor.operator, cst.Divide):
        return factor.right
    if isinstance(factor, cst.Name) and depth:
        for binding in ctx.assigned(factor) or ():
            if binding.value is not None and (found := _reciprocal(ctx, binding.value, depth - 1)) is not None:
                return found
    return None


def _measured(ctx: Context, divisor: cst.BaseExpression, loop: cst.For | cst.While | None, depth: int = 4) -> bool:
    """Whether a divisor is a literal, or measured on what comes with the batch (in a helper: with its arguments)."""
    if isinstance(literal(divisor), (int, float)):
        return True
    if depth == 0:
        return False
    if isinstance(divisor, cst.Name):
        return _of_the_batch(ctx, divisor, loop, depth)
    names = [n for n in (divisor, *flow.own(divisor)) if isinstance(n, cst.Name)]
    if isinstance(divisor, cst.BinaryOperation):
        return all(_measured(ctx, part, loop, depth) for part in (divisor.left, divisor.right))
    measured = any(isinstance(n, cst.Call) for n in (divisor, *flow.own(divisor)))
    shape = any(n.value == "shape" for n in names)
    within = [n for n in names if _is_variable(ctx, n)]
    return (measured or shape) and any(_of_the_batch(ctx, n, loop, depth, taken=True) for n in within)


def _is_variable(ctx: Context, name: cst.Name) -> bool:
    """Whether a name is one of a local variable or parameter, and no attribute, keyword, module or builtin."""
    above = ctx.parent(name)
    if isinstance(above, (cst.Attribute, cst.Arg)):
        if name is (above.attr if isinstance(above, cst.Attribute) else above.keyword):
            return False
    return binder(ctx, name.value, name) is not None and not ctx.origin(name)


def _of_the_batch(
    ctx: Context, name: cst.Name, loop: cst.For | cst.While | None, depth: int, *, taken: bool = False
) -> bool:
    """Whether a name is set in each round of a loop; without one, in the function, by measuring.

    Args:
        taken: whether it is only measured, as `batch` in `len(batch)`: then a parameter will do.
    """
    scope = binder(ctx, name.value, name)
    given = ctx.bindings(scope).get(name.value, ()) if scope is not None else ()
    if not given:
        return taken and loop is None and isinstance(scope, cst.FunctionDef)
    for binding in given:
        if loop is not None and loop not in (binding.node, *ctx.ancestors(binding.node)):
            return False
        if not taken and binding.value is not None and not _measured(ctx, binding.value, loop, depth - 1):
            return False
    return True


def _counts_steps(ctx: Context, divisor: cst.BaseExpression, steps: set[object]) -> bool:
    if _STEPS.search(ctx.module.code_for_node(divisor)):
        return True
    value = literal(divisor)
    return (ctx.name(divisor) if value is ... else value) in steps


def _configured(ctx: Context) -> set[object]:
    """What this file gives as `gradient_accumulation_steps`, by value or by name."""
    found: set[object] = set()
    for call in ctx.all(cst.Call, "gradient_accumulation_steps"):
        if ctx.calls(call, ACCELERATOR) and (arg := keyword(call, "gradient_accumulation_steps")):
            value = literal(arg.value)
            found.add(ctx.name(arg.value) if value is ... else value)
    return found - {None}
