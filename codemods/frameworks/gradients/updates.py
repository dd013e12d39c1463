"""Weights that code changes by hand: whether gradients are on where it does, and whether they are leaves."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, callers, keyword, literal
from codemods.analysis.mentions import definers, mentions, stores, stores_none
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, no, question, unknown, unless
from codemods.frameworks.autocast.regions import unknown_managers
from codemods.frameworks.gradients.grad_mode import grad_mode, gradients
from codemods.model.edits import Evidence
from codemods.model.names import PARAMETER
from codemods.syntax.module import FUNCTIONS, LOOPS, Function, own

_DEPTH = 3
_SECOND_ORDER = ("create_graph", "functional_call", "higher", "jacrev", "vjp")
"""Names by which a program differentiates through its updates."""
_PARAMETERS = ("parameters", "named_parameters")


def parameters_of(ctx: PythonContext, name: ast.Name) -> ast.expr | None:
    """The model whose parameters a loop gives a name, `for p in model.parameters()`: also one of several in `zip`."""
    loop = ctx.enclosing(name, *LOOPS[:2])
    while isinstance(loop, (ast.For, ast.AsyncFor)):
        if any(isinstance(node, ast.Name) and node.id == name.id for node in ast.walk(loop.target)):
            return _model_of(ctx, loop, name.id)
        loop = ctx.enclosing(loop, *LOOPS[:2])
    return None


def _model_of(ctx: PythonContext, loop: ast.For | ast.AsyncFor, name: str) -> ast.expr | None:
    given: ast.expr | None = loop.iter
    match loop.iter, loop.target:
        case ast.Call(func=ast.Name(id="zip"), args=parts), ast.Tuple(elts=targets) if len(parts) == len(targets):
            held = [
                part
                for part, target in zip(parts, targets, strict=True)
                if any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(target))
            ]
            given = held[0] if len(held) == 1 else None
    match given:
        case ast.Call(func=ast.Attribute(value=model, attr=method)) if method in _PARAMETERS:
            return model
    return None


@question
def gradients_stay_on(ctx: PythonContext, node: ast.AST) -> Answer:
    """Whether nobody switches gradients off around a place: not in its function, nor where that is called."""
    places: list[Evidence] = []
    for each in _modes(ctx, node, _DEPTH):
        if each is None:
            return no()
        places.append(each)
    return unless(places)


def _modes(ctx: PythonContext, node: ast.AST, depth: int) -> Iterator[Evidence | None]:
    """The places around a node that may switch gradients off; None: one does."""
    for manager in reversed(ctx.regions(node)):
        mode = grad_mode(ctx, manager.entered)
        if mode == "maybe":
            yield ctx.evidence(manager.entered, f"`{ctx.written(manager.entered)}` may switch gradients off")
        elif mode:
            yield from [None] if mode == "off" else []
            return
    yield from unknown_managers(ctx, node)
    function = ctx.function(node)
    if not isinstance(function, FUNCTIONS):
        yield from (each.evidence("gradients may be off from here on") for each in mentions(ctx, "set_grad_enabled"))
        return
    found = [*callers(ctx, function)] if depth else []
    methods = ctx.klass(function) is not None and isinstance(ctx.parent(function), ast.ClassDef)
    named = [(each.ctx, each.call) for each in mentions(ctx, function.name)] if methods and depth else []
    others = [(where, call) for where, call in named if call is not None and (where, call) not in found]
    if not (found or others) or _is_handed_on(ctx, function):
        yield ctx.evidence(function, "who calls this may switch gradients off")
    for where, call in found:
        yield from _modes(where, call, depth - 1)
    for where, call in others:  # of an object that may be of this class
        off = where.evidence(call, "gradients may be off here")
        yield from (off if each is None else each for each in _modes(where, call, depth - 1))


def _is_handed_on(ctx: PythonContext, function: Function) -> bool:
    """Whether a function is named without being called, and may be called anywhere."""
    return any(each.is_kept for each in mentions(ctx, function.name))


@question
def parameters_are_of_modules(ctx: PythonContext, model: ast.expr) -> Answer:
    """Whether no class of the project has a `parameters()` of its own, which may give computed tensors.

    Fixture: `fast_weights`.
    """
    return unless(
        Evidence(path, klass.methods[method].line, f"`{ctx.written(model)}` may be a `{klass.name}`")
        for path, klass, method in definers(ctx, *_PARAMETERS)
    )


@question
def average_is_not_trained_through(ctx: PythonContext, model: ast.expr) -> Answer:
    """Whether the function that updates an average does not call it with gradients on (`trained_through`)."""
    return unless(
        ctx.evidence(call, "a loss of the average may want the graph of its update")
        for name, scope in _named_by_callers(ctx, model)
        for call in own(scope)
        if isinstance(call, ast.Call) and ctx.name(call.func) == name and gradients(ctx, call) != "off"
    )


def _named_by_callers(ctx: PythonContext, model: ast.expr) -> Iterator[tuple[str, ast.AST]]:
    """What a model is called, with the scope: in its own function, and in those of the file that hand it over."""
    name, scope = ctx.name(model), ctx.scope(model)
    if name is not None:
        yield name, scope
    if isinstance(scope, FUNCTIONS) and name in ctx.parameter_names(scope):  # trained_through_by_a_caller
        names = [each.arg for each in scope.args.args]
        position = names.index(name) if name in names else 0
        for call in ctx.all(ast.Call):
            if (ctx.name(call.func) or "").rpartition(".")[2] == scope.name:
                value = argument(call, name, position)
                if value is not None and (given := ctx.name(value)) is not None:
                    yield given, ctx.scope(call)


def is_frozen_here(ctx: PythonContext, model: ast.expr) -> bool:
    """Whether a function freezes a model: an update from it has no graph (`both_frozen`)."""
    name, scope = ctx.name(model), ctx.scope(model)
    return any(
        each.ctx is ctx and each.receiver is not None and ctx.name(each.receiver) == name
        for each in mentions(ctx, "requires_grad_")
        if each.ctx is ctx and ctx.scope(each.node) is scope
    )


@question
def no_update_is_differentiated(ctx: PythonContext) -> Answer:
    """Whether the program differentiates no gradients: what it computes from them may be wanted (`meta_average`)."""
    return unless(each.evidence("updates may be differentiated, too") for each in mentions(ctx, *_SECOND_ORDER))


@question
def weights_are_leaves(ctx: PythonContext, weight: ast.expr) -> Answer:
    """Whether what is changed surely is a leaf that requires gradients: a parameter, or made with `requires_grad`."""
    given = [each for each in stores(ctx, "grad") if each.word == "grad" and not stores_none(each)]
    doubts = [each.evidence("what has this gradient may require none") for each in given]
    if isinstance(weight, ast.Name) and (model := parameters_of(ctx, weight)) is not None:
        others = any(definers(ctx, *_PARAMETERS))
        frozen = [each for each in stores(ctx, "requires_grad") if each.word == "requires_grad"]
        doubts += [each.evidence("this may freeze it") for each in frozen]
        return unless([*doubts, ctx.evidence(model, "these may be no parameters of torch")] if others else doubts)
    found, complete = possible_values(ctx, weight)
    made = found and all(_requires(each.ctx, each.node) for each in found if not isinstance(each.node, ast.AugAssign))
    if complete and made:
        return unless(doubts)
    return unknown(ctx.evidence(weight, "this may be no leaf that requires gradients"))


def _requires(ctx: PythonContext, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if ctx.means(node.func, PARAMETER):
        switched = keyword(node, "requires_grad")
        return len(node.args) < 2 and (switched is None or literal(switched) is True)
    origins = ctx.origin(node.func)
    return (
        bool(origins)
        and all(each.startswith("torch.") for each in origins)
        and (literal(keyword(node, "requires_grad")) is True)
    )
