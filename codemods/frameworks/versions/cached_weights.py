"""Where a project surely meets the autocast cache of torch before 2.11: a module is used with gradients off, and then
with gradients on, in one region of autocast."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemods.frameworks.versions.call_graph import means, methods, programs, switches_off, trains_in_mixed_precision
from codemods.model.names import AUTOCAST, LIGHTNING_MODULE, TORCH_MODULE
from codemods.project.index import Ref
from codemods.rules.file_context import FileContext
from codemods.syntax.facts import dotted
from codemods.syntax.module import Module

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
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


def pair(ctx: FileContext) -> CachedUse | None:
    """The first one of the project."""
    mixed: bool | None = None
    for path, text, module in programs(ctx, (b"no_grad", b"inference_mode"), "autocast", "def training_step"):
        if any(word in text for word in _CLEARING):
            continue
        for node in module.all(ast.With) if "autocast" in text else ():
            if _is_region(ctx, path, node):
                if found := _first(ctx, path, module, node.body):
                    return CachedUse(path, *found, in_step=False)
        for ref, method in methods(module, path) if "def training_step" in text else ():
            if method.name == "training_step" and ctx.index.descends(ref, LIGHTNING_MODULE):
                if any(switches_off(ctx, path, decorator) for decorator in method.decorator_list):
                    continue
                found = _first(ctx, path, module, method.body, ref)
                mixed = trains_in_mixed_precision(ctx) if found and mixed is None else mixed
                if found and mixed:
                    return CachedUse(path, *found, in_step=True)
    return None


def _is_region(ctx: FileContext, path: str, block: ast.With) -> bool:
    contexts = [item.context_expr for item in block.items]
    return any(_opens(ctx, path, c) for c in contexts) and not any(switches_off(ctx, path, c) for c in contexts)


def _opens(ctx: FileContext, path: str, node: ast.expr) -> bool:
    """Whether a context manager surely opens a region that is on."""
    if not isinstance(node, ast.Call) or not means(ctx, path, node, AUTOCAST):
        return False
    given = {k.arg: k.value for k in node.keywords}
    enabled = given.get("enabled", ast.Constant(True))
    return None not in given and isinstance(enabled, ast.Constant) and enabled.value is True


def _first(
    ctx: FileContext, path: str, module: Module, body: Sequence[ast.stmt], owner: Ref | None = None
) -> tuple[int, str] | None:
    """Line and name of the first module that is called with gradients off, and later with gradients on."""
    off: dict[str, int] = {}
    for name, line, on in _calls(ctx, path, body, True):
        if not on:
            off.setdefault(name, line)
        elif name in off and _is_module(ctx, path, module, name, owner):
            return off[name], name
    return None


def _calls(ctx: FileContext, path: str, body: Sequence[ast.AST], on: bool) -> Iterator[tuple[str, int, bool]]:
    """The calls of names in the order in which they stand: name, line, whether gradients are on."""
    for node in body:
        if isinstance(node, _FUNCTIONS):
            continue
        now = on
        if isinstance(node, ast.With):
            now = on and not any(switches_off(ctx, path, item.context_expr) for item in node.items)
        yield from _calls(ctx, path, list(ast.iter_child_nodes(node)), now)
        if isinstance(node, ast.Call) and (name := dotted(node.func)):
            yield name, node.lineno, on


def _is_module(ctx: FileContext, path: str, module: Module, name: str, owner: Ref | None) -> bool:
    """Whether a name is used as a module that is trained: asked for its parameters, and never frozen."""
    if owner is not None and name == "self":
        return True
    used = [(call, method) for call in module.all(ast.Call) if (method := _method_of(call, name)) is not None]
    if any(method == "requires_grad_" and _is_off(call) for call, method in used):
        return False
    if owner is not None and name.startswith("self.") and name.count(".") == 1:
        values = [a.value for _, a in ctx.index.assigned(owner, name.removeprefix("self."))]
        return len(values) == 1 and _constructs_module(ctx, path, values[0].dotted if values[0].call else None)
    return any(
        method in ("train", "zero_grad") or (method == "parameters" and _is_handed_on(module, call))
        for call, method in used
    )


def _method_of(call: ast.Call, name: str) -> str | None:
    """The method that a call calls on a module of this name, also as an attribute, or on what wraps it."""
    if not isinstance(call.func, ast.Attribute) or (held := dotted(call.func.value)) is None:
        return None
    same = any(each == name or each.endswith(f".{name}") for each in (held, held.removesuffix(".module")))
    return call.func.attr if same else None


def _is_handed_on(module: Module, call: ast.Call) -> bool:
    """Whether the parameters are given to something, such as an optimizer, and not only looped over."""
    match module.parent(call):
        case ast.Call(args=[first, *_]):
            return first is call
        case ast.keyword() | ast.List() | ast.BinOp() | ast.Assign():
            return True
    return False


def _is_off(call: ast.Call) -> bool:
    given = [*call.args, *(k.value for k in call.keywords)]
    return bool(given) and isinstance(given[0], ast.Constant) and given[0].value is False


def _constructs_module(ctx: FileContext, path: str, called: str | None) -> bool:
    origins = ctx.index.resolve(path, called) if called else frozenset[str]()
    if len(origins) != 1:
        return False
    where, inside, name = next(iter(origins)).partition(":")
    if inside:
        return ctx.index.descends(Ref(where, name), TORCH_MODULE) is True
    return where in _WITH_WEIGHTS
