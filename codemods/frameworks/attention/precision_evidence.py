"""Mixed precision that reaches a module: around its call, or in the Trainer or the loop that its class is given to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from codemods.model.names import ACCELERATOR, AUTOCAST, LIGHTNING_TRAINER
from codemods.project import versions
from codemods.project.index import Ref
from codemods.rules.context import Context
from codemods.syntax.rewrite import argument, keyword, literal

MIXED = (16, "16", "bf16", "16-mixed", "bf16-mixed")
_DEPTH = 3
_RUNS = ("fit", "validate", "test", "predict")
_CHAINED = ("to", "cuda", "cpu", "eval", "train", "float", "requires_grad_")
_WITHOUT_GRAD = ("no_grad", "inference_mode", "set_grad_enabled")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a module runs under autocast, and on which device: `cpu`, `gpu` or `unknown`."""

    device: str
    context: Context
    precision: cst.Arg | None = None
    """The argument of the Trainer that says so."""


def region(ctx: Context, node: cst.CSTNode) -> str | None:
    """The device of the innermost autocast region around a node in its function; `off` for a disabled one."""
    below: cst.CSTNode = node
    for above in ctx.ancestors(node):
        opened: list[cst.BaseExpression] = []
        if isinstance(above, cst.With) and below is above.body:
            opened = [item.item for item in reversed(above.items)]
        elif isinstance(above, cst.FunctionDef) and below is above.body:
            opened = [decorator.decorator for decorator in above.decorators]
        for each in opened:
            if isinstance(each, cst.Call) and ctx.calls(each, AUTOCAST):
                return _device(each, ctx)
        if isinstance(above, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            return None
        below = above
    return None


def _device(call: cst.Call, ctx: Context) -> str:
    enabled = keyword(call, "enabled")
    if enabled is not None and literal(enabled.value) is False:
        return "off"
    if ctx.means(call.func, "torch.cuda.amp.autocast"):
        return "cuda"
    if ctx.means(call.func, "torch.cpu.amp.autocast"):
        return "cpu"
    given = argument(call, "device_type", 0)
    kind = literal(given.value) if given is not None else ...
    if not isinstance(kind, str):
        return "unknown"
    if kind == "xpu":  # what the fused path asks speaks of the accelerator at hand since torch 2.14
        return "cpu" if versions.may(ctx.target("torch"), "<2.14") else "cuda"
    return "cpu" if kind == "cpu" else "cuda" if kind.startswith("cuda") else "off"


def reaching(ctx: Context, ref: Ref, depth: int = _DEPTH) -> Iterator[Evidence]:
    """The mixed precision in which instances of a class of this project are evaluated."""
    for other, built in _instances(ctx, ref):
        value: cst.CSTNode = built
        while (chain := _chained(other, value)) is not None:
            value = chain
        holder = other.parent(value)
        if isinstance(holder, cst.Arg):
            yield from _given(other, holder, ref, depth)
        if not isinstance(holder, cst.Assign) or len(holder.targets) != 1:
            continue
        name = other.name(holder.targets[0].target)
        method = other.method(built)
        if name is None:
            continue
        if method is not None and name.startswith(f"{method.self}.") and depth:
            yield from _called(other, name, method.klass)
            yield from reaching(other, method.owner, depth - 1)
        elif "." not in name:
            scope = other.scope(built)
            yield from _called(other, name, scope)
            for arg in other.all(cst.Arg):
                if other.name(arg.value) == name and other.scope(arg) is scope:
                    yield from _given(other, arg, ref, depth)


def _instances(ctx: Context, ref: Ref) -> Iterator[tuple[Context, cst.Call]]:
    for path in ctx.index.search(ref.path, (ref.name.rpartition(".")[2].encode(),)):
        other = ctx.other(path)
        for call in other.all(cst.Call) if other is not None else ():
            named = call.func
            if isinstance(named, cst.Attribute) and named.attr.value == "load_from_checkpoint":
                named = named.value
            if other is not None and other.origin(named) == {str(ref)}:
                yield other, call


def _chained(ctx: Context, value: cst.CSTNode) -> cst.Call | None:
    """`value.to(device)`, `value.eval()`: the same module."""
    attribute = ctx.parent(value)
    call = ctx.parent(attribute) if isinstance(attribute, cst.Attribute) and attribute.value is value else None
    if isinstance(attribute, cst.Attribute) and attribute.attr.value in _CHAINED and isinstance(call, cst.Call):
        return call
    return None


def _called(ctx: Context, name: str, within: cst.CSTNode) -> Iterator[Evidence]:
    """Calls of a name under autocast, in code that evaluates without gradients."""
    if not evaluates(ctx):
        return
    for call in ctx.all(cst.Call):
        if ctx.name(call.func) == name and (within in ctx.ancestors(call) or isinstance(within, cst.Module)):
            if (device := region(ctx, call)) in ("cpu", "unknown"):
                yield Evidence(device, ctx)


def _given(ctx: Context, arg: cst.Arg, ref: Ref, depth: int) -> Iterator[Evidence]:
    """What a module meets where it is passed: a Trainer, an Accelerator, a function of the project."""
    call = ctx.parent(arg)
    if not isinstance(call, cst.Call):
        return
    if isinstance(call.func, cst.Attribute):
        owner, method = call.func.value, call.func.attr.value
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
    if arg.star:
        return
    parameters = [p.name.value for p in (*function.params.posonly_params, *function.params.params)]
    if other.method(function.body) is not None and parameters:
        parameters = parameters[1:]
    position = call.args.index(arg)
    name = arg.keyword.value if arg.keyword is not None else None
    if name is None and position < len(parameters) and not any(a.star for a in call.args[:position]):
        name = parameters[position]
    if name is not None and name not in other.bindings(function):
        yield from _called(other, name, function)


def _set(ctx: Context, owner: cst.BaseExpression, name: str, mixed: tuple[object, ...]) -> Iterator[Evidence]:
    """The precision that the constructor of a Trainer or Accelerator is given."""
    built = owner
    if not isinstance(built, cst.Call):
        found = ctx.assigned(owner) or ()
        if len(found) != 1 or not isinstance(found[0].value, cst.Call):
            return
        built = found[0].value
    given = keyword(built, name)
    if given is None or literal(given.value) not in mixed:
        return
    accelerator, on_cpu = keyword(built, "accelerator"), keyword(built, "cpu")
    kind = literal(accelerator.value) if accelerator is not None else None
    device = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu"}.get(kind, "unknown") if isinstance(kind, str) else "unknown"
    if on_cpu is not None and literal(on_cpu.value) is True:
        device = "cpu"
    yield Evidence(device, ctx, given)


def evaluated(ctx: Context, ref: Ref) -> bool:
    """Whether a LightningModule has anything to do in evaluation."""
    return any(ctx.index.method(ref, f"{stage}_step") for stage in ("validation", "test", "predict"))


def evaluates(ctx: Context) -> bool:
    """Whether a file runs modules in evaluation, without gradients."""
    return any(name in ctx.text for name in _WITHOUT_GRAD) and _switches_to_evaluation(ctx)


def _switches_to_evaluation(ctx: Context) -> bool:
    """Whether a file calls `.eval()` or `.train(False)`."""
    return any(
        isinstance(call.func, cst.Attribute)
        and (call.func.attr.value == "eval" or (call.args and literal(call.args[0].value) is False))
        for call in ctx.named_calls("eval", "train")
    )
