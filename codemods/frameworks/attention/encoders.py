"""`nn.TransformerEncoder` as built in one place: whether evaluation takes the fused path, and where it is called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from codemods.rules.context import Context
from codemods.syntax.rewrite import argument, has_splat, literal

_ACTIVATIONS = frozenset({"torch.nn.functional.relu", "torch.nn.functional.gelu"})
_ACTIVATION_MODULES = frozenset({"torch.nn.ReLU", "torch.nn.GELU"})


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder whose layers the fused kernel understands."""

    built: cst.Call
    name: str
    """What it is assigned to: `self.encoder`, `encoder`."""
    nested: bool
    """Whether padded batches become nested tensors."""
    calls: tuple[cst.Call, ...]
    """Its calls in the class, or the function, that builds it."""

    @property
    def masked(self) -> tuple[cst.Call, ...]:
        return tuple(call for call in self.calls if mask(call) is not None)


def encoder(call: cst.Call, ctx: Context) -> Encoder | None:
    """The encoder that `nn.TransformerEncoder(…)` builds; None where the fused path is not taken, or it is unknown."""
    if not ctx.calls(call, "torch.nn.TransformerEncoder") or has_splat(call):
        return None
    given = argument(call, "encoder_layer", 0)
    layer = _constructed(given.value, ctx) if given is not None else None
    if layer is None or not ctx.calls(layer, "torch.nn.TransformerEncoderLayer") or not _fused(layer, ctx):
        return None
    holder = ctx.parent(call)
    if not isinstance(holder, cst.Assign) or len(holder.targets) != 1:
        return None
    name = ctx.name(holder.targets[0].target)
    if name is None:
        return None
    switch = argument(call, "enable_nested_tensor", 3)
    norm_first = argument(layer, "norm_first", 7)
    nested = (switch is None or literal(switch.value) is True) and (
        norm_first is None or literal(norm_first.value) is False
    )
    return Encoder(call, name, nested, tuple(_calls(call, name, ctx)))


def _constructed(node: cst.BaseExpression, ctx: Context) -> cst.Call | None:
    if isinstance(node, cst.Call):
        return node
    found = ctx.assigned(node) or ()
    value = found[0].value if len(found) == 1 else None
    return value if isinstance(value, cst.Call) else None


def _fused(layer: cst.Call, ctx: Context) -> bool:
    if has_splat(layer):
        return False
    batch_first = argument(layer, "batch_first", 6)
    if batch_first is None or literal(batch_first.value) is not True:
        return False
    heads = argument(layer, "nhead", 1)
    number = literal(heads.value) if heads is not None else ...
    if isinstance(number, int) and number % 2:
        return False
    bias = argument(layer, "bias", 8)
    if bias is not None and literal(bias.value) is not True:
        return False
    activation = argument(layer, "activation", 4)
    if activation is None or literal(activation.value) in ("relu", "gelu"):
        return True
    return ctx.means(activation.value, _ACTIVATIONS) or ctx.calls(activation.value, _ACTIVATION_MODULES)


def _calls(built: cst.Call, name: str, ctx: Context) -> Iterator[cst.Call]:
    method = ctx.method(built)
    if method is not None and name.startswith(f"{method.self}."):
        attribute = name.partition(".")[2]
        assigned = list(ctx.index.assigned(method.owner, attribute))
        for call in ctx.all(cst.Call):
            inside = ctx.method(call)
            if len(assigned) == 1 and inside is not None and inside.klass is method.klass:
                if ctx.name(call.func) == f"{inside.self}.{attribute}":
                    yield call
        return
    scope = ctx.scope(built)
    if len(ctx.bindings(scope).get(name, ())) == 1:
        yield from (c for c in ctx.all(cst.Call) if ctx.name(c.func) == name and ctx.scope(c) is scope)


def mask(call: cst.Call) -> cst.Arg | None:
    """The padding mask of a call, where it surely gives one."""
    given = argument(call, "src_key_padding_mask", 2)
    return None if given is None or literal(given.value) is None else given
