"""`nn.TransformerEncoder` as built in one place: whether evaluation takes the fused path, and where it is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.analysis.calls import argument, has_splat, literal, named_calls
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import made_by
from codemods.syntax.module import Function, own

_ACTIVATIONS = frozenset({"torch.nn.functional.relu", "torch.nn.functional.gelu"})
_ACTIVATION_MODULES = frozenset({"torch.nn.ReLU", "torch.nn.GELU"})


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder whose layers the fused kernel understands."""

    built: ast.Call
    kept: tuple[ast.Call, ...]
    """What is assigned: `built`, or the calls of the function that returns it."""
    name: str
    """What it is assigned to first: `self.encoder`, `encoder`."""
    nested: bool
    """Whether padded batches become nested tensors."""
    calls: tuple[ast.Call, ...]
    """Its calls in the classes, or the functions, that keep it."""

    @property
    def masked(self) -> tuple[ast.Call, ...]:
        return tuple(call for call in self.calls if mask(call) is not None)


def encoder(call: ast.Call, ctx: PythonContext) -> Encoder | None:
    """The encoder that `nn.TransformerEncoder(…)` builds; None where the fused path is not taken, or it is unknown."""
    if not ctx.calls(call, "torch.nn.TransformerEncoder") or has_splat(call):
        return None
    given = argument(call, "encoder_layer", 0)
    layer = made_by(ctx, given) if given is not None else None
    if layer is None or not ctx.calls(layer, "torch.nn.TransformerEncoderLayer") or not _fused(layer, ctx):
        return None
    switch = argument(call, "enable_nested_tensor", 3)
    norm_first = argument(layer, "norm_first", 7)
    nested = (switch is None or literal(switch) is True) and (norm_first is None or literal(norm_first) is False)
    kept: list[tuple[ast.Call, str]] = []
    for each in _kept(call, ctx):
        holder = ctx.parent(each)
        name = ctx.name(holder.targets[0]) if isinstance(holder, ast.Assign) and len(holder.targets) == 1 else None
        kept += [(each, name)] if name is not None else []
    if not kept:
        return None
    calls = tuple(inner for each, name in kept for inner in _calls(each, name, ctx))
    return Encoder(call, tuple(each for each, _ in kept), kept[0][1], nested, calls)


def _kept(call: ast.Call, ctx: PythonContext) -> Iterator[ast.Call]:
    """The calls whose result is the encoder: its own, or those of a function that only returns it."""
    returned = _returning(call, ctx)
    if returned is None:
        yield call
        return
    for other in named_calls(ctx, returned.name):
        if (target := ctx.callee(other)) is not None and target[1] is returned:
            yield other


def _returning(call: ast.Call, ctx: PythonContext) -> Function | None:
    """The function that returns what a call makes, directly or by way of a variable."""
    function = ctx.function(call)
    if function is None:
        return None
    holder = ctx.parent(call)
    if isinstance(holder, ast.Return):
        return function
    name = holder.targets[0] if isinstance(holder, ast.Assign) and len(holder.targets) == 1 else None
    if not isinstance(name, ast.Name) or len(ctx.bindings(function).get(name.id, ())) != 1:
        return None
    returns = [node for node in own(function) if isinstance(node, ast.Return)]
    kept = returns and all(isinstance(r.value, ast.Name) and r.value.id == name.id for r in returns)
    return function if kept else None


def _fused(layer: ast.Call, ctx: PythonContext) -> bool:
    """Whether the fused kernel understands a layer."""
    if has_splat(layer) or literal(argument(layer, "batch_first", 6)) is not True:
        return False
    heads = literal(argument(layer, "nhead", 1))
    if isinstance(heads, int) and heads % 2:
        return False
    bias = argument(layer, "bias", 8)
    if bias is not None and literal(bias) is not True:
        return False
    activation = argument(layer, "activation", 4)
    if activation is None or literal(activation) in ("relu", "gelu"):
        return True
    return ctx.means(activation, _ACTIVATIONS) or ctx.calls(activation, _ACTIVATION_MODULES)


def _calls(built: ast.Call, name: str, ctx: PythonContext) -> Iterator[ast.Call]:
    calls = named_calls(ctx, name.rpartition(".")[2])
    method = ctx.method(built)
    if method is not None and name.startswith(f"{method.self}."):
        attribute = name.partition(".")[2]
        if len(list(ctx.index.assigned(method.owner, attribute))) == 1:
            for call in calls:
                inside = ctx.method(call)
                if inside is not None and inside.klass is method.klass:
                    if ctx.name(call.func) == f"{inside.self}.{attribute}":
                        yield call
        return
    scope = ctx.scope(built)
    if len(ctx.bindings(scope).get(name, ())) == 1:
        yield from (c for c in calls if ctx.name(c.func) == name and ctx.scope(c) is scope)


def mask(call: ast.Call) -> ast.expr | None:
    """The padding mask of a call, where it surely gives one, and no other mask, with which no batch is nested."""
    given, other = argument(call, "src_key_padding_mask", 2), argument(call, "mask", 1)
    if other is not None and literal(other) is not None:
        return None  # two_masks
    return None if given is None or literal(given) is None else given
