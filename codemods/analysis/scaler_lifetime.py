"""Where a gradient scaler comes from, and which other code may use it: of which class it is, and who else unscales."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import binder, given, imports_of
from codemods.analysis.grad_scaler import Scaler, kind
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import Training
from codemods.analysis.values import Following, PossibleValue, possible_values, verdicts
from codemods.model.edits import Evidence
from codemods.syntax.module import FUNCTIONS, Function, Scope, own


def home(training: Training, scaler: Scaler) -> Scope | None:
    """The function, or the module, that makes the scaler; None for parameters and attributes."""
    ctx, scope = training.ctx, training.scope
    while "." not in scaler.name and scaler.constructors:
        if isinstance(scope, ast.Module) or ctx.bindings(scope).get(scaler.name):
            return scope
        scope = ctx.scope(scope)
        if not isinstance(scope, (ast.Module, *FUNCTIONS)):
            return None
    return None


def is_gradient_scaler(training: Training, scaler: Scaler) -> tuple[bool | None, Evidence | None]:
    """Whether the scaler is one of torch's, with every method: by its class, or by what all callers in sight give.

    False: a caller gives another one, with the place; None: that cannot be told.
    """
    if scaler.known:
        return True, None
    ctx, scope = training.ctx, training.scope
    if not isinstance(scope, FUNCTIONS) or "." in scaler.name:
        return None, None
    bound = scope if scaler.name in ctx.parameter_names(scope) else binder(ctx, scaler.name, scope)
    if not isinstance(bound, FUNCTIONS) or scaler.name in ctx.bindings(bound):
        return None, None
    verdicts = list(_given(ctx, bound, scaler.name))
    wrong = next((place for verdict, place in verdicts if verdict is False), None)
    if wrong is not None:
        return False, wrong
    return (True if verdicts and all(v for v, _ in verdicts) else None), None


def _given(ctx: PythonContext, function: Function, name: str) -> Iterator[tuple[bool | None, Evidence | None]]:
    """Of each value that callers give for a parameter: whether it is a gradient scaler; `None` is none."""
    for each in given(ctx, function, name):
        found, complete = possible_values(*each, given=given) if each is not None else ([], False)
        if not complete:
            yield None, None
        for value in found:
            match kind(value), value.node:
                case "scaler", _:
                    yield True, None
                case "other", ast.Call() as call if value.ctx.origin(call.func):
                    yield False, value.ctx.evidence(call, "another class of scaler is given")
                case (("unknown" | "other"), _):
                    yield None, None


def used_anywhere(ctx: PythonContext, *methods: str) -> bool:
    """Whether any code of the project names one of these methods of a scaler; `scale` counts where it is called."""
    for path in ctx.index.search(ctx.path, tuple(method.encode() for method in methods)):
        if (other := ctx.other(path)) is None:
            return True
        for attribute in other.all(ast.Attribute):
            if attribute.attr in methods:
                above = other.parent(attribute)
                if attribute.attr != "scale" or (isinstance(above, ast.Call) and above.func is attribute):
                    return True
    return False


def unscaled_elsewhere(training: Training, scaler: Scaler) -> Evidence | None:
    """Another function that may unscale before the clip: a handler, a hook, a method; None where there is none."""
    ctx, scope = training.ctx, training.scope
    made_in = home(training, scaler)
    if made_in is scope and isinstance(scope, FUNCTIONS):
        return None
    mine = set(training.nodes)
    paths = (ctx.path,) if isinstance(made_in, FUNCTIONS) else ctx.index.search(ctx.path, (b"unscale_",))
    for path in paths:
        other = ctx.other(path)
        for attribute in other.all(ast.Attribute) if other else ():
            if other is None or attribute.attr != "unscale_" or attribute in mine:
                continue
            if isinstance(made_in, FUNCTIONS) and not other.module.contains(made_in, attribute):
                continue
            if isinstance(made_in, ast.Module) and path != ctx.path and not imports_of(ctx, path, ctx.path):
                continue
            if made_in is None and "." not in (other.name(attribute.value) or ".") and _is_made(other, attribute.value):
                continue
            if not _steps_itself(other, attribute) and _may_be(training, scaler, other, attribute):
                return other.evidence(attribute, f"`{other.source(attribute)}` may run before it")
    return None


def _is_made(ctx: PythonContext, name: ast.expr) -> bool:
    """Whether a name is given nothing but scalers made in sight."""
    found, complete = possible_values(ctx, name)
    return complete and all(kind(each) == "scaler" for each in found)


def _steps_itself(ctx: PythonContext, attribute: ast.Attribute) -> bool:
    """Whether the function that unscales also steps with the same scaler: a training loop of its own."""
    step = f"{ctx.name(attribute.value)}.step"
    return any(isinstance(n, ast.Attribute) and ctx.name(n) == step for n in own(ctx.scope(attribute)))


def _may_be(training: Training, scaler: Scaler, other: PythonContext, attribute: ast.Attribute) -> bool:
    """Whether the receiver of an `unscale_` may be this scaler: by its last name, through a name for it, too."""
    if other.name(attribute.value) is None:
        return True
    last = scaler.name.rpartition(".")[2]
    return last in names(other, attribute.value) and not unrelated(training, scaler, other, attribute)


def names(ctx: PythonContext, receiver: ast.expr) -> frozenset[str]:
    """The last names under which a value goes: as written, of what the name is given, and of what callers give."""
    found: set[str] = set()

    def note(value: PossibleValue) -> None:
        found.add((value.ctx.name(value.node) or "").rpartition(".")[2])

    verdicts(PossibleValue(ctx, receiver, following=Following(given=given)), note)
    return frozenset(found - {""})


def unrelated(training: Training, scaler: Scaler, other: PythonContext, attribute: ast.Attribute) -> bool:
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
