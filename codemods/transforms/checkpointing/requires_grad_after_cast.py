"""`x = x.to(torch.float32)`, then `x.requires_grad_()`: a remedy that does harm.

## Why is this bad?
A cast never drops a gradient: `x.to(torch.float32)` requires one whenever `x` does, on every version of torch, also
under autocast. Whoever prints `requires_grad` inside a checkpointed layer sees `False` in the first of two passes,
which reentrant checkpointing runs under `no_grad`; the second pass, which builds the graph, says `True`.

In grad mode `requires_grad_()` after the cast changes nothing. Without it (under `no_grad`, or above a cut graph) the
cast made a new tensor, which now becomes a leaf of its own: the backward stops there without an error. The message that
led here

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

is gone, and everything below stays untrained. What helps is `use_reentrant=False` (see `implicit-reentrant` and
`hf-training-arguments`), or removing the cut.

## Fix safety
Reported by default. Removing the call is unsafe: the error that it hid may come back. That is the point.

## When it is not offered
Where the project differentiates with respect to an input (`torch.autograd.grad`, `create_graph`, `torch.func`), there
is no finding: forces and physics-informed losses need exactly this. Where it reads `.grad` or registers hooks, the
finding has no fix. Outside of the `forward` of a class nothing is looked at, nor are tensors that are no cast of an
activation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from codemods.frameworks.checkpointing.frames import parameters, written
from codemods.model.edits import Consequence, Safety
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Rule
from codemods.syntax import flow, rewrite

CASTS = frozenset({"float", "half", "bfloat16", "double"})
FLOATING = frozenset(
    f"torch.{n}" for n in ("float16", "bfloat16", "float32", "float64", "half", "float", "double", "bfloat")
)
DIFFERENTIATES = (
    *(b"autograd.grad", b"create_graph", b"torch.func", b"functorch", b"autograd.functional", b"jacobian", b"jacrev"),
    *(b"retain_grad()", b"import grad"),
)
READS_GRAD = re.compile(r"\.grad\b|register_(?:full_)?(?:backward_)?hook|register_backward_hook")

rule = Rule(
    code="CKP007",
    name="requires-grad-after-cast",
    summary="`requires_grad_()` after a cast hides a cut graph: everything below it stays untrained",
    fix_title="Remove `requires_grad_()`",
    safety=Safety.DISPLAY,
    consequence=Consequence.SILENT,
    triggers=(("requires_grad_", "requires_grad"),),
    together=(("requires_grad_", "requires_grad"),),
    errors=("element 0 of tensors does not require grad and does not have a grad_fn",),
    references=(
        "https://github.com/hiyouga/LlamaFactory/issues/6675",
        "https://docs.pytorch.org/docs/stable/checkpoint.html",
    ),
)


@rule.on(cst.Call)
def call_after_cast(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    """`x.requires_grad_()` on a line of its own, or at the end of the cast: `x.float().requires_grad_()`."""
    match call:
        case cst.Call(func=cst.Attribute(value=tensor, attr=cst.Name(value="requires_grad_")), args=args):
            if args and rewrite.literal(args[0].value) is not True:
                return
        case _:
            return
    if not _in_forward(call, ctx) or _differentiates(ctx):
        return
    if isinstance(tensor, cst.Name):
        statement = ctx.statement(call)
        if isinstance(statement, cst.Expr) and statement.value is call and _was_cast(tensor, ctx):
            yield _draft(ctx, call, statement, written(ctx, tensor), None)
    elif _is_cast(tensor, ctx):
        yield _draft(ctx, call, call, written(ctx, tensor), tensor)


@rule.on(cst.Assign)
def flag_after_cast(assign: cst.Assign, ctx: Context) -> Iterator[Draft]:
    """`x.requires_grad = True`."""
    match assign:
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Attribute(value=cst.Name() as tensor, attr=cst.Name("requires_grad")))]
        ) if rewrite.literal(assign.value) is True:
            pass
        case _:
            return
    if _in_forward(assign, ctx) and not _differentiates(ctx) and _was_cast(tensor, ctx):
        yield _draft(ctx, assign, assign, tensor.value, None)


def _draft(ctx: Context, node: cst.CSTNode, old: cst.CSTNode, name: str, new: cst.BaseExpression | None) -> Draft:
    message = f"`{name}` is made to require a gradient after its cast, which drops none: this hides a cut below"
    if any(READS_GRAD.search(ctx.index.text(p) or "") for p in ctx.index.search(ctx.path, (b".grad", b"hook("))):
        return rule.finding(node, message=message)
    return rule.finding(node, fix={old: new}, message=message, safety=Safety.UNSAFE)


def _in_forward(node: cst.CSTNode, ctx: Context) -> bool:
    method = ctx.method(node)
    return method is not None and method.name in ("forward", "_forward", "_norm")


def _differentiates(ctx: Context) -> bool:
    return bool(ctx.index.search(ctx.path, DIFFERENTIATES))


def _is_cast(node: cst.CSTNode | None, ctx: Context) -> bool:
    """`x.float()`, `x.to(torch.float32)`, `x.to(dtype=…)`, of something that is a plain name or attribute."""
    match node:
        case cst.Call(func=cst.Attribute(value=source, attr=cst.Name(value=name)), args=args):
            if not isinstance(source, cst.Name):
                return False
            if name in CASTS:
                return not args
            given = rewrite.keyword(node, "dtype") or next((a for a in args if a.keyword is None and not a.star), None)
            return name in ("to", "type") and given is not None and _is_floating(given.value, ctx)
        case _:
            return False


def _is_floating(dtype: cst.BaseExpression, ctx: Context) -> bool:
    """`torch.float32`, or the dtype of a tensor or weight."""
    if ctx.means(dtype, FLOATING):
        return True
    return isinstance(dtype, cst.Attribute) and dtype.attr.value == "dtype" and not ctx.origin(dtype)


def _was_cast(tensor: cst.Name, ctx: Context) -> bool:
    """Whether the last thing that happened to a tensor before `tensor` is a cast of an activation."""
    scope = ctx.scope(tensor)
    if not isinstance(scope, cst.FunctionDef):
        return False
    before = [
        b
        for b in ctx.bindings(scope).get(tensor.value, ())
        if flow.order(ctx.parents, b.node, tensor) is flow.Order.BEFORE
    ]
    if not before or not _is_cast(before[-1].value, ctx):
        return False
    value = before[-1].value
    assert isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute)
    source = value.func.value
    known_here = {p.name.value for p in parameters(scope)} | set(ctx.bindings(scope))
    return isinstance(source, cst.Name) and source.value in known_here
