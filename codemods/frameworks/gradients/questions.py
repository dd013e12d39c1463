"""Questions about a loss that is copied, cut, or made to require gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from codemods.analysis.calls import keyword, literal, super_method, values
from codemods.analysis.definitions import uses_of
from codemods.analysis.instances import callee, is_module_class, library_values, of
from codemods.analysis.mentions import (
    called_by_text,
    definers,
    may_run_during,
    mentions,
    mentions_during,
    stores,
    stores_none,
)
from codemods.analysis.places import where_defined
from codemods.analysis.python_context import PythonContext
from codemods.analysis.sources import sources
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.frameworks.gradients.differentiated import Sink
from codemods.frameworks.gradients.grad_mode import grad_mode, gradients_on
from codemods.frameworks.gradients.losses import LossOrigin, value
from codemods.model.edits import Evidence
from codemods.model.names import NO_GRAD, OPTIMIZER
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS, LOOPS, Function, own

_FLEETING = frozenset({"item", "detach", "cpu", "numpy", "shape", "dtype", "device"})
"""Attributes of a tensor by which its graph is not kept."""
_HOOKING = ("register_hook", "register_post_accumulate_grad_hook")
_CUT = frozenset({"detach", "item", "data", "cpu"})
WRITING = (
    "copy_",
    "mul_",
    "add_",
    "sub_",
    "div_",
    "lerp_",
    "addcmul_",
    "addcdiv_",
    "fill_",
    "clamp_",
    "zero_",
    "index_copy_",
)
"""Methods that write into a tensor."""
SWITCHING_OFF = ("no_grad", "inference_mode", "set_grad_enabled", "_set_grad_enabled")
SWITCHING_ON = ("enable_grad", "inference_mode", "set_grad_enabled", "_set_grad_enabled")
_MOVING = frozenset(
    {"to", "cuda", "cpu", "numpy", "items", "keys", "values", "get", "pop", "size", "parameters", "optimizers"}
)
"""Methods whose result has no graph that their object lacks, or none at all."""
_MAKING = (
    "torch.optim.",
    "torch.nn.",
    "torch.utils.data.",
    "torch.amp.",
    "torch.cuda.amp.",
    "torch.autograd.grad_mode",
)
_ENDING = frozenset(
    {"backward", "manual_backward", "print", "log", "log_dict", "log_metrics", "info", "debug"}
) | frozenset({"warning", "write", "set_postfix", "set_description", "add_scalar", "step", "unscale_"})
"""What a value is given to, and nobody has it afterwards."""
_KEEPING = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "put"})
"""Methods by which a container keeps what they are given."""


@question
def loss_has_a_graph(ctx: PythonContext, losses: Iterable[ast.expr]) -> Answer:
    """Whether every one of some losses hangs on a graph, as far as their function shows."""
    doubts: list[Evidence] = []
    for loss in losses:
        match value(ctx, loss).made:
            case LossOrigin.GRAPH:
                pass
            case LossOrigin.NUMBER | LossOrigin.CUT:
                return no(ctx.evidence(loss, f"`{ctx.written(loss)}` has no graph"))
            case _:
                doubts.append(where_defined(ctx, loss, f"`{ctx.written(loss)}` may be no tensor with a graph", at=loss))
    return unless(doubts)


@question
def gradients_are_recorded(ctx: PythonContext, losses: Iterable[ast.expr]) -> Answer:
    """Whether the code that makes some losses surely runs with gradients switched on."""
    made = (value for loss in losses for value in possible_values(ctx, loss)[0])
    entered = ((each.ctx, manager.entered) for each in made for manager in each.ctx.regions(each.node))
    doubts = ((where, manager) for where, manager in entered if may_switch(where, manager, SWITCHING_OFF))
    return unless(where.evidence(each, f"`{where.written(each)}` may switch gradients off") for where, each in doubts)


@question
def gradients_stay_off(ctx: PythonContext, managers: Iterable[ast.expr]) -> Answer:
    """Whether no context manager that is entered switches gradients on again."""
    doubts = (each for each in managers if may_switch(ctx, each, SWITCHING_ON))
    return unless(ctx.evidence(each, f"`{ctx.written(each)}` may switch gradients on") for each in doubts)


def may_switch(ctx: PythonContext, entered: ast.expr, words: Sequence[str]) -> bool:
    """Whether a context manager may switch gradients: its code is not in sight, and the program names what does."""
    if ctx.means(
        entered.func if isinstance(entered, ast.Call) else entered,
        NO_GRAD | {"torch.enable_grad", "torch.set_grad_enabled"},
    ):
        return False  # in sight: who asks has looked at it
    made = library_values(ctx, entered)
    # `inference_mode(False)` is no mode of its own, and yet switches gradients on (inference/after, by a base class)
    if made is not None and not any(grad_mode(where, each) or gradients_on(where, each) for where, each in made):
        return False
    return bool(mentions(ctx, *words))


@question
def copy_is_not_trained(ctx: PythonContext, copy: ast.expr) -> Answer:
    """Whether a function gives a copy to no optimizer, and no hook to it: then it is meant (`copy_is_trained`)."""
    holder = ctx.parent(copy)
    uses = uses_of(ctx, holder) if isinstance(holder, ast.stmt) else ()
    return unless(
        ctx.evidence(use, "this may be a parameter, or hand its gradient on")
        for use in uses
        if getattr(ctx.parent(use), "attr", "") in _HOOKING or _is_given_to_an_optimizer(ctx, use)
    )


def _is_given_to_an_optimizer(ctx: PythonContext, use: ast.expr) -> bool:
    above = ctx.parent(use)
    call = ctx.parent(above) if isinstance(above, (ast.List, ast.Tuple)) else above
    return isinstance(call, ast.Call) and ctx.means(call.func, OPTIMIZER)


@question
def no_other_backward_of_a_step(ctx: PythonContext, step: Function) -> Answer:
    """Whether nothing that a `training_step` runs differentiates the loss: then it is the Trainer that does."""
    scopes: dict[ast.AST, PythonContext] = {step: ctx}
    return unless(
        each.evidence(f"`{each.ctx.written(each.node)}` may differentiate the loss already")
        for each in mentions_during(ctx, scopes, "backward", "manual_backward")
    )


@question
def no_other_backward_frees_it(ctx: PythonContext, scope: ast.AST, sink: ast.AST) -> Answer:
    """Whether a function runs no other backward pass: it may free a graph that two losses share (`shared_body`)."""
    places = (
        each
        for each in mentions_during(ctx, {scope: ctx}, "backward", "manual_backward")
        if each.ctx is not ctx or not ctx.module.contains(sink, each.node)
    )
    return unless(
        each.evidence(f"`{each.ctx.written(each.node)}` may free the graph that this loss gets back")
        for each in places
        if not _retains(each.call if each.ctx is not ctx or _place(each.node) < _place(sink) else sink)
    )


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _retains(backward: ast.AST | None) -> bool:
    return isinstance(backward, ast.Call) and literal(keyword(backward, "retain_graph")) is True


@question
def a_trainer_differentiates(ctx: PythonContext, step: Function) -> Answer:
    """Whether nobody else runs a `training_step`, and no plugin of the program has a backward pass of its own."""
    own_passes = (
        Evidence(path, klass.methods[name].line, f"`{klass.name}` has a backward pass of its own")
        for path, klass, name in definers(ctx, "backward")
        if any(base.startswith("lightning.") for base in ctx.index.lineage(Ref(path, klass.name)).external)
    )
    runs = (
        each.evidence(f"`{step.name}` may run here without a Trainer")
        for each in mentions(ctx, step.name)
        if each.ctx is not ctx and (each.call is None or not super_method(each.call))
    )
    by_text = (each for each in called_by_text(ctx) if each.path != ctx.path)
    return unless([*own_passes, *runs, *by_text])


@question
def is_no_other_object(ctx: PythonContext, attribute: str) -> Answer:
    """Whether no class of the program has an attribute that a tensor has, so that it is one of a tensor."""
    return unless(
        Evidence(path, klass.methods[name].line, f"`{klass.name}` has a `{name}` of its own")
        for path, klass, name in definers(ctx, attribute.strip(".()"))
    )


@question
def losses_are_single_numbers(ctx: PythonContext, losses: Iterable[ast.expr]) -> Answer:
    """Whether every one of some losses surely has no dimensions, so that they can be stacked."""
    doubts = (loss for loss in losses if not value(ctx, loss).scalar)
    return unless(where_defined(ctx, loss, f"`{ctx.written(loss)}` may have another shape", at=loss) for loss in doubts)


@question
def graph_is_differentiated_once(
    ctx: PythonContext, sink: Sink, copied: ast.expr, losses: Sequence[ast.expr]
) -> Answer:
    """Whether nothing but one backward pass may want the graph of a loss: the first one frees it.

    Args:
        copied: the copy that leaves the graph behind.
        losses: what it copies.
    """
    return unless([*_other_passes(ctx, sink, copied), *_handed_on(ctx, losses)])


@question
def loss_is_not_kept(ctx: PythonContext, losses: Sequence[ast.expr]) -> Answer:
    """Whether nobody keeps a loss that is copied: who has it may differentiate it, so that it trains all the same."""
    return unless(_handed_on(ctx, losses))


@question
def nobody_makes_gradients(ctx: PythonContext) -> Answer:
    """Whether no code of the program puts gradients into `.grad`: with these, a loss needs no graph (`estimated`)."""
    found = (each for each in stores(ctx, "grad") if each.word == "grad" and not stores_none(each))
    return unless(each.evidence("gradients may be made here") for each in found)


@question
def nobody_writes_weights(ctx: PythonContext, at: ast.AST) -> Answer:
    """Whether nothing that runs beside a place writes into tensors: weights may be trained by hand (`by_hand`)."""
    scopes = {ctx.scope(at): ctx}
    stored = (each for each in stores(ctx, "data") if each.word == "data" and may_run_during(each, scopes))
    written = (*mentions_during(ctx, scopes, *WRITING, "vector_to_parameters"), *stored)
    return unless(each.evidence(f"`{each.ctx.written(each.node)}` may train weights by hand") for each in written)


@question
def copy_is_not_handed_on(ctx: PythonContext, sink: Sink) -> Answer:
    """Whether nobody is given a copy that is differentiated, and so may read its gradient."""
    uses = (use for hop in sink.hops for use in uses_of(ctx, hop))
    others = (use for use in uses if not _is_fleeting(ctx, use, sink) and _is_given_to_the_project(ctx, use))
    return unless(ctx.evidence(use, f"who is given `{ctx.written(use)}` may read its gradient") for use in others)


def _is_given_to_the_project(ctx: PythonContext, use: ast.expr) -> bool:
    call = ctx.parent(use)
    return isinstance(call, ast.Call) and call.func is not use and callee(ctx, call) is not None


def _other_passes(ctx: PythonContext, sink: Sink, copied: ast.expr) -> Iterator[Evidence]:
    scope = ctx.scope(sink.node)
    flow = ctx.flow_of(scope)
    for each in mentions(ctx, "backward", "manual_backward"):
        seen = each.ctx is ctx and ctx.scope(each.node) is scope and each.call is not None and ctx.loss_of(each.call)
        if not seen and each.call is not sink.node and may_run_during(each, {scope: ctx}):
            yield each.evidence("another backward pass may want the same graph")
    for other in own(scope):
        if isinstance(other, ast.Call) and other is not sink.node and ctx.loss_of(other) is not None:
            if not flow.apart(other, sink.node):
                yield ctx.evidence(other, "another backward pass may want the same graph")
    loop = flow.loop(sink.node)
    if loop is not None and loop not in ctx.ancestors(copied):
        yield ctx.evidence(loop, "the graph may be differentiated more than once")


def _handed_on(ctx: PythonContext, losses: Iterable[ast.expr]) -> Iterator[Evidence]:
    """The places that keep a loss with its graph: its function returns it, or gives it to an object."""
    for loss in losses:
        if (name := ctx.name(loss)) is None:
            continue
        for use in own(ctx.scope(loss)):
            if isinstance(use, (ast.Name, ast.Attribute)) and ctx.name(use) == name and _is_kept(ctx, use):
                yield ctx.evidence(use, f"`{name}` is kept, and may be differentiated again")


def _is_kept(ctx: PythonContext, use: ast.expr) -> bool:
    if not isinstance(getattr(use, "ctx", None), ast.Load):
        return False
    above = ctx.parent(use)
    while isinstance(above, (ast.Tuple, ast.List, ast.Dict)):
        use, above = above, ctx.parent(above)
    match above:
        case ast.Return() | ast.Yield():
            return True
        case ast.Assign(targets=targets, value=given) if given is use:
            return any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets)
        case ast.Call(func=ast.Attribute(attr=verb)):
            return verb in _KEEPING
    return False


@question
def cut_value_is_not_used_again(ctx: PythonContext, sink: Sink) -> Answer:
    """Whether the value that is cut from its graph is used for nothing but the backward pass."""
    uses = (use for hop in sink.hops for use in uses_of(ctx, hop) if not _is_fleeting(ctx, use, sink))
    kept = (hop for hop in sink.hops if isinstance(hop, ast.Assign) and not isinstance(hop.targets[0], ast.Name))
    return unless(ctx.evidence(use, f"`{ctx.written(use)}` would keep the graph alive") for use in (*uses, *kept))


def _is_fleeting(ctx: PythonContext, use: ast.expr, sink: Sink) -> bool:
    """Whether a use of the cut value ends there: the backward call itself, a number, or a further cut."""
    if use is sink.value or sink.node in ctx.ancestors(use):
        return True
    match ctx.parent(use):
        case ast.Attribute(attr=attribute):
            return attribute in _FLEETING
        case ast.Call(func=func):
            return func is not use and ctx.name(func) in ("float", "print")
    return False


@question
def loss_is_cut(ctx: PythonContext, loss: ast.expr) -> Answer:
    """Whether a loss surely has no graph."""
    match value(ctx, loss).made:
        case LossOrigin.CUT:
            return yes()
        case LossOrigin.GRAPH:
            return no()
    return unknown(where_defined(ctx, loss, f"`{ctx.written(loss)}` may have a graph", at=loss))


@question
def graph_stays_here(ctx: PythonContext, scope: ast.AST, *ends: ast.AST) -> Answer:
    """Whether a function keeps nothing, and hands nothing on, that hangs on the graph which a repair gives back.

    Who has it may differentiate it once more, copy it, or hold the graph of every step.

    Args:
        scope: the function.
        ends: what may be handed on all the same: the loss that is returned to a Trainer.
    """
    names = _with_a_graph(ctx, scope)
    uses = (node for node in own(scope) if isinstance(node, ast.Name) and node.id in names)
    handed = (
        ctx.evidence(use, f"`{use.id}` is handed on here, with the graph that it gets")
        for use in uses
        if isinstance(use.ctx, ast.Load) and not is_cut_there(ctx, use) and _leaves(ctx, use, ends)
    )
    around = [*_carried(ctx, scope), *_shared(ctx, scope, ends, names), *_given_from_a_loop(ctx, scope, ends)]
    return unless([*handed, *around, *_kept_by_modules(ctx)])


def _given_from_a_loop(ctx: PythonContext, scope: ast.AST, ends: Sequence[ast.AST]) -> Iterator[Evidence]:
    """The loops that name a function, or its class, where something is differentiated that it does not make itself.

    Their rounds may share a graph, or hand it on (`given_by_a_loop`).
    """
    if not isinstance(scope, FUNCTIONS):
        return
    read = {each.id for end in ends for each in ast.walk(end) if isinstance(each, ast.Name)}
    if read <= ctx.bindings(scope).keys():
        return
    klass = ctx.klass(scope)
    names = {scope.name, *([klass.name.rpartition(".")[2]] if klass is not None else ())}
    _add_users(ctx, names)
    for loop in ctx.all(*LOOPS):
        if ctx.scope(loop) is not scope and not names.isdisjoint(_named(own(loop))):
            yield ctx.evidence(loop, "the rounds of this loop may share a graph")


def _add_users(ctx: PythonContext, names: set[str]) -> None:
    """Add the functions and classes of a file that name one of some names, and those that name them in turn."""
    defined = (each for each in ctx.all(ast.ClassDef, *FUNCTIONS) if isinstance(each, (ast.ClassDef, *FUNCTIONS)))
    users = {each.name: {*_named(ast.walk(each))} for each in defined}
    while more := {name for name, used in users.items() if name not in names and not names.isdisjoint(used)}:
        names |= more


def _named(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for each in nodes:
        if isinstance(each, (ast.Name, ast.Attribute)):
            yield each.id if isinstance(each, ast.Name) else each.attr


def _shared(ctx: PythonContext, scope: ast.AST, ends: Sequence[ast.AST], with_a_graph: set[str]) -> Iterator[Evidence]:
    """Where the rounds of a loop differentiate through what was computed before it (`shared_by_rounds`)."""
    for end in ends:
        loop = next((each for each in ctx.ancestors(end) if isinstance(each, LOOPS)), None)
        if loop is None or ctx.scope(loop) is not scope or not isinstance(end, ast.Call):
            continue
        calls = (node for node in sources(ctx, scope, end) if isinstance(node, ast.Call) and node is not end)
        given = {each.id: each for call in calls for each in values(call) if isinstance(each, ast.Name)}
        for name in sorted(given.keys() & with_a_graph):
            bound = ctx.bindings(scope).get(name, ())
            made = of(ctx, given[name])
            is_module = made is not None and any(is_module_class(ctx, each) for each in made.names)
            if not is_module and not any(ctx.module.contains(loop, each.node) for each in bound):
                yield ctx.evidence(given[name], f"each round may want the graph of `{name}`")


def _carried(ctx: PythonContext, scope: ast.AST) -> Iterator[Evidence]:
    """Where a loop gives a call what it made in the last round: `out, h = model(x, h)` (`carried_by_a_name`)."""
    for node in own(scope):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or _only_moves(ctx, node.value):
            continue
        loop = next((each for each in ctx.ancestors(node) if isinstance(each, LOOPS)), None)
        given = {each.id for each in values(node.value) if isinstance(each, ast.Name)}
        if loop is None or ctx.scope(loop) is not scope:
            continue
        for name in sorted(given):
            bound = [each.node for each in ctx.bindings(scope).get(name, ()) if ctx.module.contains(loop, each.node)]
            if bound == [node]:
                yield ctx.evidence(node, "what is made here goes into the next graph")


def _kept_by_modules(ctx: PythonContext) -> Iterator[Evidence]:
    """Where a module of the program keeps what it computed for its next pass (`carried_by_the_model`)."""
    for path, klass, name in definers(ctx, "forward"):
        there = ctx.other(path)
        found = there.definition(f"{klass.name}.{name}") if there is not None else None
        for node in own(found[1]) if found is not None else ():
            if there is None or not isinstance(node, ast.Assign) or _is_cut(node.value):
                continue
            stored = (each for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Attribute))
            if any(isinstance(each.ctx, ast.Store) for each in stored) and _computes(node.value):
                yield there.evidence(node, f"`{klass.name}` may keep the graph of a pass here")


def _computes(made: ast.expr) -> bool:
    return any(isinstance(each, ast.Call) for each in ast.walk(made))


def _with_a_graph(ctx: PythonContext, scope: ast.AST) -> set[str]:
    """The names of a function that may hold something computed, and not only moved, taken apart, or cut."""
    found = set()
    for name, bindings in ctx.bindings(scope).items():
        for made in (each.value for each in bindings if each.value is not None):
            calls = (node for node in ast.walk(made) if isinstance(node, ast.Call))
            if any(not _only_moves(ctx, call) for call in calls) and not _is_cut(made):
                found.add(name)
    return found


def _only_moves(ctx: PythonContext, call: ast.Call) -> bool:
    """`x.to(device)`, `len(x)`, `next(batches)`, an optimizer: what makes no graph."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in _MOVING:
        return True
    if ctx.name(call.func) in ("len", "next", "iter", "range", "zip", "enumerate", "float", "int", "time.time"):
        return True
    return any(origin.startswith(_MAKING) for origin in ctx.origin(call.func))


def _is_cut(value: ast.AST) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(attr=attribute)) | ast.Attribute(attr=attribute):
            return attribute in _FLEETING
        case ast.Call(func=ast.Name(id="float" | "int")):
            return True
    return False


def _leaves(ctx: PythonContext, use: ast.expr, ends: Sequence[ast.AST]) -> bool:
    """Whether a value is returned, kept by an object, or given to a call whose result nobody wants."""
    node: ast.AST = use
    above = ctx.parent(use)
    while isinstance(above, (ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.IfExp, ast.BinOp, ast.keyword)):
        node, above = above, ctx.parent(above)
    match above:
        case ast.Return() | ast.Yield():
            return above not in ends
        case ast.Assign(targets=targets, value=given) if given is node:
            return any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets)
        case ast.AugAssign(target=target):
            return isinstance(target, (ast.Attribute, ast.Subscript))
        case ast.Call(func=func) if func is not node and _keeps(ctx, above):
            return True
        case ast.Call(func=func) if func is not node and isinstance(ctx.parent(above), ast.Expr):
            last = func.attr if isinstance(func, ast.Attribute) else (ctx.name(func) or "")
            known = any(":" not in origin for origin in ctx.origin(func))
            return not known and last not in _ENDING
    return False


def _keeps(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a method of the project that is called keeps one of its parameters in its object (`memory`)."""
    found = callee(ctx, call)
    if found is None:
        return False
    where, function = found
    given = where.parameter_names(function)
    return any(
        isinstance(node, ast.Name)
        and node.id in given
        and isinstance(node.ctx, ast.Load)
        and (_is_kept(where, node) and not isinstance(where.parent(node), ast.Return))
        for node in own(function)
    )


def is_cut_there(ctx: PythonContext, use: ast.AST) -> bool:
    """Whether a value is used without its graph: `loss.detach()`, `loss.item()`."""
    parent = ctx.parent(use)
    return isinstance(parent, ast.Attribute) and parent.attr in _CUT
