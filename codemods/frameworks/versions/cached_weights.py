"""Where a project surely meets the autocast cache of torch before 2.11: a module is used with gradients off, and then
with gradients on, in one region of autocast."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.analysis.calls import literal
from codemods.analysis.other_files import other_files_leave_it_alone
from codemods.analysis.python_context import PythonContext
from codemods.analysis.unfollowed import helpers_leave_it_alone, nothing_here_is_unfollowed
from codemods.flow.answers import Answer
from codemods.frameworks.autocast.modules import something_is_cast, weights_are_float32
from codemods.frameworks.autocast.questions import (
    cache_is_left_alone,
    forward_is_its_own,
    no_manager_is_unknown,
    runs_under_autocast,
    weights_are_as_made,
)
from codemods.frameworks.gradients.grad_mode import gradients
from codemods.frameworks.versions.call_graph import methods, programs, trains_in_mixed_precision
from codemods.model.computed import Computed
from codemods.model.names import AUTOCAST, LIGHTNING_MODULE, TORCH_MODULE
from codemods.project.index import Ref
from codemods.rules.file_context import FileContext
from codemods.syntax.facts import dotted
from codemods.syntax.module import own

_WITH_WEIGHTS = frozenset(f"torch.nn.{name}" for name in ("Linear", "Sequential", "Conv1d", "Conv2d", "Conv3d"))
_CLEARING = ("clear_autocast_cache", "cache_enabled", "set_autocast_cache_enabled")


@dataclass(frozen=True, slots=True)
class CachedUse:
    """The use with gradients off."""

    path: str
    line: int
    name: str
    in_step: bool
    """The region is Lightning's own, around `training_step`."""
    is_bug: tuple[Answer, ...]
    """What it rests on that autocast keeps the copies that have no gradient."""


def pair(ctx: FileContext) -> CachedUse | None:
    """The first one of the project."""
    return ctx.index.recall((pair, ctx.index.root(ctx.path)), lambda: _pair(ctx))


def _pair(ctx: FileContext) -> CachedUse | None:
    mixed: bool | None = None
    for where in programs(ctx, (b"no_grad", b"inference_mode"), "autocast", "def training_step"):
        if any(word in where.text for word in _CLEARING):
            continue
        for block in where.all(ast.With):
            if any(_opens(where, item.context_expr) for item in block.items) and (found := _first(where, block)):
                return _use(where, *found, in_step=False)
        for ref, method in methods(where):
            if method.name == "training_step" and ctx.index.descends(ref, LIGHTNING_MODULE):
                found = _first(where, method, ref)
                mixed = trains_in_mixed_precision(ctx) if found and mixed is None else mixed
                if found and mixed:
                    return _use(where, *found, in_step=True)
    return None


def _opens(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a context manager surely opens a region that is on."""
    if not isinstance(node, ast.Call) or not ctx.calls(node, AUTOCAST):
        return False
    given = {k.arg: k.value for k in node.keywords}
    return None not in given and literal(given.get("enabled", ast.Constant(True))) is True


def _use(ctx: PythonContext, off: ast.Call, on: ast.Call, name: str, *, in_step: bool) -> CachedUse:
    scope = ctx.scope(off)
    is_bug = (
        weights_are_float32(ctx, tuple(name.split("."))),
        no_manager_is_unknown(ctx, off, on),
        cache_is_left_alone(ctx, scope),
        forward_is_its_own(ctx),
        runs_under_autocast(ctx, scope),
        other_files_leave_it_alone(ctx, computed=Computed.NOTHING),
        nothing_here_is_unfollowed(ctx, off),
        helpers_leave_it_alone(ctx, off, computed=Computed.NOTHING),
        something_is_cast(ctx, off),
        weights_are_as_made(ctx),
    )
    return CachedUse(ctx.path, off.lineno, name, in_step, is_bug)


def _first(
    ctx: PythonContext, region: ast.With | ast.FunctionDef, owner: Ref | None = None
) -> tuple[ast.Call, ast.Call, str] | None:
    """Two calls of one module, and its name: with gradients off, and the first one later with gradients on."""
    off: dict[str, ast.Call] = {}
    for node in own(region):
        if isinstance(node, ast.Call) and (name := ctx.name(node.func)):
            mode = gradients(ctx, node)
            if mode == "off":
                off.setdefault(name, node)
            elif name in off and mode != "maybe" and _is_module(ctx, name, owner):
                return off[name], node, name
    return None


def _is_module(ctx: PythonContext, name: str, owner: Ref | None) -> bool:
    """Whether a name is used as a module that is trained: asked for its parameters, and never frozen."""
    if owner is not None and name == "self":
        return True
    used = [(call, method) for call in ctx.all(ast.Call) if (method := _method_of(call, name)) is not None]
    if any(method == "requires_grad_" and _is_off(call) for call, method in used):
        return False
    if owner is not None and name.startswith("self.") and name.count(".") == 1:
        values = [a.value for _, a in ctx.index.assigned(owner, name.removeprefix("self."))]
        return len(values) == 1 and _constructs_module(ctx, values[0].dotted if values[0].call else None)
    return any(
        method in ("train", "zero_grad") or (method == "parameters" and _is_handed_on(ctx, call))
        for call, method in used
    )


def _method_of(call: ast.Call, name: str) -> str | None:
    """The method that a call calls on a module of this name, also as an attribute, or on what wraps it."""
    if not isinstance(call.func, ast.Attribute) or (held := dotted(call.func.value)) is None:
        return None
    same = any(each == name or each.endswith(f".{name}") for each in (held, held.removesuffix(".module")))
    return call.func.attr if same else None


def _is_handed_on(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether the parameters are given to something, such as an optimizer, and not only looped over."""
    match ctx.parent(call):
        case ast.Call(args=[first, *_]):
            return first is call
        case ast.keyword() | ast.List() | ast.BinOp() | ast.Assign():
            return True
    return False


def _is_off(call: ast.Call) -> bool:
    given = [*call.args, *(k.value for k in call.keywords)]
    return bool(given) and isinstance(given[0], ast.Constant) and given[0].value is False


def _constructs_module(ctx: PythonContext, called: str | None) -> bool:
    origins = ctx.index.resolve(ctx.path, called) if called else frozenset[str]()
    if len(origins) != 1:
        return False
    where, inside, name = next(iter(origins)).partition(":")
    if inside:
        return ctx.index.descends(Ref(where, name), TORCH_MODULE) is True
    return where in _WITH_WEIGHTS
