"""A result of autocast that is written by index into a tensor in 32 bits.

## Why is this bad?
`out[mask] = layer(x)` copies 16 bits into 32, and indexed writes convert nothing (run with PyTorch 2.13):

    RuntimeError: Index put requires the source and destination dtypes match, got Float for the destination and BFloat16
    for the source.
    RuntimeError: scatter(): Expected self.dtype to be equal to src.dtype
    RuntimeError: index_add_(): self (Float) and source (BFloat16) must have the same scalar type

The same for `index_put_`, `index_copy_`, `index_reduce_`, `scatter_add_`, `scatter_reduce_` and `masked_scatter_`.
Slices (`out[:3] = y`), single rows, `out[mask] += y`, `copy_` and `where` convert, and work.

## Fix safety
Safe: the source in the type of the target. The gradient is that of the program without autocast's difference, bit by
bit that of a program without the buffer.

## When it is not offered
Reported where both types are seen: the tensor is made by `torch.zeros` and the like, without a `dtype`, and the source
comes from a linear layer, a convolution or a matrix product. Possible where the region may be off, where nothing in
sight is on the GPU that it is for, and where the program chooses another default type. Silent otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, has_splat
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.frameworks.autocast.low_precision import (
    comes_in_16_bits,
    default_type_stays,
    is_made_in_32_bits,
    nobody_leaves_the_region,
    region_is_on,
    something_is_on_its_gpu,
)
from codemods.frameworks.autocast.questions import no_manager_is_unknown
from codemods.frameworks.autocast.regions import around
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import replace

_SOURCES = {"index_put": ("values", 1), "masked_scatter": ("source", 1)} | {
    name: ("source" if name.startswith("index") else "src", 2)
    for name in ("scatter", "scatter_add", "scatter_reduce", "index_add", "index_copy", "index_reduce")
}
"""Method → the argument that is written, and its position."""

_INDICES = frozenset(
    {f"torch.{name}" for name in ("nonzero", "randperm", "arange", "argsort", "isnan", "isfinite", "logical_not")}
    | {f"torch.{name}" for name in ("logical_and", "gt", "lt", "ge", "le", "eq", "ne")}
)
"""What makes a mask, or indices of several places."""

rule = Rule(
    code="AMP005",
    name="indexed-write-dtype",
    summary="a result of autocast is written by index into a tensor in 32 bits, which raises",
    fix_title="Write it in the type of the tensor",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    follows=True,
    triggers=(("autocast", "training_step"), ("zeros", "ones", "empty", "rand", "randn")),
    errors=(
        "Index put requires the source and destination dtypes match, got Float for the destination and",
        "scatter(): Expected self.dtype to be equal to src.dtype",
        "index_add_(): self (Float) and source (BFloat16) must have the same scalar type",
        "index_copy_(): self and source expected to have the same dtype, but got (self) Float and (source) BFloat16",
        "masked_scatter: expected self and source to have same dtypes but gotFloat and BFloat16",
    ),
    references=("https://docs.pytorch.org/docs/stable/amp.html#autocast-op-reference",),
)


@rule.on(ast.Call)
def written_by_a_method(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    match call.func:
        case ast.Attribute(value=target, attr=method) if taken := _SOURCES.get(method.removesuffix("_")):
            source = argument(call, *taken)
            if source is not None and not has_splat(call):
                yield from _written(target, source, call, ctx)


@rule.on(ast.Assign)
def written_by_index(assignment: ast.Assign, ctx: PythonContext) -> Iterator[Draft]:
    match assignment.targets:
        case [ast.Subscript(value=target, slice=index)] if _is_a_tensor(ctx, index):
            yield from _written(target, assignment.value, assignment, ctx)


def _written(target: ast.expr, source: ast.expr, at: ast.expr | ast.stmt, ctx: PythonContext) -> Iterator[Draft]:
    if (name := ctx.name(target)) is None or not is_made_in_32_bits(ctx, target) or not comes_in_16_bits(ctx, source):
        return
    if (region := around(ctx, at)) is None or region.precision == "none":
        return
    yield rule.finding(
        at,
        fix=[replace(source, f"{ctx.operand(source)}.to({name}.dtype)")],
        message=f"`{name}` is in 32 bits, and what is written into it by index comes out of autocast in 16",
        is_bug=[
            region_is_on(ctx, at, region),
            something_is_on_its_gpu(ctx, region),
            no_manager_is_unknown(ctx, at),
            nobody_leaves_the_region(ctx),
            default_type_stays(ctx),
        ],
    )


def _is_a_tensor(ctx: PythonContext, index: ast.expr) -> bool:
    """Whether an index surely is a tensor of several places: a mask, or what a function of torch gives."""
    if isinstance(index, ast.Tuple):
        return any(_is_a_tensor(ctx, each) for each in index.elts)
    found, complete = possible_values(ctx, index, ordered=True)
    return complete and bool(found) and all(not each.path and _makes_indices(each.ctx, each.node) for each in found)


def _makes_indices(ctx: PythonContext, node: ast.AST) -> bool:
    match node:
        case ast.Call(func=func, args=[ast.List(), *_]) if ctx.means(func, "torch.tensor"):
            return True
        case ast.Call(func=func):
            return ctx.means(func, _INDICES)
    return False
