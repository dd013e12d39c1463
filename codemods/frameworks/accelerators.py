"""Which Fabric or Accelerator has prepared what a function trains.

A *keeper* is the object that owns precision and strategy: its `setup` or `prepare` wraps models and optimizers, and
their backward pass has to go through it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from codemods.project.index import NONE
from codemods.rules.context import Binding, Context, Method
from codemods.syntax import flow
from codemods.syntax.rewrite import keyword, positional


@dataclass(frozen=True, slots=True)
class Keeping:
    """What to look for: the keeper's classes, and the methods by which it takes models and optimizers over."""

    classes: frozenset[str]
    methods: frozenset[str]


def keeper(ctx: Context, call: cst.Call, keeping: Keeping) -> cst.BaseExpression | None:
    """The one keeper that can be seen from `call`, as it is written there; None: none, several, or it may be None."""
    asked: dict[str, bool] = {}
    for other in ctx.all(cst.Call):
        if isinstance(other.func, cst.Attribute) and (name := ctx.name(receiver := other.func.value)):
            if name not in asked and _same_variable(ctx, name, receiver, call):
                asked[name] = is_keeper(ctx, receiver, keeping)
    found = dict.fromkeys(name for name, kept in asked.items() if kept)
    for function in (a for a in ctx.ancestors(call) if isinstance(a, cst.FunctionDef)):
        for param in parameters(function):
            name = param.name.value
            if binder(ctx, name, call) is function and _parameter_is_a(ctx, function, param, keeping):
                found[name] = None
    if method := ctx.method(call):
        found |= dict.fromkeys(f"{method.self}.{a}" for a in _attributes(ctx, method, keeping))
    if len(found) != 1:
        return None
    (name,) = found
    return None if _optional(ctx, name, call) else cst.parse_expression(name)


def _attributes(ctx: Context, method: Method, keeping: Keeping) -> frozenset[str]:
    """The attributes of `self` to which a class and its ancestors assign nothing but keepers."""
    key = (_attributes, method.klass, keeping)
    if key not in ctx.memo:
        ctx.memo[key] = frozenset()  # what an attribute that is given another one sees
        ctx.memo[key] = frozenset(_keepers(ctx, method, keeping))
    found: frozenset[str] = ctx.memo[key]
    return found


def _keepers(ctx: Context, method: Method, keeping: Keeping) -> Iterator[str]:
    classes = [klass for ref in ctx.index.lineage(method.owner).refs if (klass := ctx.index.klass(ref))]
    for attribute in dict.fromkeys(name for klass in classes for name in klass.attributes):
        here = {b.node: b.value for b in assigned_to_self(ctx, method.klass, attribute)}
        elsewhere = [
            ctx.index.resolve(ref.path, a.value.dotted) if a.value.call and a.value.dotted else NONE
            for ref, a in ctx.index.assigned(method.owner, attribute)
            if a.method and ref != method.owner
        ]
        given = [value is not None and ctx.is_a(value, keeping.classes) for value in here.values()]
        given += [bool(origins) and origins <= keeping.classes for origins in elsewhere]
        if given and all(given):
            yield attribute


def is_keeper(ctx: Context, node: cst.BaseExpression, keeping: Keeping, depth: int = 3) -> bool:
    """Whether an expression surely is a keeper."""
    if ctx.is_a(node, keeping.classes):
        return True
    name, method = ctx.name(node) or "", ctx.method(node)
    if method and name.startswith(method.self + "."):
        return name.partition(".")[2] in _attributes(ctx, method, keeping)
    function = binder(ctx, name, node)
    return isinstance(function, cst.FunctionDef) and depth > 0 and _given_a(ctx, function, name, keeping, depth)


def _parameter_is_a(ctx: Context, function: cst.FunctionDef, param: cst.Param, keeping: Keeping) -> bool:
    if param.name.value in ctx.bindings(function):
        return False
    if param.annotation is not None:
        return ctx.means(param.annotation.annotation, keeping.classes)
    return _given_a(ctx, function, param.name.value, keeping, 3)


def _given_a(ctx: Context, function: cst.FunctionDef, name: str, keeping: Keeping, depth: int) -> bool:
    """Whether every call in this file hands a keeper to a parameter."""
    given = list(_passed(ctx, function, name))
    return bool(given) and all(arg is not None and is_keeper(ctx, arg, keeping, depth - 1) for arg in given)


def _passed(ctx: Context, function: cst.FunctionDef, name: str) -> Iterator[cst.BaseExpression | None]:
    """What the calls in this file give for a parameter; None where it cannot be told."""
    if name in ctx.bindings(function):
        return
    params = [p.name.value for p in (*function.params.posonly_params, *function.params.params)]
    for call in ctx.callers(function):
        index = params.index(name) if name in params else -1
        if isinstance(call.func, cst.Attribute) and ctx.klass(function) is not None:
            index -= 1
        arg = keyword(call, name) or (positional(call, index) if index >= 0 else None)
        yield arg.value if arg is not None else None


def binder(ctx: Context, name: str, node: cst.CSTNode) -> cst.CSTNode | None:
    """The function or module whose variable a plain name is, seen from `node`."""
    scope = ctx.scope(node)
    while True:
        if isinstance(scope, (cst.FunctionDef, cst.Lambda)):
            if name in {p.name.value for p in parameters(scope)}:
                return scope
        if not isinstance(scope, cst.Lambda) and name in ctx.bindings(scope):
            return scope
        if isinstance(scope, cst.Module):
            return None
        scope = ctx.scope(scope)


def parameters(function: cst.FunctionDef | cst.Lambda) -> list[cst.Param]:
    p = function.params
    extra = [each for each in (p.star_arg, p.star_kwarg) if isinstance(each, cst.Param)]
    return [*p.posonly_params, *p.params, *p.kwonly_params, *extra]


def _same_variable(ctx: Context, name: str, there: cst.CSTNode, here: cst.CSTNode) -> bool:
    """Whether a name means one variable in two places."""
    head, _, rest = name.partition(".")
    if not rest:
        return (found := binder(ctx, name, here)) is not None and found is binder(ctx, name, there)
    mine, other = ctx.method(here), ctx.method(there)
    return bool(mine and other and mine.owner == other.owner and mine.self == other.self == head)


def _optional(ctx: Context, name: str, call: cst.Call) -> bool:
    """Whether the keeper may be None, a test on the way to `call` asks about it, or `call` is what runs without it."""
    last = name.rpartition(".")[2]
    for other in ctx.all(cst.Call, "backward"):
        if ctx.name(other.func) == f"{name}.backward" and flow.order(ctx.parents, call, other) is flow.Order.EXCLUSIVE:
            return True
    for above in ctx.ancestors(call):
        if isinstance(above, cst.If) and any(_speaks_of(part, last) for part in (above.test, *flow.own(above.test))):
            return True
    function = binder(ctx, name, call)
    for param in parameters(function) if isinstance(function, cst.FunctionDef) else ():
        if param.name.value == name and ctx.name(param.default) == "None":
            return True
    values = [b.value for b in (ctx.bindings(function).get(name, ()) if function is not None else ())]
    if any(isinstance(v, cst.IfExp) or ctx.name(v) == "None" for v in values):
        return True
    method = ctx.method(call)
    given = ctx.index.assigned(method.owner, last) if method and "." in name else ()
    return any(a.value.literal is None for _, a in given)


def _speaks_of(node: cst.CSTNode, last: str) -> bool:
    """Whether a name in a test means the keeper, or says whether there is one (`use_accelerate`)."""
    spoken = node.attr.value if isinstance(node, cst.Attribute) else node.value if isinstance(node, cst.Name) else ""
    return spoken == last or last.lower()[:7] in spoken.lower()


# -- what is prepared


def trains_prepared(ctx: Context, call: cst.Call, keeping: Keeping) -> bool | None:
    """Whether the gradients of a backward call go to prepared parameters: by the optimizers stepped, else the models.

    None where that cannot be told.
    """
    for region in (a for a in ctx.ancestors(call) if isinstance(a, (cst.For, cst.While, cst.FunctionDef, cst.Module))):
        stepped = [owner for c in _calls(region) if (owner := stepped_by(ctx, c))]
        if stepped:
            verdicts = {prepared(ctx, owner, keeping) for owner in stepped}
            return verdicts.pop() if len(verdicts) == 1 else (False if False in verdicts else None)
        if isinstance(region, cst.FunctionDef):
            break
    return True if any(prepared(ctx, c.func, keeping) for c in _calls(ctx.scope(call)) if ctx.name(c.func)) else None


def _calls(region: cst.CSTNode) -> Iterator[cst.Call]:
    """The calls that the body of a loop, function or module runs."""
    body = region if isinstance(region, cst.Module) else region.body  # type: ignore[attr-defined]
    return (node for node in flow.own(body) if isinstance(node, cst.Call))


def stepped_by(ctx: Context, call: cst.Call) -> cst.BaseExpression | None:
    """`optimizer` of `optimizer.step()`; schedulers, profilers and the like are something else."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "step":
        return None
    last = (ctx.name(call.func.value) or "").rpartition(".")[2].lower()
    others = ("sched", "lr", "warmup", "prof", "env", "ema")
    return None if any(part in last for part in others) else call.func.value


def prepared(ctx: Context, node: cst.BaseExpression, keeping: Keeping, depth: int = 3) -> bool | None:
    """Whether a name holds what a keeper's `setup` or `prepare` gave."""
    name = ctx.name(node)
    if name is None or depth == 0:
        return None
    method = ctx.method(node)
    if "." in name:
        if not method or not name.startswith(method.self + "."):
            return None
        given = list(assigned_to_self(ctx, method.klass, name.partition(".")[2]))
        return _verdict(ctx, given, node, keeping) if given else None
    function = binder(ctx, name, node)
    bindings = list(ctx.bindings(function).get(name, ())) if function is not None else []
    if not bindings and isinstance(function, cst.FunctionDef):
        passed = _passed(ctx, function, name)
        verdicts = {prepared(ctx, a, keeping, depth - 1) if a is not None else None for a in passed}
        return verdicts.pop() if len(verdicts) == 1 else None
    return _verdict(ctx, bindings, node, keeping)


def assigned_to_self(ctx: Context, klass: cst.ClassDef, attribute: str) -> Sequence[Binding]:
    """What the methods of a class assign to an attribute of `self`."""
    key = (assigned_to_self, klass)
    if key not in ctx.memo:
        assigned: dict[str, list[Binding]] = {}
        for function in flow.own(klass.body):
            if isinstance(function, cst.FunctionDef) and (found := ctx.method(function)):
                for name, bindings in ctx.bindings(function).items():
                    if name.startswith(f"{found.self}."):
                        assigned.setdefault(name.partition(".")[2], []).extend(bindings)
        ctx.memo[key] = assigned
    given: dict[str, list[Binding]] = ctx.memo[key]
    return given.get(attribute, ())


def _verdict(ctx: Context, bindings: list[Binding], node: cst.CSTNode, keeping: Keeping) -> bool | None:
    """True: a keeper gave the value, and before it is used; False: something else surely did."""
    taken = [b for b in bindings if _by_keeper(ctx, b, keeping)]
    if any(ctx.scope(b.node) is not ctx.scope(node) or _earlier(ctx, b.node, node) for b in taken):
        return True
    constructed = [b for b in bindings if isinstance(b.value, cst.Call) and _of_torch(ctx, b.value)]
    return False if taken or (constructed and len(constructed) == len(bindings)) else None


def _earlier(ctx: Context, a: cst.CSTNode, b: cst.CSTNode) -> bool:
    return flow.order(ctx.parents, a, b) is flow.Order.BEFORE


def _of_torch(ctx: Context, call: cst.Call) -> bool:
    return any(o.startswith("torch.") for o in ctx.origin(call.func))


def _by_keeper(ctx: Context, binding: Binding, keeping: Keeping) -> bool:
    """`model, optimizer = keeper.prepare(model, optimizer)`."""
    match binding.node:
        case cst.Assign(value=cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=method)))):
            return method in keeping.methods and is_keeper(ctx, owner, keeping)
    return False
