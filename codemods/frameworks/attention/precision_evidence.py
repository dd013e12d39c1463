"""Mixed precision that reaches a module: around its call, or in the Trainer or the loop that its class is given to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.analysis.calls import argument, keyword, literal, named_calls, values
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import made_by
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.autocast.openings import opening
from codemods.model.names import ACCELERATOR, AUTOCAST, LIGHTNING_TRAINER
from codemods.project import versions
from codemods.project.index import Ref

MIXED = (16, "16", "bf16", "16-mixed", "bf16-mixed")
_DEPTH = 3
_RUNS = ("fit", "validate", "test", "predict")
_CHAINED = ("to", "cuda", "cpu", "eval", "train", "float", "requires_grad_")
_WITHOUT_GRAD = ("no_grad", "inference_mode", "set_grad_enabled")


@dataclass(frozen=True, slots=True)
class AutocastUse:
    """Why a module runs under autocast, and on which device: `cpu`, `gpu` or `unknown`."""

    device: str
    context: PythonContext
    precision: ast.keyword | None = None
    """The argument of the Trainer that says so."""


def region(ctx: PythonContext, node: ast.AST) -> str | None:
    """The device of the innermost autocast region around a node in its function; `off` for a disabled one."""
    opened = (each.entered for each in reversed(ctx.regions(node)) if ctx.calls(each.entered, AUTOCAST))
    return next((_device(call, ctx) for call in opened if isinstance(call, ast.Call)), None)


@question
def regions_are_in_sight(ctx: PythonContext, *nodes: ast.AST) -> Answer:
    """Whether every region of autocast around some nodes is opened where it is entered, with its options in sight."""
    hidden = (
        manager.entered
        for node in nodes
        for manager in ctx.regions(node)
        if opening(ctx, manager.entered) is not None and not ctx.calls(manager.entered, AUTOCAST)
    )
    return unless(ctx.evidence(each, f"`{ctx.written(each)}` may switch autocast off") for each in hidden)


def _device(call: ast.Call, ctx: PythonContext) -> str:
    if literal(keyword(call, "enabled")) is False:
        return "off"
    if ctx.means(call.func, "torch.cuda.amp.autocast"):
        return "cuda"
    if ctx.means(call.func, "torch.cpu.amp.autocast"):
        return "cpu"
    kind = literal(argument(call, "device_type", 0))
    if not isinstance(kind, str):
        return "unknown"
    if kind == "xpu":  # what the fused path asks speaks of the accelerator at hand since torch 2.14
        return "cpu" if versions.may(ctx.target("torch"), "<2.14") else "cuda"
    return "cpu" if kind == "cpu" else "cuda" if kind.startswith("cuda") else "off"


def reaching(ctx: PythonContext, ref: Ref, depth: int = _DEPTH) -> Iterator[AutocastUse]:
    """The mixed precision in which instances of a class of this project are evaluated."""
    for other, built in _instances(ctx, ref):
        value: ast.expr = built
        while (chain := _chained(other, value)) is not None:
            value = chain
        holder = other.parent(value)
        yield from _given(other, value, ref, depth)
        if not isinstance(holder, ast.Assign) or len(holder.targets) != 1:
            continue
        name = other.name(holder.targets[0])
        method = other.method(built)
        if name is None:
            continue
        if method is not None and name.startswith(f"{method.self}.") and depth:
            yield from _called(other, name, method.klass)
            yield from reaching(other, method.owner, depth - 1)
        elif "." not in name:
            scope = other.scope(built)
            yield from _called(other, name, scope)
            for node in other.all(ast.Name):
                if node.id == name and other.scope(node) is scope:
                    yield from _given(other, node, ref, depth)


def _instances(ctx: PythonContext, ref: Ref) -> Iterator[tuple[PythonContext, ast.Call]]:
    for path in ctx.index.search(ref.path, (ref.name.rpartition(".")[2].encode(),)):
        other = ctx.other(path)
        for call in other.all(ast.Call) if other is not None else ():
            named = call.func
            if isinstance(named, ast.Attribute) and named.attr == "load_from_checkpoint":
                named = named.value
            if other is not None and other.origin(named) == {str(ref)}:
                yield other, call


def _chained(ctx: PythonContext, value: ast.expr) -> ast.Call | None:
    """`value.to(device)`, `value.eval()`: the same module."""
    attribute = ctx.parent(value)
    call = ctx.parent(attribute) if isinstance(attribute, ast.Attribute) else None
    if isinstance(attribute, ast.Attribute) and attribute.attr in _CHAINED and isinstance(call, ast.Call):
        return call if call.func is attribute else None
    return None


def _called(ctx: PythonContext, name: str, within: ast.AST) -> Iterator[AutocastUse]:
    """Calls of a name under autocast, in code that evaluates without gradients."""
    if not evaluates(ctx):
        return
    for call in named_calls(ctx, name.rpartition(".")[2]):
        if ctx.name(call.func) == name and ctx.module.contains(within, call):
            if (device := region(ctx, call)) in ("cpu", "unknown"):
                yield AutocastUse(device, ctx)


def _given(ctx: PythonContext, value: ast.expr, ref: Ref, depth: int) -> Iterator[AutocastUse]:
    """What a module meets where it is passed: a Trainer, an Accelerator, a function of the project."""
    parent = ctx.parent(value)
    call = ctx.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or call.func is value:
        return
    if isinstance(call.func, ast.Attribute):
        owner, method = call.func.value, call.func.attr
        if method in _RUNS and ctx.is_a(owner, LIGHTNING_TRAINER):
            if method != "fit" or evaluated(ctx, ref):
                yield from _set(ctx, owner, "precision", MIXED)
            return
        if method == "prepare" and ctx.is_a(owner, ACCELERATOR) and _switches_to_evaluation(ctx):
            yield from _set(ctx, owner, "mixed_precision", ("bf16", "fp16"))
            return
    target = ctx.callee(call) if depth else None
    if target is None:
        return
    other, function = target
    parameters = [p.arg for p in (*function.args.posonlyargs, *function.args.args)]
    if (inside := other.method(function)) is not None and inside.node is function and parameters:
        parameters = parameters[1:]
    name = parent.arg if isinstance(parent, ast.keyword) else None
    if value in call.args:
        position = call.args.index(value)
        if position < len(parameters) and not any(isinstance(a, ast.Starred) for a in call.args[:position]):
            name = parameters[position]
    if name is not None and name not in other.bindings(function):
        yield from _called(other, name, function)


def _set(ctx: PythonContext, owner: ast.expr, name: str, mixed: tuple[object, ...]) -> Iterator[AutocastUse]:
    """The precision that the constructor of a Trainer or Accelerator is given."""
    if (built := made_by(ctx, owner)) is None:
        return
    given = next((k for k in built.keywords if k.arg == name), None)
    if given is None or literal(given.value) not in mixed:
        return
    accelerator = keyword(built, "accelerator")
    kind = literal(accelerator) if accelerator is not None else None
    device = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu"}.get(kind, "unknown") if isinstance(kind, str) else "unknown"
    if literal(keyword(built, "cpu")) is True:
        device = "cpu"
    yield AutocastUse(device, ctx, given)


def evaluated(ctx: PythonContext, ref: Ref) -> bool:
    """Whether a LightningModule has anything to do in evaluation."""
    return any(ctx.index.method(ref, f"{stage}_step") for stage in ("validation", "test", "predict"))


def evaluates(ctx: PythonContext) -> bool:
    """Whether a file runs modules in evaluation, without gradients."""
    key = (evaluates,)
    if key not in ctx.memo:
        names = {n.id for n in ctx.all(ast.Name)} | {n.attr for n in ctx.all(ast.Attribute)}
        ctx.memo[key] = not names.isdisjoint(_WITHOUT_GRAD) and _switches_to_evaluation(ctx)
    return bool(ctx.memo[key])


def _switches_to_evaluation(ctx: PythonContext) -> bool:
    """Whether a file calls `.eval()` or `.train(False)`."""
    return any(
        isinstance(call.func, ast.Attribute)
        and (call.func.attr == "eval" or any(literal(value) is False for value in values(call)[:1]))
        for call in named_calls(ctx, "eval", "train")
    )
