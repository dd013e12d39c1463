"""Where a project surely meets the fused path of `nn.TransformerEncoder` under autocast on the CPU."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, literal
from codemods.analysis.class_building import modules_keep
from codemods.analysis.other_files import other_files_leave_it_alone
from codemods.analysis.python_context import PythonContext, program
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.versions.call_graph import is_mixed, programs
from codemods.model.edits import Evidence
from codemods.rules.file_context import FileContext
from codemods.syntax.facts import Setting, dotted
from codemods.syntax.module import is_none

_LAYERS = frozenset({"torch.nn.TransformerEncoderLayer", "torch.nn.Transformer"})
_AUTOCAST = frozenset({"torch.autocast"})
_CPU = frozenset({"torch.cpu.amp.autocast"})
_SWITCHES = (
    *("enable_grad", "set_grad_enabled", "register_forward_pre_hook", "register_forward_hook"),
    "set_fastpath_enabled",
)
"""What switches gradients on, hooks a layer, or switches the fused path off (`gradients_are_on`, `switched_off`)."""


def evaluated_on_cpu(ctx: FileContext) -> str | None:
    """The file that builds a `batch_first` encoder, in a project that autocasts on the CPU.

    Not where a padding mask is passed: newer releases cure all but that.
    """
    return ctx.index.recall((evaluated_on_cpu, ctx.index.root(ctx.path)), lambda: _evaluated_on_cpu(ctx))


def _evaluated_on_cpu(ctx: FileContext) -> str | None:
    if not any(_is_on_cpu(ctx, path, setting) for path, setting in ctx.index.settings(ctx.path)):
        return None
    for where in programs(ctx, (b"TransformerEncoderLayer", b"Transformer"), "batch_first"):
        if "padding_mask" in where.text or "set_fastpath_enabled" in where.text:
            return None
        if any(_is_fused(where, node) for node in where.all(ast.Call)):
            return where.path
    return None


def _is_on_cpu(ctx: FileContext, path: str, setting: Setting) -> bool:
    """Whether a call surely sets mixed precision on the CPU."""
    given = setting.call.keywords
    origins = ctx.index.resolve(path, setting.call.dotted) if setting.call.dotted else frozenset[str]()
    if not origins:
        return False
    if origins <= _CPU:
        return True
    if origins <= _AUTOCAST:
        device = given.get("device_type") or next(iter(setting.call.args), None)
        return device is not None and device.literal == "cpu"
    accelerator = given.get("accelerator")
    return accelerator is not None and accelerator.literal == "cpu" and is_mixed(setting)


def _is_fused(ctx: PythonContext, node: ast.Call) -> bool:
    """Whether a call builds a layer that the fused path takes, by what it says itself."""
    if not ctx.calls(node, _LAYERS):
        return False
    given = {k.arg: k.value for k in node.keywords}
    first, activation = given.get("batch_first"), given.get("activation", ast.Constant("relu"))
    if not isinstance(first, ast.Constant) or first.value is not True or None in given:
        return False
    return isinstance(activation, ast.Constant) and activation.value in ("relu", "gelu") and "bias" not in given


@question
def layers_are_in_sight(ctx: FileContext, path: str) -> Answer:
    """Whether the layers in a file surely are of those that the fused path takes, and run without gradients.

    It takes an even number of heads and one `eps` only, which may come from a configuration, and batches: no single
    sequences (`without_batches`).
    """
    where = program(ctx.index, path)
    layers = [node for node in where.all(ast.Call) if where.calls(node, _LAYERS)] if where is not None else []
    heads = [argument(layer, "nhead", 1) for layer in layers]
    odd = [
        Evidence(path, layer.lineno, "the number of heads is not in sight")
        for layer, given in zip(layers, heads, strict=True)
        if given is not None and not isinstance(literal(given), int)
    ]
    others = [
        each.evidence(node, "the fused path may not be taken here")
        for each in programs(ctx, (b".eps", *(word.encode() for word in _SWITCHES)), "eps", *_SWITCHES)
        for node in each.all(ast.Attribute, ast.Name)
        if (isinstance(node, ast.Attribute) and node.attr == "eps" and isinstance(node.ctx, ast.Store))
        or (dotted(node) or "").rpartition(".")[2] in _SWITCHES
    ]
    in_sight = unless([*odd, *others, *_switched_by_name(ctx), *_single_sequences(ctx)])
    if where is None:
        return in_sight
    return in_sight & modules_keep(where, "train", "__call__") & other_files_leave_it_alone(where)  # keeps_its_dropout


def _single_sequences(ctx: FileContext) -> Iterator[Evidence]:
    for where in programs(ctx, (b"batch_size",), "batch_size"):
        for call in where.all(ast.Call):
            for given in call.keywords:
                if given.arg == "batch_size" and is_none(given.value):
                    yield where.evidence(call, "what this gives has no dimension of batches")


def _switched_by_name(ctx: FileContext) -> Iterator[Evidence]:
    """What is taken from `torch.backends` by a computed name: it may switch the fused path off (`switched_by_name`)."""
    for where in programs(ctx, (b"backends",), "backends"):
        for call in where.all(ast.Call):
            match call.func, call.args:
                case ast.Name(id="getattr"), [owner, name, *_] if not isinstance(name, ast.Constant):
                    parts = (each for each in ast.walk(owner) if isinstance(each, ast.Name | ast.Attribute))
                    if any(each.startswith("torch.backends") for part in parts for each in where.origin(part)):
                        yield where.evidence(call, "the fused path may be switched here")
