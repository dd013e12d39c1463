"""Where a gradient scaler comes from, of which class it is, and under which names it goes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.analysis.calls import binder, given
from codemods.analysis.grad_scaler import Scaler, kind
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import Training
from codemods.analysis.values import Following, PossibleValue, possible_values, verdicts
from codemods.model.edits import Evidence
from codemods.project.index import Index
from codemods.syntax.module import FUNCTIONS, Function, Scope


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
    paths = ctx.index.search(ctx.path, tuple(method.encode() for method in methods))
    index = ctx.index
    return index.recall((used_anywhere, methods, paths), lambda: any(_uses(index, path, methods) for path in paths))


def _uses(index: Index, path: str, methods: Sequence[str]) -> bool:
    """Whether a file does; also where it cannot be read."""
    facts = index.facts(path)
    if facts is not None and facts.mentioned.isdisjoint(methods):
        return False
    if (module := index.syntax(path)) is None:
        return True
    for attribute in module.all(ast.Attribute):
        if attribute.attr in methods:
            above = module.parent(attribute)
            if attribute.attr != "scale" or (isinstance(above, ast.Call) and above.func is attribute):
                return True
    return False


def names(ctx: PythonContext, receiver: ast.expr) -> frozenset[str]:
    """The last names under which a value goes: as written, of what the name is given, and of what callers give."""
    found: set[str] = set()

    def note(value: PossibleValue) -> None:
        found.add((value.ctx.name(value.node) or "").rpartition(".")[2])

    verdicts(PossibleValue(ctx, receiver, following=Following(given=given)), note)
    return frozenset(found - {""})
