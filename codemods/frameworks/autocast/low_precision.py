"""What is in 16 bits under autocast, and what stays in 32: whether a region surely casts, and what comes out of it."""

from __future__ import annotations

import ast

from codemods.analysis.calls import argument, keyword, literal, values
from codemods.analysis.mentions import are_connected, mentions
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks.autocast.regions import Region
from codemods.model.names import AUTOCAST, GRAD_SCALER

_CASTING = frozenset(
    {f"torch.{each}" for each in ("matmul", "mm", "bmm", "addmm", "addbmm", "baddbmm", "einsum", "conv1d", "conv2d")}
    | {f"torch.nn.functional.{each}" for each in ("linear", "conv1d", "conv2d", "conv3d")}
)
_LAYERS = frozenset(f"torch.nn.{each}" for each in ("Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d"))
"""What autocast computes in 16 bits: https://docs.pytorch.org/docs/stable/amp.html#autocast-op-reference."""
_MAKERS = frozenset(f"torch.{each}" for each in ("zeros", "ones", "empty", "rand", "randn"))
_ALIKE = frozenset({"view", "reshape", "flatten", "squeeze", "unsqueeze", "transpose", "permute", "contiguous", "t"})
"""Methods that keep the type."""
_ON_A_GPU = frozenset({"torch.cuda.amp.autocast", "torch.cuda.amp.autocast_mode.autocast"})
_MOVING = (b"cuda", b".to(", b"accelerate", b"lightning", b"transformers")
_MOVERS = frozenset({"accelerate", "lightning", "pytorch_lightning", "transformers", "trl", "deepspeed"})
"""Frameworks that put a model and its data on the GPU."""


@question
def region_is_on(ctx: PythonContext, call: ast.expr | ast.stmt, region: Region) -> Answer:
    """Whether a region surely casts: its options, and the precision of a Trainer, are in sight."""
    if region.precision != "mixed" or region.opening.in_doubt:
        return unknown(ctx.evidence(call, "whether autocast is on here is not known"))
    return yes()


@question
def something_is_on_its_gpu(ctx: PythonContext, region: Region) -> Answer:
    """Whether the program puts something on the GPU that a region is for: on the CPU it casts nothing (`left_over`)."""
    call = region.opening.call
    if region.step or (call is not None and not is_for_a_gpu(region)):
        return yes()
    for path in dict.fromkeys((ctx.path, *ctx.index.search(ctx.path, _MOVING))):
        other = ctx.other(path) if are_connected(ctx.index, ctx.path, path) else None
        if other is not None and _moves(other):
            return yes()
    shown = call if call is not None else region.holder
    return unknown(region.context.evidence(shown, "nothing in sight is on a GPU"))


def is_for_a_gpu(region: Region) -> bool:
    """Whether a region surely is one of CUDA."""
    call = region.opening.call
    if call is None:
        return False
    device = argument(call, "device_type", 0)
    by_name = device is not None and str(literal(device)).startswith("cuda")
    return by_name or region.context.means(call.func, _ON_A_GPU)


def _moves(ctx: PythonContext) -> bool:
    """Whether a file names a GPU apart from regions and scalers, moves something, or has a framework that does."""
    if (_moves,) not in ctx.memo:
        ctx.memo[_moves,] = _puts_on_a_gpu(ctx)
    found: bool = ctx.memo[_moves,]
    return found


def _puts_on_a_gpu(ctx: PythonContext) -> bool:
    for call in ctx.all(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "cuda":
            return True
        if isinstance(call.func, ast.Attribute) and call.func.attr == "to":
            if any(
                literal(each) is ... and not _is_a_type(ctx, each) and not _is_the_cpu(ctx, each)
                for each in values(call)
            ):
                return True
    for text in ctx.all(ast.Constant):
        if isinstance(text.value, str) and text.value.startswith("cuda"):
            holder = ctx.parent(text)
            taker = ctx.parent(holder) if isinstance(holder, ast.keyword) else holder
            if not ctx.calls(taker, AUTOCAST | GRAD_SCALER):
                return True
    return any(each.target.partition(".")[0] in _MOVERS for each in ctx.facts.imports)


def _is_the_cpu(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a device surely is the CPU: `DEVICE = torch.device("cpu")`."""
    found, complete = possible_values(ctx, node)
    devices = [
        literal(each.node.args[0])
        if each.ctx.calls(each.node, "torch.device") and isinstance(each.node, ast.Call) and each.node.args
        else literal(each.node)
        for each in found
    ]
    return complete and bool(found) and all(each == "cpu" for each in devices)


def _is_a_type(ctx: PythonContext, node: ast.expr) -> bool:
    named = isinstance(node, ast.Attribute) and node.attr == "dtype"
    return named or any(each.startswith("torch.") for each in ctx.origin(node))


@question
def nobody_leaves_the_region(ctx: PythonContext) -> Answer:
    """Whether nothing in the program switches autocast off, whose logits are in 32 bits (`in_full_precision`)."""
    return unless(
        each.evidence("what is computed here is in full precision")
        for each in mentions(ctx, "autocast")
        if each.call is not None and literal(keyword(each.call, "enabled")) is False
    )


def comes_in_16_bits(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a value surely comes out of an operation that autocast computes in 16 bits."""
    found, complete = possible_values(ctx, node, ordered=True)
    return complete and bool(found) and all(not each.path and _is_cast(each.ctx, each.node) for each in found)


def _is_cast(ctx: PythonContext, node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=ast.MatMult()):
            return True
        case ast.Call(func=ast.Attribute(value=inner, attr=name) as func) if name in _ALIKE and not ctx.origin(func):
            return comes_in_16_bits(ctx, inner)
        case ast.Call(func=func):
            return ctx.means(func, _CASTING) or ctx.is_a(func, _LAYERS)
    return False


def is_made_in_32_bits(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a tensor surely is made in the default type, or in `float32` by name."""
    found, complete = possible_values(ctx, node, ordered=True)
    return complete and bool(found) and all(not each.path and _is_made(each.ctx, each.node) for each in found)


def _is_made(ctx: PythonContext, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not ctx.means(node.func, _MAKERS) or argument(node, "out", 99) is not None:
        return False
    dtype = keyword(node, "dtype")
    return all(each.arg for each in node.keywords) and (dtype is None or ctx.means(dtype, "torch.float32"))


@question
def default_type_stays(ctx: PythonContext) -> Answer:
    """Whether nobody chooses another type for tensors that are made without one (`another_default`)."""
    return unless(
        each.evidence("tensors without a `dtype` may be of another type from here on")
        for each in mentions(ctx, "set_default_dtype", "set_default_tensor_type")
    )
