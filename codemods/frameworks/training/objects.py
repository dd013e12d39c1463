"""The objects of a training loop: its optimizer, its model, its scheduler, and what a protocol says of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from codemods.analysis.calls import argument, binder, callers, given, given_by, named_calls, positional
from codemods.analysis.optimizers import is_schedule, optimizes, stepped
from codemods.analysis.python_context import Binding, PythonContext
from codemods.analysis.sources import sources
from codemods.analysis.summaries import Cast, escapes, happenings
from codemods.analysis.values import PossibleValue, possible_values
from codemods.flow.protocols import Course, Happening, Protocol, Violation, run
from codemods.frameworks.training.vocabulary import LoopWords
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS, LOOPS, Function, Scope, is_none, own


def cast_of(ctx: PythonContext, step: ast.Call) -> dict[str, str]:
    """The optimizer that a call steps, by itself or by a scaler, and the model whose parameters it holds.

    Nothing where it steps nothing that surely is an optimizer; no model where the optimizer's constructor is not in
    sight, or is given the parameters of several. What is said of one that nobody is seen to make is not certain
    (`made_elsewhere`).
    """
    node = _stepped(ctx, step)
    name = ctx.name(node)
    if node is None or name is None:
        return {}
    if not _is_made_in_sight(ctx, node) and not _is_made_elsewhere(ctx, node):
        return {}
    held = {model for where, call in makers(ctx, node) for model in _models(where, call, ctx, step)}
    return {"optimizer": name} | ({"model": held.pop()} if len(held) == 1 and "" not in held else {})


_MOST_CALLERS = 20
"""Functions that are looked at to tell whether one of them is called in a loop."""


class Stage(NamedTuple):
    """A function that does something to the objects of a training, itself or by a call."""

    ctx: PythonContext
    scope: Scope
    node: ast.Call
    """What it does it by: the call of an object's method, or of a function that leads to it."""
    cast: dict[str, str]


def stages(ctx: PythonContext, call: ast.Call, cast: dict[str, str]) -> Iterator[Stage]:
    """The function of a call, then those that call it, with the names that they have for the objects of a cast."""
    waiting = [Stage(ctx, ctx.scope(call), call, cast)] if cast else []
    seen: set[ast.AST] = set()
    while waiting:
        stage = waiting.pop(0)
        yield stage
        function = stage.scope
        if not isinstance(function, FUNCTIONS) or function in seen:
            continue
        seen.add(function)
        for where, outer in callers(stage.ctx, function):
            if outer_cast := cast_outside(where, outer, stage.ctx, function, stage.cast):
                waiting.append(Stage(where, where.scope(outer), outer, outer_cast))


def cast_outside(
    ctx: PythonContext, call: ast.Call, there: PythonContext, function: Function, cast: Cast
) -> dict[str, str]:
    """What a caller calls the objects of a cast of the function that it calls; nothing where one has no name there."""
    found: dict[str, str] = {}
    method = there.method(function)
    receiver = ctx.name(call.func.value) if isinstance(call.func, ast.Attribute) else None
    for role, name in cast.items():
        head, _, rest = name.partition(".")
        given = given_by(there, call, function, head)
        if method is not None and head == method.self and rest:
            outside = f"{receiver}.{rest}" if receiver is not None else None
        elif head in there.parameter_names(function):
            held = ctx.name(given) if given is not None else None
            outside = f"{held}.{rest}" if held is not None and rest else held
        else:  # a variable of the file around both
            known = there is ctx and binder(ctx, head, call) is binder(ctx, head, function.body[0])
            outside = name if known else None
        if outside is None:
            return {}
        found[role] = outside
    return found


def _stepped(ctx: PythonContext, call: ast.Call) -> ast.expr | None:
    """What a call steps, by itself or by a gradient scaler that is given it; it may be no optimizer."""
    stepping, given = stepped(ctx, call), positional(call, 0)
    if stepping is not None or not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
        return stepping
    return given if given is not None and optimizes(ctx, given) is True else None


def _is_made_in_sight(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether calls in sight make an optimizer, whose methods are a library's: others may zero gradients (`star`)."""
    found, complete = possible_values(ctx, node, returns=True, given=given)
    # nothing steps the None of `__init__` (made_by_the_model)
    found = [each for each in found if each.path or not is_none(each.node)]
    plain = (_is_apexs(each) or (not each.path and _is_plain(each.ctx, each.node)) for each in found)
    return complete and any(not each.path for each in found) and all(plain)


def _is_made_elsewhere(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether something is used as an optimizer is, and no call in sight makes it."""
    found, _ = possible_values(ctx, node, returns=True, given=given)
    return optimizes(ctx, node) is True and not any(isinstance(each.node, ast.Call) for each in found)


def _is_apexs(value: PossibleValue) -> bool:
    """Whether a value is the optimizer that Apex gives back, the one that it was given (`of_apex`)."""
    node = value.node
    return isinstance(node, ast.Call) and value.path == (1,) and value.ctx.means(node.func, "apex.amp.initialize")


def _is_plain(ctx: PythonContext, maker: ast.AST) -> bool:
    """Whether a call makes an optimizer, of a class that has no `step` or `zero_grad` of the project (`of_its_own`)."""
    if not isinstance(maker, ast.Call) or optimizes(ctx, maker) is not True:
        return False
    classes = [Ref.of(origin) for origin in ctx.origin(maker.func) if ":" in origin]
    return all(ctx.index.method(ref, name) is None for ref in classes for name in ("step", "zero_grad"))


def makers(ctx: PythonContext, node: ast.expr) -> list[tuple[PythonContext, ast.Call]]:
    """The calls that make an object, as far as they are in sight."""
    found, _ = possible_values(ctx, node, returns=True, given=given)
    return [(each.ctx, each.node) for each in found if isinstance(each.node, ast.Call) and not each.path]


def _models(where: PythonContext, maker: ast.Call, ctx: PythonContext, step: ast.Call) -> Iterator[str]:
    """The names, where `step` stands, of the models whose parameters an optimizer is given; empty for what is not known
    there.
    """
    first = argument(maker, "params", 0)
    for node in sources(where, where.scope(maker), first) if first is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="parameters" | "named_parameters")):
                name = where.name(_around(where, owner))
                yield _known_as(where, maker, name, ctx, step) if name is not None else ""


def _around(ctx: PythonContext, part: ast.expr) -> ast.expr:
    """`net` of a name that a loop over `net.named_modules()` binds: what a part of a model belongs to."""
    for each in possible_values(ctx, part)[0]:
        match each.node:
            case ast.Call(func=ast.Attribute(value=net, attr="modules" | "named_modules"), args=[]) if each.path:
                return net
    return part


def _known_as(where: PythonContext, maker: ast.Call, name: str, ctx: PythonContext, at: ast.AST) -> str:
    """What is called `name` where an object is made, by its name at another place; empty: it has none there."""
    made_in, used_in = where.method(maker), ctx.method(at)
    if outside := _given_as(where, maker, name, ctx, at):
        return outside
    if where is not ctx:
        return ""
    if where.scope(maker) is ctx.scope(at):
        return name
    if made_in and used_in and made_in.owner == used_in.owner:
        kept = name if name.startswith(f"{made_in.self}.") else _kept_as(where, maker, name, made_in.self)
        if kept:
            return f"{used_in.self}{kept.removeprefix(made_in.self)}"
    function = ctx.scope(at)
    if isinstance(function, FUNCTIONS):
        for parameter in ctx.parameter_names(function):
            held = given(ctx, function, parameter)
            if held and all(each is not None and _is_named(each, where, maker, name) for each in held):
                return parameter
    head = name.partition(".")[0]
    return name if binder(ctx, head, at) is binder(where, head, maker) else ""


def _given_as(
    where: PythonContext,
    maker: ast.expr,
    name: str,
    ctx: PythonContext,
    at: ast.AST,
    passed: tuple[Scope, ...] = (),
) -> str:
    """The name of what a function gives to another one, which makes an object of it (`left_at_the_end`) or hands it on
    (`made_by_two_functions`); or of what it calls a method of that makes one (`made_by_the_model`).
    """
    function, here = where.scope(maker), ctx.scope(at)
    head, _, rest = name.partition(".")
    if not isinstance(function, FUNCTIONS) or head not in where.parameter_names(function):
        return ""
    if head in where.bindings(function) or function is here or function in passed:
        return ""
    method = where.method(maker)
    if method is not None and head == method.self and isinstance(maker, ast.Call):
        names = {ctx.name(receiver) for receiver in _receivers(ctx, here, function, maker)}
    else:
        names = set()
        for each in given(where, function, head):
            if each is None:
                names.add(None)
            elif each[0].scope(each[1]) is here:
                names.add(ctx.name(each[1]))
            elif outer := each[0].name(each[1]):
                names.add(_given_as(*each, outer, ctx, at, (*passed, function)))
    found = names - {""}
    outside = found.pop() if len(found) == 1 else None
    return "" if outside is None else f"{outside}.{rest}" if rest else outside


def _receivers(ctx: PythonContext, scope: Scope, method: Function, maker: ast.Call) -> Iterator[ast.expr]:
    """The objects of which a function calls the method that makes something."""
    for call in named_calls(ctx, method.name):
        if isinstance(call.func, ast.Attribute) and ctx.scope(call) is scope:
            found, _ = possible_values(ctx, call, returns=True, given=given)
            yield from [call.func.value] if any(each.node is maker for each in found) else ()


def _kept_as(ctx: PythonContext, maker: ast.Call, name: str, self: str) -> str:
    """The attribute of `self` that a method keeps a variable as, `self.model = model`; empty: none, or several."""
    bound = ctx.bindings(ctx.scope(maker)).items()
    found = [each for each, values in bound if each.startswith(f"{self}.") and _are_all(ctx, values, name)]
    return found[0] if len(found) == 1 else ""


def _are_all(ctx: PythonContext, bindings: Sequence[Binding], name: str) -> bool:
    return all(each.value is not None and ctx.name(each.value) == name for each in bindings)


def _is_named(given: tuple[PythonContext, ast.expr], where: PythonContext, maker: ast.Call, name: str) -> bool:
    """Whether what a parameter is given is called so where an object was made."""
    ctx, value = given
    return ctx is where and ctx.name(value) == name and ctx.scope(value) is where.scope(maker)


def vocabulary(ctx: PythonContext, scope: Scope, cast: Cast) -> LoopWords:
    """What the nodes of a function do, with what is known of the optimizer of a cast there."""
    key = (vocabulary, scope, cast["optimizer"])
    if key not in ctx.memo:
        steps = [node for each in own(scope) if isinstance(each, ast.Call) and (node := _stepped(ctx, each))]
        mine = [node for node in steps if ctx.name(node) == cast["optimizer"]]
        reads = (n for n in own(scope) if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load))
        named = mine or [node for node in reads if ctx.name(node) == cast["optimizer"]]
        made = frozenset(call for node in named[:1] for _, call in makers(ctx, node))
        others = any(made.isdisjoint(c for _, c in makers(ctx, each)) for each in _made_around(ctx, scope))
        ctx.memo[key] = LoopWords(made, alone=len(mine) == len(steps) and not others)
    found: LoopWords = ctx.memo[key]
    return found


def _made_around(ctx: PythonContext, scope: Scope) -> Iterator[ast.Call]:
    """The calls that make optimizers which a function may know: its own, those of its class, those of the file."""
    read = {node.id for node in own(scope) if isinstance(node, ast.Name)}
    method = ctx.method(scope)
    inside = [each for each in own(method.klass) if isinstance(each, FUNCTIONS)] if method is not None else []
    for around in dict.fromkeys((scope, *inside, ctx.module.tree)):
        for name, bindings in ctx.bindings(around).items():
            if around is ctx.module.tree and scope is not around and name.partition(".")[0] not in read:
                continue
            for each in bindings:
                if isinstance(each.value, ast.Call) and optimizes(ctx, each.value) is True:
                    yield each.value


def happening_in(ctx: PythonContext, scope: Scope, cast: Cast, protocol: Protocol) -> dict[ast.AST, Happening]:
    """What the nodes of a function do to the objects of a cast."""
    key = (happening_in, scope, tuple(sorted(cast.items())), id(protocol))
    if key not in ctx.memo:
        ctx.memo[key] = happenings(ctx, scope, cast, vocabulary(ctx, scope, cast), protocol)
    found: dict[ast.AST, Happening] = ctx.memo[key]
    return found


def course_of(ctx: PythonContext, scope: Scope, cast: Cast, protocol: Protocol) -> Course:
    """What a protocol says of the objects of a cast in a function.

    A violation that comes only if nobody else acts on them names where they are let go (`Violation.unseen`).
    """
    key = (course_of, scope, tuple(sorted(cast.items())), id(protocol))
    if key not in ctx.memo:
        course = run(
            protocol, ctx.flow_of(scope), happening_in(ctx, scope, cast, protocol), protocol.start, cast.values()
        )
        found = course.violations.union(_doubtful(ctx, scope, cast, protocol, course))
        if (elsewhere := _read_of_elsewhere(ctx, scope, cast)) is not None:
            found = frozenset(each._replace(unseen=each.unseen or elsewhere) for each in found)
        ctx.memo[key] = replace(course, violations=found)
    told: Course = ctx.memo[key]
    return told


def course_of_another_run(ctx: PythonContext, scope: Scope, cast: Cast, protocol: Protocol) -> Course | None:
    """What a protocol says of a function that runs again, on objects as its run before has left them.

    None where it may leave them in several states.
    """
    states = {way.state for way in course_of(ctx, scope, cast, protocol).exits}
    if len(states) != 1:
        return None
    return run(protocol, ctx.flow_of(scope), happening_in(ctx, scope, cast, protocol), states.pop(), cast.values())


def runs_again(ctx: PythonContext, scope: Scope) -> bool:
    """Whether a function is called in a loop, or by one that is (`step_of_a_class`)."""
    waiting, seen = [(ctx, scope)], set[Scope]()
    for where, function in waiting:
        if not isinstance(function, FUNCTIONS) or function in seen or len(seen) > _MOST_CALLERS:
            continue
        seen.add(function)
        for there, outer in callers(where, function):
            if there.enclosing(outer, *LOOPS) is not None:
                return True
            waiting.append((there, there.scope(outer)))
    return False


def _read_of_elsewhere(ctx: PythonContext, scope: Scope, cast: Cast) -> ast.expr | None:
    """Where a function reads an optimizer that nobody is seen to make; None: its maker is in sight."""
    if vocabulary(ctx, scope, cast).made:
        return None
    reads = (node for node in own(scope) if isinstance(node, (ast.Name, ast.Attribute)))
    return next((node for node in reads if ctx.name(node) == cast["optimizer"]), None)


def _doubtful(ctx: PythonContext, scope: Scope, cast: Cast, protocol: Protocol, course: Course) -> Iterator[Violation]:
    """The violations that come only if who else knows the objects does nothing to them (`evaluated_within`)."""
    nodes = happenings(ctx, scope, cast, vocabulary(ctx, scope, cast), protocol, alone=True)
    strict = happening_in(ctx, scope, cast, protocol)
    if nodes == strict:
        return
    surely = {(each.name, each.node, each.since) for each in course.violations}
    let_go = escapes(ctx, scope, cast, vocabulary(ctx, scope, cast).methods)
    changed = [node for node, what in strict.items() if nodes.get(node) != what]
    place = min(let_go or changed, key=lambda each: getattr(each, "lineno", 0))
    for each in run(protocol, ctx.flow_of(scope), nodes, protocol.start, cast.values()).violations:
        if (each.name, each.node, each.since) not in surely:
            yield each._replace(unseen=place)


def schedule_of(ctx: PythonContext, advance: ast.Call) -> dict[str, str]:
    """The scheduler that `scheduler.step()` steps, and its optimizer; nothing where one of them is not certain."""
    if not isinstance(advance.func, ast.Attribute) or advance.func.attr != "step":
        return {}
    node = advance.func.value
    name = ctx.name(node)
    if name is None or not _comes_again(ctx, advance) or not is_schedule(ctx, node):
        return {}
    found = {_optimizer_of(where, call, ctx, advance) for where, call in makers(ctx, node)}
    optimizer = found.pop() if len(found) == 1 else ""
    return {"scheduler": name, "optimizer": optimizer} if optimizer else {}


def _comes_again(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call stands in a loop, or in a function that is called in one (`function_of_an_epoch`)."""
    if ctx.enclosing(call, *LOOPS) is not None:
        return True
    scope = ctx.scope(call)
    return isinstance(scope, FUNCTIONS) and any(
        where.enclosing(outer, *LOOPS) is not None for where, outer in callers(ctx, scope)
    )


def _optimizer_of(where: PythonContext, maker: ast.Call, ctx: PythonContext, advance: ast.Call) -> str:
    """The name, where a scheduler is stepped, of the optimizer that it was made for."""
    first = argument(maker, "optimizer", 0)
    name = where.name(first) if first is not None else None
    if first is None or name is None or not _is_made_in_sight(where, first):
        return ""
    return _known_as(where, maker, name, ctx, advance)
