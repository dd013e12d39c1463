"""What the nodes of a function do to some objects, the functions that it calls included.

The objects are a cast: each has a role, and a name under which a function knows it. A call of a function of the project
is summarized with the names that its objects have there: as a parameter that is given one, as the same attribute of
`self`, as the same variable around both. A call that nobody can look into may do anything to an object that it is
given; what an object is not given to cannot touch it, once it escaped nowhere. This module knows no library: a
vocabulary says what a node does by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol as Interface

from codemods.analysis import instances
from codemods.analysis.calls import binder, given_by, values
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.protocols import ANYTHING, Happening, Protocol, Summary, summarize, unseen
from codemods.syntax.module import FUNCTIONS, Function, Scope, own

Cast = Mapping[str, str]
"""Role → the name of the object in a function, dotted; a role that it does not know is left out."""


class Vocabulary(Interface):
    """What the nodes of a program do to objects, as events of a protocol."""

    methods: frozenset[str]
    """The methods that are events: taken without being called, they may happen anywhere."""
    decorators: frozenset[str]
    """The decorators, by canonical name, that leave what a function does to the objects as it is."""

    def event(self, ctx: PythonContext, node: ast.AST, cast: Cast) -> str | None:
        """What a node does by itself; None: nothing, or it calls something."""

    def is_harmless(self, ctx: PythonContext, call: ast.Call) -> bool:
        """Whether a call of a library leaves the objects that it is given as they are."""


def happenings(
    ctx: PythonContext,
    scope: Scope,
    cast: Cast,
    vocabulary: Vocabulary,
    protocol: Protocol,
    *,
    alone: bool = False,
) -> dict[ast.AST, Happening]:
    """What the nodes of a function do to the objects of a cast.

    Args:
        alone: suppose that who knows the objects besides does nothing to them.
    """
    return _happenings(ctx, scope, cast, vocabulary, protocol, _Following(alone))


@dataclass(frozen=True, slots=True)
class _Following:
    """How calls are followed."""

    alone: bool
    running: frozenset[Scope] = frozenset()
    """The functions that are followed already."""

    def into(self, function: Scope) -> _Following:
        return replace(self, running=self.running | {function})


def _happenings(
    ctx: PythonContext,
    scope: Scope,
    cast: Cast,
    vocabulary: Vocabulary,
    protocol: Protocol,
    following: _Following,
) -> dict[ast.AST, Happening]:
    found: dict[ast.AST, Happening] = {}
    let_go = escapes(ctx, scope, cast, vocabulary.methods)
    escaped = bool(let_go) or _is_kept(ctx, scope, cast, vocabulary)
    known_as = {*cast.values(), *_other_names(ctx, let_go)}
    for node in own(scope):
        event = vocabulary.event(ctx, node, cast)
        if event is not None:
            found[node] = event
        elif isinstance(node, ast.Call):
            happening = _call(ctx, node, cast, vocabulary, protocol, following, known_as, escaped=escaped)
            if happening is not None:
                found[node] = happening
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            if _is_drawn_from(ctx, node.iter, cast, vocabulary, protocol, following) or (
                escaped and _iterates_itself(ctx, node.iter)
            ):
                found[node.target] = ANYTHING
        elif isinstance(node, ast.withitem) and not _is_known(ctx, node.context_expr, vocabulary):
            if _reaches(ctx, node.context_expr, cast.values(), beside=True):
                found[node] = ANYTHING
    return found


def _other_names(ctx: PythonContext, let_go: Iterable[ast.AST]) -> Iterator[str]:
    """The names under which a function knows an object besides (`second_names`)."""
    for node in let_go:
        held = ctx.parent(node)
        while isinstance(held, (ast.IfExp, ast.Tuple, ast.List, ast.BoolOp)):
            held = ctx.parent(held)
        match held:
            case ast.Assign(targets=targets):
                yield from (name for each in targets for part in ast.walk(each) if (name := ctx.name(part)) is not None)
            case ast.NamedExpr(target=target) | ast.AnnAssign(target=target):
                yield ctx.name(target) or ""


def _call(
    ctx: PythonContext,
    call: ast.Call,
    cast: Cast,
    vocabulary: Vocabulary,
    protocol: Protocol,
    following: _Following,
    known_as: Collection[str],
    *,
    escaped: bool,
) -> Happening | None:
    target = instances.callee(ctx, call) or _constructor(ctx, call)
    if target is None:
        if vocabulary.is_harmless(ctx, call):
            return None
        called = call.func.value if isinstance(call.func, ast.Attribute) and not _is_held(ctx, call.func) else call.func
        given = (called, *values(call))
        if following.alone and ctx.name(called) in cast.values():
            given = given[1:]  # a method of its own that is not followed (`own_method`)
        if any(_reaches(ctx, value, known_as, beside=False) for value in given):
            return ANYTHING
        others = escaped or any(_reaches(ctx, value, known_as, beside=True) for value in given)
        return ANYTHING if others and not following.alone else None
    there, function = target
    if function in following.running:
        return unseen(protocol)
    if function.decorator_list and not _plainly_decorated(there, function, vocabulary):
        return unseen(protocol)
    inner = _cast_of(ctx, call, there, function, cast)
    key = (happenings, function, tuple(sorted(inner.items())), vocabulary, id(protocol), following.alone)
    if key not in there.memo:
        nodes = _happenings(there, function, inner, vocabulary, protocol, following.into(function))
        there.memo[key] = summarize(protocol, there.flow_of(function), nodes)
    summary: Summary = there.memo[key]
    if summary.is_idle:
        return None
    return ANYTHING if _yields(function) else summary  # it happens where something is drawn, in parts


def _is_drawn_from(
    ctx: PythonContext,
    iterated: ast.expr,
    cast: Cast,
    vocabulary: Vocabulary,
    protocol: Protocol,
    following: _Following,
) -> bool:
    """Whether each round of a loop goes on with a generator of the project that does something to an object."""
    for each in possible_values(ctx, iterated)[0]:
        for call in (node for node in ast.walk(each.node) if isinstance(node, ast.Call)):
            target = instances.callee(each.ctx, call)
            if target is None or target[1] in following.running or not _yields(target[1]):
                continue
            there, function = target
            inner = _cast_of(each.ctx, call, there, function, cast)
            if _happenings(there, function, inner, vocabulary, protocol, following.into(function)):
                return True
    return False


def _is_kept(ctx: PythonContext, scope: Scope, cast: Cast, vocabulary: Vocabulary) -> bool:
    """Whether an object of the project is made that keeps an object of the cast (`a_feed_that_trains`)."""
    for call in (node for node in own(scope) if isinstance(node, ast.Call)):
        made = _constructor(ctx, call)
        inner = _cast_of(ctx, call, *made, cast) if made is not None else {}
        if made is not None and inner and escapes(made[0], made[1], inner, vocabulary.methods):
            return True
    return False


def _iterates_itself(ctx: PythonContext, iterated: ast.expr) -> bool:
    """Whether a class of the project says itself what a loop over one of its objects does."""
    return any(
        isinstance(each.node, ast.Call) and any(":" in origin for origin in each.ctx.origin(each.node.func))
        for each in possible_values(ctx, iterated)[0]
    )


def _cast_of(
    ctx: PythonContext, call: ast.Call, there: PythonContext, function: Function, cast: Cast
) -> dict[str, str]:
    """What the objects of a cast are called in a function that is called."""
    found: dict[str, str] = {}
    here, method = ctx.method(call), there.method(function)
    taken = there.parameter_names(function)
    for role, name in cast.items():
        parameter = next(
            (each for each in taken if (given := given_by(there, call, function, each)) and ctx.name(given) == name), ""
        )
        head, _, rest = name.partition(".")
        if parameter:
            found[role] = parameter
        elif method is not None and isinstance(call.func, ast.Attribute) and ctx.name(call.func.value) == name:
            found[role] = method.self
        elif here is not None and head == here.self:
            of_self = isinstance(call.func, ast.Attribute) and ctx.name(call.func.value) == here.self
            if method is not None and rest and of_self:
                found[role] = f"{method.self}.{rest}"
        elif there is ctx and head not in taken and not there.bindings(function).get(head):
            if binder(ctx, head, call) is binder(ctx, head, function.body[0]):
                found[role] = name  # the same variable around both
    return found


def _constructor(ctx: PythonContext, call: ast.Call) -> tuple[PythonContext, Function] | None:
    """`__init__` of a class of the project that a call makes an object of."""
    origins = ctx.origin(call.func)
    if len(origins) != 1 or ":" not in (origin := next(iter(origins))):
        return None
    path, _, name = origin.partition(":")
    there = ctx.other(path)
    if there is None or not there.classes(name):
        return None
    return there.definition(f"{name}.__init__")


def _plainly_decorated(ctx: PythonContext, function: Function, vocabulary: Vocabulary) -> bool:
    """Whether a function is decorated with nothing but what leaves it as it is."""
    plain = vocabulary.decorators | {"staticmethod", "classmethod", "property"}
    funcs = (each.func if isinstance(each, ast.Call) else each for each in function.decorator_list)
    return all((ctx.origin(func) & plain) or ctx.name(func) in plain for func in funcs)


def _yields(function: Function) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own(function))


def _is_known(ctx: PythonContext, manager: ast.expr, vocabulary: Vocabulary) -> bool:
    return isinstance(manager, ast.Call) and vocabulary.is_harmless(ctx, manager)


def _is_held(ctx: PythonContext, func: ast.Attribute) -> bool:
    """Whether what is called is an attribute that `self` holds, and surely no method, which would be given `self`."""
    method = ctx.method(func)
    if method is None or ctx.name(func.value) != method.self:
        return False
    return ctx.index.lineage(method.owner).complete and ctx.index.method(method.owner, func.attr) is None


def _reaches(ctx: PythonContext, node: ast.AST, names: Collection[str], *, beside: bool) -> bool:
    """Whether an expression gives away one of the objects, or what holds it.

    What an object computes, `model(x)`, does not hold it; what one of its methods gives may.

    Args:
        beside: whether another attribute of the same owner counts: `self.criterion` (`given_to_a_class`).
    """
    waiting = [node]
    while waiting:
        each = waiting.pop()
        name = ctx.name(each)
        if name is not None and any(held == name or held.startswith((f"{name}.", f"{name}[")) for held in names):
            return True
        if name is not None and not beside:
            continue
        if isinstance(each, ast.Call) and ctx.name(each.func) in names:
            waiting += values(each)
        else:
            waiting += ast.iter_child_nodes(each)
    return False


def escapes(ctx: PythonContext, scope: Scope, cast: Cast, methods: frozenset[str]) -> list[ast.AST]:
    """Where a function leaves an object to others: another name, an attribute, a container, a nested function."""
    found: list[ast.AST] = []
    names = frozenset(cast.values())
    for node in own(scope):
        if isinstance(node, (ast.Name, ast.Attribute)) and ctx.name(node) in names:
            match ctx.parent(node):
                case ast.Attribute(attr=attribute) as method if attribute in methods:
                    above = ctx.parent(method)
                    if isinstance(above, ast.Expr) or (isinstance(above, ast.Call) and above.func is method):
                        continue
                case ast.Attribute() | ast.Call() | ast.keyword() | ast.Expr() | ast.Starred() | ast.Subscript():
                    continue
                case ast.Assign(value=value) | ast.AnnAssign(value=value) if value is not node:
                    continue
                case ast.Compare() | ast.Return() | ast.arg() | ast.Delete():
                    continue
                case ast.IfExp(test=test) if test is node:
                    continue
                case ast.Tuple() as pair if isinstance(ctx.parent(pair), ast.Return):
                    continue
                case None:
                    continue
            if isinstance(getattr(node, "ctx", None), ast.Load):
                found.append(node)
        elif isinstance(node, (ast.Lambda, *FUNCTIONS)) and not isinstance(scope, (ast.Module, ast.ClassDef)):
            if any(isinstance(each, (ast.Name, ast.Attribute)) and ctx.name(each) in names for each in ast.walk(node)):
                found.append(node)
    return found
