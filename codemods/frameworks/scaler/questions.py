"""Questions about a gradient scaler in the whole program: who else scales, who else unscales, what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from codemods.analysis.calls import argument, given, is_set_elsewhere, keyword, literal, values
from codemods.analysis.grad_scaler import Scaler, kind, optimizer, switch
from codemods.analysis.gradient_use import ReachedCode
from codemods.analysis.instances import callee
from codemods.analysis.mentions import (
    Occurrence,
    are_connected,
    called_by_text,
    is_spent,
    may_run_during,
    mentions,
    mentions_during,
    stores,
    stores_none,
)
from codemods.analysis.optimizers import are_different, is_schedule, optimizes
from codemods.analysis.places import where_defined, where_imported
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import Training
from codemods.analysis.scaler_lifetime import is_gradient_scaler, names
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.frameworks.autocast.changes import modules_of
from codemods.frameworks.autocast.modules import Path, overlap, path_of, written
from codemods.model.edits import Evidence
from codemods.project.index import Ref
from codemods.syntax.facts import dotted
from codemods.syntax.module import FUNCTIONS, own

SCALING = ("scale", "get_scale", "_scale")
"""By which a value gets the loss scale."""
UNSCALING = ("unscale_", "get_scale", "_scale")
"""By which gradients lose it."""
_HARMLESS = frozenset({"print", "isinstance", "id", "type", "repr", "str", "len", "bool", "hasattr", "getattr"})

_HUGE = 1e9
"""A bound that no norm reaches."""
_INFINITY = frozenset({"math.inf", "torch.inf", "numpy.inf", "sys.float_info.max"})
_NUMBERS = (ast.Constant, ast.UnaryOp)
_PLAIN_CALLS = frozenset({"float", "int", "min", "max", "abs", "getattr", "get", "pop"})
_PUTTING = frozenset({"append", "extend", "insert", "update", "add", "setdefault", "put"})


@question
def has_every_method(training: Training, scaler: Scaler) -> Answer:
    """Whether the object is torch's gradient scaler, or one with the same methods."""
    known, other = is_gradient_scaler(training, scaler)
    if known is False and other is not None:
        return no(other)
    if known is None:
        why = f"the class of `{scaler.name}` is not in sight"
        return unknown(training.ctx.evidence(_first(scaler), why))
    return yes()


@question
def is_scaler(training: Training, scaler: Scaler) -> Answer:
    """Whether the object is a gradient scaler at all, by its class or because it scales a loss and steps; and is on.

    A flag that has a name is there to switch it on; what is compared with a type may be another one.
    """
    if off := [each for call in scaler.constructors if (each := _may_be_off(training, scaler, call)) is not None]:
        return unknown(*off)
    if scaler.sure:
        return yes()
    return unknown(training.ctx.evidence(_first(scaler), f"`{scaler.name}` may be no GradScaler"))


def _may_be_off(training: Training, scaler: Scaler, call: ast.Call) -> Evidence | None:
    """What may switch a scaler off where it is made: options that are not in sight, or the test of its flag."""
    ctx = training.ctx
    given = next((each.value for each in call.keywords if each.arg is None), None) or switch(call)
    if given is None:
        return None
    spread = switch(call) is not given
    if call not in ctx.module:
        why = f"`{scaler.name}` may be off where it is made"
        return ctx.evidence(_first(scaler), why) if spread or _is_decided(given) else None
    if spread or is_set_elsewhere(ctx, given):
        return ctx.evidence(given, f"`{ctx.written(given)}` may switch the scaler off")
    flags = [given, *(each.node for each in possible_values(ctx, given)[0] if isinstance(each.node, ast.expr))]
    off = next((each for each in flags if _is_decided(each) or (literal(each) is False and len(flags) > 1)), None)
    return ctx.evidence(given, f"`{ctx.written(given)}` may switch the scaler off") if off is not None else None


def _is_decided(flag: ast.expr) -> bool:
    """Whether a flag is the result of a test, but that of where the code runs: `device == "cuda"`."""
    words = (getattr(each, "attr", getattr(each, "value", None)) for each in ast.walk(flag))
    return isinstance(flag, ast.Compare) and not any(isinstance(w, str) and w.startswith("cuda") for w in words)


@question
def steps_an_optimizer(ctx: PythonContext, stepped: ast.expr) -> Answer:
    """Whether what is stepped without the scaler is a library's optimizer: one of the project may know the scale."""
    for each in possible_values(ctx, stepped, returns=True)[0]:
        for origin in each.ctx.origin(each.node.func) if isinstance(each.node, ast.Call) else ():
            if ":" in origin and ctx.index.klass(Ref.of(origin)) is not None:
                name = origin.partition(":")[2]
                return unknown(ctx.evidence(stepped, f"the step of `{name}` may know of the scale"))
    if optimizes(ctx, stepped):
        return yes()
    return unknown(ctx.evidence(stepped, f"`{ctx.written(stepped)}` may be no optimizer"))


@question
def updates_with_the_same_gradients(ctx: PythonContext, calls: Iterable[ast.Call]) -> Answer:
    """Whether no call between an update and a step may make new gradients."""
    return unless(ctx.evidence(each, f"`{ctx.written(each.func)}` may make new gradients") for each in calls)


@question
def step_is_its_own(ctx: PythonContext) -> Answer:
    """Whether no code puts another function in the place of an optimizer's `step`."""
    return unless(
        each.evidence("another `step` may be put in here") for each in stores(ctx, "step") if _is_a_function(each)
    )


def _is_a_function(store: Occurrence) -> bool:
    """Whether what is stored may be a function: no number is, nor what is computed."""
    above = store.ctx.parent(store.node)
    if isinstance(store.node, ast.Call):
        return True
    given = getattr(above, "value", None)
    if not isinstance(above, ast.Assign) or not isinstance(given, (ast.Name, ast.Attribute, ast.Lambda, ast.Call)):
        return False
    found, complete = possible_values(store.ctx, given, returns=True)
    numbers = (isinstance(each.node, (ast.Constant, ast.BinOp)) for each in found)
    return not (complete and found and all(numbers)) and not (
        isinstance(given, ast.Call) and store.ctx.name(given.func) in ("int", "len", "float", "range", "max", "min")
    )


@question
def gradients_reach_the_scaler(training: Training, scaler: Scaler, backward: ast.Call) -> Answer:
    """Whether the scaler steps with the gradients of a backward, and no other optimizer does before it."""
    ctx = training.ctx
    after = [step for step in scaler.steps if training.reaches(backward, step)]
    if scaler.steps and not after:
        return unknown(ctx.evidence(backward, f"`{scaler.name}` is not seen to step with these gradients"))
    if not scaler.steps:  # who steps stands elsewhere, and may do it in another way (steps_elsewhere)
        return unless(
            each.evidence(f"`{each.ctx.written(each.node)}` steps without the scaler")
            for each in mentions(ctx, "step")
            if each.call is not None and not values(each.call) and each.receiver is not None
            if not is_schedule(each.ctx, each.receiver)
        )
    plain = [each for each in training.plain if training.reaches(backward, each)]
    return unless(ctx.evidence(each, f"`{ctx.written(each.func)}` steps without the scaler") for each in plain)


@question
def scale_may_change(training: Training, scaler: Scaler) -> Answer:
    """Whether an update may change the scale: not where the scaler is told by how much."""
    told = ("growth_factor", "backoff_factor", "growth_interval")
    given = [(call, each) for call in scaler.constructors for each in call.keywords if each.arg in (*told, None)]
    places = (each.value if call in training.ctx.module else _first(scaler) for call, each in given)
    told_here = [training.ctx.evidence(place, "the scale may stay as it is") for place in places]
    found = (each for each in stores(training.ctx, "update") if each.word == "update")
    return unless([*told_here, *(each.evidence("another `update` may be put in here") for each in found)])


@question
def no_other_step(training: Training, backward: ast.Call, step: ast.Call) -> Answer:
    """Whether nothing else in the function may step with the gradients of a backward."""
    ctx = training.ctx
    after = [p for p in training.perhaps if training.before(backward, p) and not training.exclusive(p, step)]
    return unless(ctx.evidence(each, f"`{ctx.written(each.func)}` may be the step of an optimizer") for each in after)


@question
def gradients_are_untouched(ctx: PythonContext, calls: Iterable[ast.Call]) -> Answer:
    """Whether no call that is given parameters, and cannot be looked into, may divide their gradients."""
    return unless(ctx.evidence(each, f"`{ctx.written(each.func)}` may divide the gradients") for each in calls)


@question
def managers_are_known(managers: Iterable[Evidence]) -> Answer:
    """Whether all context managers around a clip are known: one that is not may unscale."""
    return unless(managers)


def _first(scaler: Scaler) -> ast.expr:
    return next(iter((*scaler.steps, *scaler.scales, *scaler.updates, *scaler.unscales)))


def made_in_sight(ctx: PythonContext, scaler: Scaler) -> list[Answer]:
    """Nothing where the calls that make a scaler are in sight, which say whether it is on (`not_in_sight`)."""
    if scaler.constructors:
        return []
    return [unknown(ctx.evidence(_first(scaler), f"where `{scaler.name}` is made is not in sight: it may be off"))]


@question
def scaler_is_on(ctx: PythonContext, scaler: Scaler) -> Answer:
    """Whether no setting may switch a scaler off, with which a plain step is right (`off_by_a_setting`)."""
    switches = (switch(call) for call in scaler.constructors)
    return unless(
        ctx.evidence(each, f"`{scaler.name}` may be off by this setting")
        for each in switches
        if each is not None and literal(each) is not True and not ctx.calls(each, "torch.cuda.is_available")
    )


@question
def no_scaler_may_be_off(ctx: PythonContext) -> Answer:
    """Whether no setting may switch a scaler of the program off, which then scales nothing (`off_by_its_type`)."""
    return unless(
        each.evidence("a scaler may be off by this setting")
        for each in mentions(ctx, "GradScaler")
        if each.call is not None and (given := switch(each.call)) is not None
        if literal(given) is not True and not each.ctx.calls(given, "torch.cuda.is_available")
    )


@question
def nothing_else_scales(training: Training, scaler: Scaler, backward: ast.Call) -> Answer:
    """Whether nothing in the program may have scaled what a backward differentiates."""
    found: list[Evidence] = []
    for each in mentions(training.ctx, *SCALING):
        if not _may_be_of(training, scaler, each) or _is_taken(each, backward):
            continue
        found.append(each.evidence(f"`{each.ctx.written(each.node)}` may scale it"))
    return unless([*found, *_read_from_a_state(training.ctx), *_given_away(training, scaler, "scale")])


@question
def nothing_updates(training: Training, scaler: Scaler) -> Answer:
    """Whether nothing in the program may update the scaler; no where one of its name is updated."""
    doubts: list[Evidence] = []
    for each in mentions(training.ctx, "update"):
        if not updates(each.ctx, each.node) or not _may_be_of(training, scaler, each):
            continue
        if each.receiver is not None and _is_it(training.ctx, scaler, each.ctx, each.receiver):
            return no(each.evidence("it is updated here"))
        doubts.append(each.evidence(f"`{each.ctx.written(each.node)}` may update it"))
    for node in training.ctx.all(ast.Attribute):  # `_per_optimizer_states.clear()` (`static_by_hand`)
        if node.attr.startswith("_") and _is_it(training.ctx, scaler, training.ctx, node.value):
            doubts.append(training.ctx.evidence(node, f"`{training.ctx.written(node)}` may do what `update` does"))
    doubts += called_by_text(training.ctx)
    return unless(doubts)


def _is_it(ctx: PythonContext, scaler: Scaler, there: PythonContext, receiver: ast.expr) -> bool:
    """Whether a receiver seems to be this scaler: the same calls make it, or it goes under the same name."""
    mine, theirs = _sites(ctx, scaler.constructors), _made(there, receiver)
    if mine is not None and theirs is not None:
        return not mine.isdisjoint(theirs)
    return scaler.name.rpartition(".")[2] in names(there, receiver)


def updates(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether an attribute may be the `update` of a scaler: one of a dictionary or of a counter is given something."""
    if not isinstance(node, (ast.Attribute, ast.Constant)):
        return False
    if (node.attr if isinstance(node, ast.Attribute) else node.value) != "update":
        return False
    call = ctx.parent(node)
    if isinstance(call, ast.Call) and call.func is node:
        return not call.args and all(each.arg == "new_scale" for each in call.keywords)
    return True


@question
def nothing_else_unscales(training: Training, scaler: Scaler, clip: ast.Call) -> Answer:
    """Whether nothing in the program may take the scale out of the gradients before a clip, or tell it the scale."""
    known = {call.func for call in (*scaler.unscales, *scaler.looks)}
    code = ReachedCode([(training.ctx, training.scope)])
    found: list[Evidence] = []
    for each in mentions(training.ctx, *UNSCALING):
        if each.node in known or not _may_be_of(training, scaler, each):
            continue
        if each.word == "unscale_":
            apart = each.ctx.scope(each.node) is not training.scope and _steps_too(each)
            if not apart and may_run_during(each, code.scopes):
                found.append(each.evidence(f"`{each.ctx.written(each.node)}` may run before it"))
        elif not _is_taken(each):
            found.append(each.evidence(f"`{each.ctx.written(each.node)}` may be taken into account"))
    return unless([*found, *_read_from_a_state(training.ctx), *_given_away(training, scaler, "unscale")])


def _read_from_a_state(ctx: PythonContext) -> Iterator[Evidence]:
    """The places that take the scale out of a state: `scaler.state_dict()["scale"]` (`bound_from_the_state`)."""
    for there in dict.fromkeys(each.ctx for each in mentions(ctx, "state_dict")):
        for item in there.all(ast.Subscript):
            if literal(item.slice) == "scale" and isinstance(item.ctx, ast.Load):
                yield there.evidence(item, "the scale may be taken into account")


@question
def overflows_are_not_tested(training: Training, backward: ast.Call, step: ast.Call) -> Answer:
    """Whether no test stands around a plain step that is not the gate of an accumulation (`tested_norm`)."""
    gates = training.conditions(step, training.block(backward)) or ()
    tests = [each.test for each in gates if isinstance(each, ast.If)]
    return unless(
        training.ctx.evidence(test, "this may test for overflows")
        for test in tests
        if not any(isinstance(node, ast.Mod) for node in ast.walk(test))
    )


@question
def gradients_come_from_here(training: Training) -> Answer:
    """Whether no backward pass runs with a function but those that were looked at."""
    known = {call.func for each in training.scalers for call in each.backwards} | {call.func for call in training.raw}
    code = ReachedCode([(training.ctx, training.scope)])
    return unless(
        each.evidence(f"`{each.ctx.written(each.node)}` may make the gradients")
        for each in mentions_during(training.ctx, code.scopes, "backward", "manual_backward")
        if each.node not in known
    )


@question
def nothing_replaces_gradients(training: Training) -> Answer:
    """Whether no code puts other gradients into `.grad` while a function runs."""
    return unless(
        each.evidence("other gradients may be put in here")
        for each in stores(training.ctx, "grad")
        if not stores_none(each) and may_run_during(each, {training.scope: training.ctx})
    )


@question
def optimizers_hold_what_is_clipped(training: Training, clip: ast.Call, steps: Sequence[ast.Call]) -> Answer:
    """Whether nothing shows that a clip is about the parameters of another optimizer than the one that steps."""
    ctx = training.ctx
    first = values(clip)[0] if values(clip) else None
    owner = first.func.value if isinstance(first, ast.Call) and isinstance(first.func, ast.Attribute) else None
    clipped = path_of(ctx, owner) if owner is not None else None
    held = [modules_of(ctx, given) for step in steps if (given := optimizer(step)) is not None]
    known = [path for paths in held for path in paths or ()]
    if clipped is None or not known or any(paths is None for paths in held):
        return yes()
    if any(overlap(path, clipped) for path in known) or not _are_comparable(training, clipped, known):
        return yes()
    return unknown(ctx.evidence(clip, f"`{written(clipped)}` may belong to another optimizer"))


def _are_comparable(training: Training, clipped: Path, known: Sequence[Path]) -> bool:
    """Whether modules are written as one function sees them: all as attributes of `self`, or as its variables."""
    ctx, scope = training.ctx, training.scope
    method = ctx.method(scope)
    if method is not None and clipped[0] == method.self:
        return all(path[0] == method.self for path in known)
    bound = {*ctx.bindings(scope)} | (ctx.parameter_names(scope) if isinstance(scope, FUNCTIONS) else set())
    return all(path[0] in bound for path in (clipped, *known))


@question
def unscaled_before_is_another(training: Training, clip: ast.Call, steps: Sequence[ast.Call]) -> Answer:
    """Whether what is unscaled before a clip surely is another optimizer than the one that steps behind it."""
    return unless(_perhaps_the_same(training, clip, steps))


def _perhaps_the_same(training: Training, clip: ast.Call, steps: Sequence[ast.Call]) -> Iterator[Evidence]:
    ctx = training.ctx
    for unscale in training.unscales:
        if not training.before(unscale, clip) or training.exclusive(unscale, clip):
            continue
        if any(training.before(unscale, s) and training.before(s, clip) for s in _all_steps(training)):
            continue
        given = optimizer(unscale)
        for mine in (optimizer(step) for step in steps):
            if given is not None and mine is not None and are_different(ctx, given, mine):
                continue
            unclear = mine if mine is not None and ctx.name(mine) is None else unscale
            yield ctx.evidence(unclear, f"`{ctx.written(unclear)}` may be the same optimizer as another one here")


def _all_steps(training: Training) -> list[ast.Call]:
    return [step for each in training.scalers for step in each.steps]


@question
def nothing_else_steps(training: Training, scaler: Scaler) -> Answer:
    """Whether no other code steps with the scaler while a function runs."""
    known = {call.func for call in scaler.steps}
    code = ReachedCode([(training.ctx, training.scope)])
    return unless(
        each.evidence(f"`{each.ctx.written(each.node)}` may step with `{scaler.name}`")
        for each in mentions(training.ctx, "step")
        if each.node not in known and _takes_an_optimizer(each) and _may_be_of(training, scaler, each)
        if may_run_during(each, code.scopes)
    )


def _takes_an_optimizer(mention: Occurrence) -> bool:
    """Whether a `step` is given one value, as that of a scaler is; that of an optimizer is given none."""
    return mention.call is None or len(values(mention.call)) == 1


def _steps_too(mention: Occurrence) -> bool:
    """Whether the function that unscales steps with the same scaler: a training loop of its own."""
    ctx, receiver = mention.ctx, mention.receiver
    if receiver is None or (name := ctx.name(receiver)) is None:
        return False
    scope = ctx.scope(mention.node)
    return any(ctx.name(a.value) == name and a.attr == "step" and ctx.scope(a) is scope for a in ctx.all(ast.Attribute))


def _is_taken(mention: Occurrence, but: ast.Call | None = None) -> bool:
    """Whether what is scaled, or the scale, is used up where it is made: by `backward`, by a comparison, by a log.

    Args:
        but: a backward call that it must not reach.
    """
    call = mention.call
    if call is None:
        return mention.word == "scale" and _is_a_number(mention)
    if mention.word == "scale" and (len(values(call)) != 1 or (call.keywords and keyword(call, "outputs") is None)):
        return True  # `GradScaler.scale` takes the loss, or losses, and nothing else
    return is_spent(mention.ctx, call, lambda ctx, node: _ends(ctx, node, but))


def _is_a_number(mention: Occurrence) -> bool:
    """Whether an attribute that is not called is computed with: then it is no method."""
    above = mention.ctx.parent(mention.node)
    return isinstance(above, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute, ast.AugAssign))


def _ends(ctx: PythonContext, node: ast.expr, but: ast.Call | None) -> bool | None:
    """Whether an expression is differentiated, or thrown away; None where the call `but` differentiates it."""
    above = ctx.parent(node)
    if isinstance(above, ast.Attribute) and above.attr in ("backward", "item", "tolist"):
        return None if ctx.parent(above) is but else True
    if isinstance(above, ast.Call) and node is not above.func:
        if above is but:
            return None
        if ctx.means(above.func, "torch.autograd.backward", "torch.autograd.grad"):
            return True
        return isinstance(ctx.parent(above), ast.Expr) and callee(ctx, above) is None and not _mutates(above)
    return False


def _mutates(call: ast.Call) -> bool:
    """Whether a call may put what it is given into what it is called on: `seen.append(…)`, `seed.fill_(…)`."""
    return isinstance(call.func, ast.Attribute) and (call.func.attr in _PUTTING or call.func.attr.endswith("_"))


# -- whose scaler


def _may_be_of(training: Training, scaler: Scaler, mention: Occurrence) -> bool:
    """Whether what a place names may be a method of this scaler."""
    ctx, receiver = mention.ctx, mention.receiver
    if receiver is None or ctx.origin(mention.node):
        return isinstance(mention.node, ast.Constant)  # of whoever is called by this text
    if _is_of_another_class(ctx, receiver, mention.word):
        return False
    mine, theirs = _sites(training.ctx, scaler.constructors), _made(ctx, receiver)
    if mine is not None and theirs is not None:
        return not mine.isdisjoint(theirs)
    return not (_is_private(training, scaler) and ctx.scope(mention.node) is not training.scope)


def _is_of_another_class(ctx: PythonContext, receiver: ast.expr, word: str) -> bool:
    """Whether an object is known, and is no gradient scaler."""
    found, complete = possible_values(ctx, receiver, given=given)
    kinds = set(map(kind, found))
    if complete and "other" in kinds and kinds <= {"other", "none"}:
        return True
    method = ctx.method(receiver)
    if method is not None and ctx.name(receiver) == method.self:
        if next(ctx.index.assigned(method.owner, word), None) is not None:
            return True
        return ctx.index.method(method.owner, word) is not None
    return False


def _sites(ctx: PythonContext, constructors: tuple[ast.Call, ...]) -> frozenset[ast.AST] | None:
    return frozenset(constructors) if constructors else None


def _made(ctx: PythonContext, receiver: ast.expr) -> frozenset[ast.AST] | None:
    """Where an object is made; None where that is not all in sight."""
    found, complete = possible_values(ctx, receiver, given=given)
    if not complete or not found or not {*map(kind, found)} <= {"scaler", "other"}:
        return None
    return frozenset(each.node for each in found)


def _is_private(training: Training, scaler: Scaler) -> bool:
    """Whether a scaler is made in the function that uses it, and neither handed on nor used by a function inside."""
    ctx, scope = training.ctx, training.scope
    if not isinstance(scope, FUNCTIONS) or "." in scaler.name or not scaler.constructors:
        return False
    bound = ctx.bindings(scope).get(scaler.name, ())
    if not bound or any(binding.value not in scaler.constructors for binding in bound):
        return False
    for name in ctx.all(ast.Name):
        if name.id == scaler.name and isinstance(name.ctx, ast.Load) and ctx.module.contains(scope, name):
            if ctx.scope(name) is not scope or not isinstance(ctx.parent(name), ast.Attribute):
                return False
    return True


def _given_away(training: Training, scaler: Scaler, verb: str) -> Iterator[Evidence]:
    """The calls that are given the scaler itself, and that nobody can look into."""
    ctx = training.ctx
    for call in training.calls:
        if any(ctx.name(value) == scaler.name for value in values(call)) and callee(ctx, call) is None:
            if ctx.name(call.func) not in _HARMLESS:
                says = f"`{ctx.written(call.func)}` is given `{scaler.name}` and may {verb}"
                yield where_defined(ctx, call, says, at=call)


@question
def bound_is_plain(ctx: PythonContext, clip: ast.Call) -> Answer:
    """Whether a clip has a bound, and one that is not computed in another file, perhaps with the loss scale."""
    bound = argument(clip, "max_norm", 1) or argument(clip, "clip_value", 1)
    doubts: list[Evidence] = []
    for origin in ctx.origin(bound) if isinstance(bound, (ast.Name, ast.Attribute)) else ():
        path, inside, name = origin.partition(":")
        module = ctx.index.syntax(path) if inside else None
        for node in module.all(ast.Assign) if module is not None else ():
            if any(dotted(target) == name for target in node.targets) and not isinstance(node.value, _NUMBERS):
                doubts.append(Evidence(path, node.lineno, "the bound may hold the loss scale"))
    if bound is not None:
        doubts += (there.evidence(node, "the bound may hold the loss scale") for there, node in _computed(ctx, bound))
    if isinstance(bound, ast.Name) and not doubts:
        imports = ctx.facts.named(bound.id) if bound.id not in ctx.facts.rebound and not ctx.origin(bound) else ()
        doubts += (where_imported(ctx, each, "the bound is from here") for each in imports)
    if bound is not None:
        doubts += (
            ctx.evidence(bound, "the bound is infinite, so that nothing is clipped") for _ in _infinite(ctx, bound)
        )
    return unless(doubts)


@question
def bound_is_a_number(ctx: PythonContext, clip: ast.Call) -> Answer:
    """Whether a clip has a finite bound: no where it is infinite, for who gives such a one asks for the norm only."""
    bound = argument(clip, "max_norm", 1) or argument(clip, "clip_value", 1)
    if bound is None:
        return unknown(ctx.evidence(clip, "its bound is not in sight"))
    if any(True for _ in _infinite(ctx, bound)):
        return no()
    found, complete = possible_values(ctx, bound, given=given)
    plain = complete and found and all(isinstance(literal(each.node), (int, float)) for each in found)
    return yes() if plain else unknown(where_defined(ctx, bound, f"`{ctx.written(bound)}` may be infinite", at=bound))


def _computed(ctx: PythonContext, bound: ast.expr) -> Iterator[tuple[PythonContext, ast.expr]]:
    """The calls, items called "scale" and writes that make a bound (`bound_from_the_state`, `bound_in_place`)."""
    waiting, seen = [(ctx, bound)], set[ast.AST]()
    while waiting:
        there, node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        match node:
            case ast.Call(func=func) if (dotted(func) or "").rpartition(".")[2] not in _PLAIN_CALLS:
                yield there, node
            case ast.Call(args=args):
                waiting += ((there, each) for each in args)  # the_smaller_of_two
            case ast.Subscript(slice=ast.Constant(value="scale")):
                yield there, node
            case ast.BinOp(left=left, right=right):
                waiting += ((there, left), (there, right))
            case ast.UnaryOp(operand=operand) | ast.NamedExpr(value=operand):
                waiting.append((there, operand))
            case ast.IfExp(body=left, orelse=right):
                waiting += ((there, left), (there, right))
            case ast.Name(id=name):
                found = (each for each in possible_values(there, node)[0] if not each.path)
                waiting += ((each.ctx, each.node) for each in found if isinstance(each.node, ast.expr))
                for call in there.all(ast.Call):
                    if isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
                        if there.name(call.func.value) == name:
                            yield there, call
            # an item or an attribute of what is computed here: the law of indirections (`bound_of_an_object`)
            case ast.expr() if any(isinstance(each, (ast.Call, ast.comprehension)) for each in ast.walk(node)):
                yield there, node


def _infinite(ctx: PythonContext, bound: ast.expr) -> Iterator[ast.AST]:
    """The values of a bound that clip nothing: who gives one asks for the norm only (`infinite_bound`)."""
    for value in possible_values(ctx, bound, given=given)[0]:
        match value.node:
            case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(word))]) if "inf" in word.lower():
                yield value.node
            case ast.Name() | ast.Attribute() if value.ctx.means(value.node, _INFINITY):
                yield value.node
            case ast.Constant(value=int() | float() as number) if number >= _HUGE:
                yield value.node
            case ast.Attribute(value=ast.Call(func=made), attr="max") if value.ctx.means(made, "torch.finfo"):
                yield value.node


@question
def step_follows(training: Training, clip: ast.Call, steps: Sequence[ast.Call]) -> Answer:
    """Whether nothing that is called between a clip and its step raises.

    Else the update is left out, and the next `unscale_` is the second one before an update (`batch_left_out`).
    """
    ctx = training.ctx
    calls = (c for c in training.calls if training.before(clip, c) and any(training.before(c, s) for s in steps))
    names = {(dotted(call.func) or "").rpartition(".")[2] for call in calls} - {""}
    literals = tuple(f"def {name}(".encode() for name in sorted(names))
    return unless(
        Evidence(path, function.lineno, f"`{function.name}` may leave the step out")
        for path in (ctx.index.search(ctx.path, literals) if literals else ())
        if (module := ctx.index.syntax(path)) is not None and are_connected(ctx.index, ctx.path, path)
        for function in module.all(ast.FunctionDef)
        if function.name in names and any(isinstance(node, ast.Raise) for node in own(function))
    )


@question
def no_step_is_out_of_sight(ctx: PythonContext, code: ReachedCode) -> Answer:
    """Whether no other optimizer is stepped by code that is called by a name which only a run can tell."""
    if not called_by_text(ctx):
        return yes()
    here = {node for _, node in code.nodes}
    return unless(
        each.evidence(f"`{each.ctx.written(each.node)}` may step with the same gradients")
        for each in mentions_during(ctx, code.scopes, "step")
        if each.node not in here and each.call is not None
    )
