"""Which Fabric or Accelerator has prepared what a function trains.

A *keeper* is the object that owns precision and strategy: its `setup` or `prepare` wraps models and optimizers, and
their backward pass has to go through it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemods.analysis.calls import (
    assigned_to_self,
    binder,
    default,
    given,
    has_splat,
    keyword,
    literal,
)
from codemods.analysis.definitions import reaching
from codemods.analysis.optimizers import stepped
from codemods.analysis.python_context import Binding, Method, PythonContext
from codemods.analysis.values import Following, PossibleValue, assigned_to_attribute, verdicts
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.model.names import ACCELERATOR
from codemods.syntax.module import FUNCTIONS, LOOPS, Function, is_none, own, parameters


@dataclass(frozen=True, slots=True)
class Keeping:
    """What to look for: the keeper's classes, and the methods by which it takes models and optimizers over."""

    classes: frozenset[str]
    methods: frozenset[str]


def keeper(ctx: PythonContext, call: ast.Call, keeping: Keeping) -> str | None:
    """The one keeper that can be seen from `call`, as it is written there; None: none, several, or it may be None."""
    asked: dict[str, bool] = {}
    for other in ctx.all(ast.Call):
        if isinstance(other.func, ast.Attribute) and (name := ctx.name(receiver := other.func.value)):
            if name not in asked and _same_variable(ctx, name, receiver, call):
                asked[name] = is_keeper(ctx, receiver, keeping)
    found = dict.fromkeys(name for name, kept in asked.items() if kept)
    for function in (a for a in ctx.ancestors(call) if isinstance(a, FUNCTIONS)):
        for param in parameters(function):
            name = param.arg
            if binder(ctx, name, call) is function and _parameter_is_a(ctx, function, param, keeping):
                found[name] = None
    if method := ctx.method(call):
        found |= dict.fromkeys(f"{method.self}.{a}" for a in _attributes(ctx, method, keeping))
    if len(found) != 1:
        return None
    (name,) = found
    return None if _optional(ctx, name, call) else name


def _attributes(ctx: PythonContext, method: Method, keeping: Keeping) -> frozenset[str]:
    """The attributes of `self` to which a class and its ancestors assign nothing but keepers."""
    key = (_attributes, method.klass, keeping)
    if key not in ctx.memo:
        ctx.memo[key] = frozenset()  # what an attribute that is given another one sees
        ctx.memo[key] = frozenset(_keepers(ctx, method, keeping))
    found: frozenset[str] = ctx.memo[key]
    return found


def _keepers(ctx: PythonContext, method: Method, keeping: Keeping) -> Iterator[str]:
    classes = [klass for ref in ctx.index.lineage(method.owner).refs if (klass := ctx.index.klass(ref))]
    for attribute in dict.fromkeys(name for klass in classes for name in klass.attributes):
        given, complete = assigned_to_attribute(ctx, method, attribute)
        kept = (b.value is not None and _is_one(where, b.value, keeping) for where, b, _ in given)
        if given and complete and all(kept):
            yield attribute


def _is_one(ctx: PythonContext, node: ast.expr, keeping: Keeping) -> bool:
    """Whether a value is a keeper by its class, or as a parameter that is given one by all calls."""
    return ctx.is_a(node, keeping.classes) or (isinstance(node, ast.Name) and is_keeper(ctx, node, keeping))


def is_keeper(ctx: PythonContext, node: ast.expr, keeping: Keeping) -> bool:
    """Whether an expression surely is a keeper."""

    def kept(value: PossibleValue) -> bool | None:
        here = value.node if not value.path and isinstance(value.node, ast.expr) else None
        return True if here is not None and value.ctx.is_a(here, keeping.classes) else None

    told = verdicts(PossibleValue(ctx, node, following=Following(given=given)), kept)
    return bool(told) and all(told)


def _parameter_is_a(ctx: PythonContext, function: Function, param: ast.arg, keeping: Keeping) -> bool:
    if param.arg in ctx.bindings(function):
        return False
    if param.annotation is not None:
        return ctx.means(param.annotation, keeping.classes)
    return _given_a(ctx, function, param.arg, keeping)


def _given_a(ctx: PythonContext, function: Function, name: str, keeping: Keeping) -> bool:
    """Whether every call in the project hands a keeper to a parameter (`given_from_another_file`)."""
    handed = given(ctx, function, name)
    return bool(handed) and all(each is not None and is_keeper(*each, keeping) for each in handed)


def _same_variable(ctx: PythonContext, name: str, there: ast.AST, here: ast.AST) -> bool:
    """Whether a name means one variable in two places."""
    head, _, rest = name.partition(".")
    if not rest:
        return (found := binder(ctx, name, here)) is not None and found is binder(ctx, name, there)
    mine, other = ctx.method(here), ctx.method(there)
    return bool(mine and other and mine.owner == other.owner and mine.self == other.self == head)


def _optional(ctx: PythonContext, name: str, call: ast.Call) -> bool:
    """Whether the keeper may be None, a test on the way to `call` asks about it, or `call` is what runs without it."""
    last, flow = name.rpartition(".")[2], ctx.flow_of(ctx.scope(call))
    for other in ctx.all(ast.Call):
        if ctx.name(other.func) == f"{name}.backward" and flow.apart(call, other):
            return True
    for above in ctx.ancestors(call):
        if isinstance(above, ast.If) and any(_speaks_of(part, last) for part in (above.test, *own(above.test))):
            return True
    function = binder(ctx, name, call)
    if isinstance(function, FUNCTIONS) and is_none(default(function, name)):
        return True
    values = [b.value for b in (ctx.bindings(function).get(name, ()) if function is not None else ())]
    if any(isinstance(v, ast.IfExp) or is_none(v) for v in values):
        return True
    method = ctx.method(call)
    given = ctx.index.assigned(method.owner, last) if method and "." in name else ()
    return any(a.value.literal is None for _, a in given)


def _speaks_of(node: ast.AST, last: str) -> bool:
    """Whether a name in a test means the keeper, or says whether there is one (`use_accelerate`)."""
    spoken = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return spoken == last or last.lower()[:7] in spoken.lower()


# -- what is prepared


@question
def trains_what_it_prepared(ctx: PythonContext, call: ast.Call, keeping: Keeping, name: str) -> Answer:
    """Whether the gradients of a backward call go to parameters that a keeper has prepared."""
    trained = _trains_prepared(ctx, call, keeping)
    if trained is None:
        return unknown(ctx.evidence(call, f"`{name}` may not have prepared what is trained here"))
    return yes() if trained else no()


def _trains_prepared(ctx: PythonContext, call: ast.Call, keeping: Keeping) -> bool | None:
    """Whether the gradients of a backward call go to prepared parameters: by the optimizers stepped, else the models.

    None where that cannot be told.
    """
    for region in (a for a in ctx.ancestors(call) if isinstance(a, (*LOOPS, *FUNCTIONS, ast.Module))):
        owners = [owner for c in _calls(region) if (owner := stepped(ctx, c))]
        if owners:
            told = [_told(ctx, owner, keeping) for owner in owners]
            if any(each == {False} for each in told):
                return False
            return any(True in each for each in told) or None
        if isinstance(region, FUNCTIONS):
            break
    return True if any(prepared(ctx, c.func, keeping) for c in _calls(ctx.scope(call)) if ctx.name(c.func)) else None


def _calls(region: ast.AST) -> Iterator[ast.Call]:
    """The calls that a loop, function or module runs."""
    return (node for node in own(region) if isinstance(node, ast.Call))


def prepared(ctx: PythonContext, node: ast.expr, keeping: Keeping) -> bool | None:
    """Whether a name holds what a keeper's `setup` or `prepare` gave."""
    told = _told(ctx, node, keeping)
    return told.pop() if len(told) == 1 else None


def _told(ctx: PythonContext, node: ast.expr, keeping: Keeping) -> set[bool | None]:
    """Whether everything that a name may hold comes from a keeper: one answer for each."""
    start = PossibleValue(ctx, node, following=Following(given=given))
    return set(verdicts(start, lambda value: _prepared(value, keeping)))


def _prepared(value: PossibleValue, keeping: Keeping) -> bool | None:
    ctx, node = value.ctx, value.node
    name, method = ctx.name(node), ctx.method(node)
    if name is None or value.path:
        return None
    if "." not in name:
        function = binder(ctx, name, node)
        given = ctx.bindings(function).get(name, ()) if function is not None else ()
        if function is ctx.scope(node) and isinstance(node, ast.expr) and (last := reaching(ctx, node))[1]:
            given = last[0]  # what is bound anew is prepared no more (bound_anew)
        return _verdict(ctx, given, node, keeping)
    if not method or not name.startswith(method.self + "."):
        return None
    return _verdict(ctx, assigned_to_self(ctx, method.klass, name.partition(".")[2]), node, keeping)


def _verdict(ctx: PythonContext, bindings: Sequence[Binding], node: ast.AST, keeping: Keeping) -> bool | None:
    """True: a keeper gave the value, and before it is used; False: something else surely did."""
    taken = [b for b in bindings if _by_keeper(ctx, b, keeping)]
    if any(ctx.scope(b.node) is ctx.scope(node) and _earlier(ctx, b.node, node) for b in taken):
        return True
    if any(ctx.scope(b.node) is not ctx.scope(node) for b in taken):
        others = [b for b in bindings if b not in taken]
        return True if all(_is_replaced(ctx, b, taken) for b in others) else None
    constructed = [b for b in bindings if isinstance(b.value, ast.Call) and _of_torch(ctx, b.value)]
    return False if taken or (constructed and len(constructed) == len(bindings)) else None


def _is_replaced(ctx: PythonContext, other: Binding, taken: Sequence[Binding]) -> bool:
    """Whether what is assigned is prepared in the same function, or in one that this function calls."""
    scope = ctx.scope(other.node)
    names = {each.name for b in taken if isinstance(each := ctx.scope(b.node), FUNCTIONS)}
    here = [b.node for b in taken if ctx.scope(b.node) is scope]
    if here:
        return all(not _is_conditional(ctx, node, scope) for node in here)
    return any((ctx.name(call.func) or "").rpartition(".")[2] in names for call in _calls(scope))


def _is_conditional(ctx: PythonContext, node: ast.AST, scope: ast.AST) -> bool:
    """Whether a statement runs under some condition only."""
    above = ctx.parent(node)
    while above is not None and above is not scope:
        if isinstance(above, (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.Match)):
            return True
        above = ctx.parent(above)
    return False


def _earlier(ctx: PythonContext, a: ast.AST, b: ast.AST) -> bool:
    return ctx.flow_of(ctx.scope(b)).stands_before(a, b)


def _of_torch(ctx: PythonContext, call: ast.Call) -> bool:
    return any(o.startswith("torch.") for o in ctx.origin(call.func))


def _by_keeper(ctx: PythonContext, binding: Binding, keeping: Keeping) -> bool:
    """`model, optimizer = keeper.prepare(model, optimizer)`."""
    match binding.node:
        case ast.Assign(value=ast.Call(func=ast.Attribute(value=owner, attr=method))):
            return method in keeping.methods and is_keeper(ctx, owner, keeping)
    return False


# -- in which precision


@question
def scales_gradients(ctx: PythonContext, name: str) -> Answer:
    """Whether an Accelerator scales its losses: its precision is fp16."""
    made = [call for call in ctx.all(ast.Call) if ctx.calls(call, ACCELERATOR)]
    if len(made) != 1:
        return unknown(*(ctx.evidence(call, f"`{name}` may be this one") for call in made)) if made else no()
    (call,) = made
    precision = keyword(call, "mixed_precision")
    told = literal(precision) if precision is not None else ...
    if told is ... or has_splat(call):
        return unknown(ctx.evidence(call, "the precision may be fp16"))
    return yes(ctx.evidence(call, "scales the losses")) if told == "fp16" else no()


_STEPS = "ACCELERATE_GRADIENT_ACCUMULATION_STEPS"


@question
def no_environment_says_how_many(ctx: PythonContext) -> Answer:
    """Whether no file sets the variable that comes before `gradient_accumulation_steps` (`number_of_a_node`)."""
    return unless(
        ctx.shown_in(path, _STEPS, f"`{_STEPS}` may be set here")
        for path in ctx.index.holding("", (_STEPS.encode(),), ("",))
    )
