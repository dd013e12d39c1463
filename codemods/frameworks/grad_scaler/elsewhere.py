"""What other code decides about a scaler: of which class it is, and whether somebody else unscales."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from codemods.frameworks.accelerators import binder, parameters
from codemods.frameworks.grad_scaler.receivers import kind
from codemods.frameworks.grad_scaler.steps import Scaler, Training
from codemods.frameworks.gradient_consumers import Code, imports_of
from codemods.model.edits import Evidence
from codemods.rules.context import Context
from codemods.syntax import flow


def home(training: Training, scaler: Scaler) -> cst.CSTNode | None:
    """The function, or the module, that makes the scaler; None for parameters and attributes."""
    ctx, scope = training.ctx, training.scope
    while "." not in scaler.name and scaler.constructors:
        if isinstance(scope, cst.Module) or ctx.bindings(scope).get(scaler.name):
            return scope
        around = ctx.scope(scope)
        if not isinstance(around, (cst.FunctionDef, cst.Module)):
            return None
        scope = around
    return None


def is_gradient_scaler(training: Training, scaler: Scaler) -> tuple[bool | None, Evidence | None]:
    """Whether the scaler is one of torch's, with every method: by its class, or by what all callers in sight give.

    False: a caller gives another one, with the place; None: that cannot be told.
    """
    if scaler.known:
        return True, None
    scope = binder(training.ctx, scaler.name, training.scope)
    if not isinstance(training.scope, cst.FunctionDef) or "." in scaler.name:
        return None, None
    if scaler.name in {p.name.value for p in parameters(training.scope)}:
        scope = training.scope
    if not isinstance(scope, cst.FunctionDef):
        return None, None
    verdicts = list(_given(training.ctx, scope, scaler.name))
    wrong = next((place for verdict, place in verdicts if verdict is False), None)
    if wrong is not None:
        return False, wrong
    return (True if verdicts and all(v for v, _ in verdicts) else None), None


def _given(
    ctx: Context, function: cst.FunctionDef, name: str, depth: int = 4
) -> Iterator[tuple[bool | None, Evidence | None]]:
    """Of each value that callers give for a parameter: whether it is a gradient scaler; `None` is none."""
    if depth == 0 or name in ctx.bindings(function):
        yield None, None
        return
    for given in Code(()).given(ctx, function, name):
        if given is None:
            yield None, None
            continue
        where, value = given
        match kind(where, value):
            case "scaler":
                yield True, None
            case "other" if isinstance(value, cst.Call) and where.origin(value.func):
                yield False, where.evidence(value, "another class of scaler is given")
            case "unknown" if isinstance(value, cst.Name):
                outer = binder(where, value.value, value)
                if isinstance(outer, cst.FunctionDef):
                    yield from _given(where, outer, value.value, depth - 1)
                else:
                    yield None, None
            case "unknown" | "other":
                yield None, None


def used_anywhere(ctx: Context, *methods: str) -> bool:
    """Whether any code of the project names one of these methods of a scaler; `scale` counts where it is called."""
    for path in ctx.index.search(ctx.path, tuple(method.encode() for method in methods)):
        if (other := ctx.other(path)) is None:
            return True
        for attribute in other.all(cst.Attribute, *methods):
            if attribute.attr.value in methods:
                above = other.parent(attribute)
                if attribute.attr.value != "scale" or (isinstance(above, cst.Call) and above.func is attribute):
                    return True
    return False


def unscaled_elsewhere(training: Training, scaler: Scaler) -> Evidence | None:
    """Another function that may unscale before the clip: a handler, a hook, a method; None where there is none."""
    ctx, scope = training.ctx, training.scope
    made_in = home(training, scaler)
    if made_in is scope and isinstance(scope, cst.FunctionDef):
        return None
    paths = (ctx.path,) if isinstance(made_in, cst.FunctionDef) else ctx.index.search(ctx.path, (b"unscale_",))
    for path in paths:
        other = ctx.other(path)
        for attribute in other.all(cst.Attribute, "unscale_") if other else ():
            if other is None or attribute.attr.value != "unscale_" or attribute in training.nodes:
                continue
            if isinstance(made_in, cst.FunctionDef) and made_in not in other.ancestors(attribute):
                continue
            if isinstance(made_in, cst.Module) and path != ctx.path and not imports_of(ctx, path, ctx.path):
                continue
            if made_in is None and "." not in (other.name(attribute.value) or ".") and _is_made(other, attribute.value):
                continue
            if not _steps_itself(other, attribute) and _may_be(training, scaler, other, attribute):
                return other.evidence(attribute, f"`{other.module.code_for_node(attribute)}` may run before it")
    return None


def _is_made(ctx: Context, name: cst.BaseExpression) -> bool:
    """Whether a name is given nothing but scalers made in sight."""
    values = [b.value for b in ctx.assigned(name) or ()]
    return bool(values) and all(isinstance(v, cst.Call) and kind(ctx, v) == "scaler" for v in values)


def _steps_itself(ctx: Context, attribute: cst.Attribute) -> bool:
    """Whether the function that unscales also steps with the same scaler: a training loop of its own."""
    name, scope = ctx.name(attribute.value), ctx.scope(attribute)
    body = scope.body if isinstance(scope, cst.FunctionDef) else scope
    return any(isinstance(n, cst.Attribute) and ctx.name(n) == f"{name}.step" for n in flow.own(body))


def _may_be(training: Training, scaler: Scaler, other: Context, attribute: cst.Attribute) -> bool:
    """Whether the receiver of an `unscale_` may be this scaler: by its last name, through a name for it, too."""
    if other.name(attribute.value) is None:
        return True
    last = scaler.name.rpartition(".")[2]
    return last in names(other, attribute.value) and not unrelated(training, scaler, other, attribute)


def names(ctx: Context, receiver: cst.BaseExpression, depth: int = 3) -> frozenset[str]:
    """The last names under which a value goes: as written, of what the name is given, and of what callers give."""
    found = {(ctx.name(receiver) or "").rpartition(".")[2]}
    for binding in (ctx.assigned(receiver) or ()) if depth else ():
        if binding.value is not None:
            found |= names(ctx, binding.value, depth - 1)
    if depth and isinstance(receiver, cst.Name):
        function = binder(ctx, receiver.value, receiver)
        if isinstance(function, cst.FunctionDef) and receiver.value not in ctx.bindings(function):
            for given in Code(()).given(ctx, function, receiver.value):
                found |= names(*given, depth - 1) if given else frozenset()
    return frozenset(found - {""})


def unrelated(training: Training, scaler: Scaler, other: Context, attribute: cst.Attribute) -> bool:
    """Whether both are attributes of `self`, in classes that surely have nothing to do with each other."""
    here, there = training.ctx.method(training.scope), other.method(attribute)
    written, last = other.name(attribute.value) or "", scaler.name.rpartition(".")[2]
    if here is None or there is None or written.rpartition(".")[0] != there.self:
        return False
    if scaler.name != f"{here.self}.{last}":
        return False
    index = training.ctx.index
    lines = index.lineage(here.owner), index.lineage(there.owner)
    related = here.owner in lines[1].refs or there.owner in lines[0].refs
    return not related and lines[0].complete and lines[1].complete
