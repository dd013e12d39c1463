"""Models that DistributedDataParallel or an Accelerator has wrapped, and calls that go around the wrapper."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.analysis import instances
from codemods.analysis.calls import argument, given, given_by, positional, values
from codemods.analysis.instances import constructed
from codemods.analysis.mentions import Occurrence, mentions
from codemods.analysis.places import where_defined
from codemods.analysis.python_context import PythonContext
from codemods.analysis.sources import sources
from codemods.analysis.values import PossibleValue, possible_values
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.frameworks.gradients.grad_mode import gradients
from codemods.model.edits import Evidence
from codemods.model.names import ACCELERATOR
from codemods.syntax.module import FUNCTIONS, Function, is_none, own, parameters

WRAPPER = frozenset(
    {"torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.distributed.DistributedDataParallel"}
)
_ASIDE = frozenset(
    {"parameters", "named_parameters", "buffers", "named_buffers", "modules", "named_modules", "children", "state_dict"}
    | {"load_state_dict", "to", "cuda", "cpu", "train", "eval", "zero_grad", "requires_grad_", "half", "float", "apply"}
    | {"named_children", "get_parameter", "get_submodule", "register_buffer", "register_forward_hook", "double"}
)
"""Methods of a module that compute nothing of a batch."""
_DEPTH = 2


@dataclass(frozen=True, slots=True)
class Bypass:
    """What a call goes around."""

    where: PythonContext
    made: ast.Call
    """The call that wraps the model."""
    wrapper: ast.expr | None
    """The wrapper, as it is written at the call; None: it has no name there."""
    is_plain: bool
    """Whether the model itself is called, as `wrapper.module(x)`."""


def bypass(ctx: PythonContext, call: ast.Call) -> Bypass | None:
    """The wrapper that a call of its model, or of a method or a part of it, goes around."""
    node, names = call.func, list[str]()
    while True:
        for wrapped in _inside(ctx, node):
            made = wraps(ctx, wrapped)
            if made is not None and (not names or names[0] not in _ASIDE):
                written = wrapped if isinstance(node, ast.Attribute) and node.value is wrapped else None
                return Bypass(*made, written, written is not None and not names)
        if (made := _bare(ctx, node)) is not None and (not names or names[0] not in _ASIDE):
            return Bypass(*made, None, False)
        if not isinstance(node, ast.Attribute):
            return None
        names.append(node.attr)
        node = node.value


def given_without(ctx: PythonContext, call: ast.Call) -> tuple[Bypass, ast.expr] | None:
    """The wrapper of a model that a call is given without it, and the model as it is given (`given_to_a_loss`)."""
    for value in values(call):
        for wrapped in _inside(ctx, value) if isinstance(value, ast.Name | ast.Attribute) else ():
            if (made := wraps(ctx, wrapped)) is not None:
                return Bypass(*made, None, False), value
    return None


@question
def it_is_called_there(ctx: PythonContext, call: ast.Call, model: ast.expr) -> Answer:
    """Whether a function surely calls the model that it is given."""
    if (found := instances.callee(ctx, call)) is not None:
        where, function = found
        names = {p.arg for p in parameters(function) if given_by(where, call, function, p.arg) is model}
        if any(where.name(node.func) in names for node in own(function) if isinstance(node, ast.Call)):
            return yes()
    return unknown(where_defined(ctx, call.func, f"whether `{ctx.written(call.func)}` calls it is not known", at=call))


def _inside(ctx: PythonContext, node: ast.expr) -> list[ast.expr]:
    """The wrapper of what surely is the model inside of one: `model` of `model.module`."""
    if isinstance(node, ast.Attribute) and node.attr == "module":
        return [node.value]
    if (chosen := _inside_if_wrapped(ctx, node)) is not None:
        return [chosen]
    found, complete = (
        possible_values(ctx, node, given=given)
        if isinstance(node, ast.Name | ast.Attribute | ast.Call)
        else ([], False)
    )
    held: list[ast.expr] = []
    for each in found:
        match each.node:
            case ast.Attribute(value=wrapped, attr="module") if each.ctx is ctx and not each.path:
                held.append(wrapped)
            case ast.Call(func=ast.Attribute(value=owner, attr="unwrap_model")) as call if not each.path:
                model = positional(call, 0)
                if model is None or each.ctx is not ctx or not ctx.is_a(owner, ACCELERATOR):
                    return []
                held.append(model)
            case _:
                return []
    return held[:1] if complete else []


def _inside_if_wrapped(ctx: PythonContext, node: ast.expr) -> ast.expr | None:
    """`model` where a name is bound to `model.module if ddp else model` (`raw_model`)."""
    bindings = ctx.assigned(node) if isinstance(node, ast.Name) else None
    values = [each.value for each in bindings or ()]
    match values:
        case [ast.IfExp(body=body, orelse=orelse)]:
            for inner, outer in ((body, orelse), (orelse, body)):
                if isinstance(inner, ast.Attribute) and inner.attr == "module":
                    if ctx.name(outer) is not None and ctx.name(inner.value) == ctx.name(outer):
                        return inner.value
    return None


def wraps(ctx: PythonContext, node: ast.expr) -> tuple[PythonContext, ast.Call] | None:
    """The call that makes a wrapper, and its file; None where it may be something else, what is wrapped apart."""
    found, complete = _held(ctx, node)
    calls = [(each, constructed(each.node)) for each in found if isinstance(each.node, ast.Call)]
    wrapping = {each: (each.ctx, call) for each, call in calls if _wraps(each.ctx, call)}
    inner = {value.node for where, call in wrapping.values() for value in _wrapped(where, call)}
    others = [each for each in found if each not in wrapping]
    made = list(wrapping.values())
    known = all(is_none(each.node) or each.node in inner for each in others)
    return made[0] if made and complete and known else None


def _held(ctx: PythonContext, node: ast.expr) -> tuple[list[PossibleValue], bool]:
    """What an expression may be where it stands; for an attribute, what it may be at any time."""
    return possible_values(ctx, node, ordered=isinstance(node, ast.Name), given=given)


def _wraps(ctx: PythonContext, call: ast.Call) -> bool:
    if ctx.means(call.func, WRAPPER):
        return True
    func = call.func
    prepares = isinstance(func, ast.Attribute) and func.attr in ("prepare", "prepare_model")
    return prepares and isinstance(func, ast.Attribute) and ctx.is_a(func.value, ACCELERATOR)


def _wrapped(ctx: PythonContext, call: ast.Call) -> list[PossibleValue]:
    """What a wrapper is made of."""
    held = values(call) if not ctx.means(call.func, WRAPPER) else [argument(call, "module", 0)]
    return [value for each in held if each is not None for value in possible_values(ctx, each, given=given)[0]]


def _bare(ctx: PythonContext, node: ast.expr) -> tuple[PythonContext, ast.Call] | None:
    """The wrapper that the file makes of a model, where a name surely is that model and never the wrapper."""
    if not isinstance(node, ast.Name) or not (wrappers := _wrappers(ctx)):
        return None
    found, complete = possible_values(ctx, node)
    made = {constructed(each.node) for each in found if isinstance(each.node, ast.Call) and not each.path}
    if not complete or len(made) != len(found):
        return None
    for wrapper in wrappers:
        inner, _ = possible_values(ctx, argument(wrapper, "module", 0) or node)
        held = {constructed(each.node) for each in inner if isinstance(each.node, ast.Call)}
        if made and wrapper not in made and made <= held:
            return ctx, wrapper
    return None


def _wrappers(ctx: PythonContext) -> list[ast.Call]:
    """The calls of a file that wrap a model for several processes."""
    key = (_wrappers,)
    if key not in ctx.memo:
        calls = [call for call in ctx.all(ast.Call) if ctx.means(call.func, WRAPPER)]
        ctx.memo[key] = [call for call in calls if argument(call, "module", 0) is not None]
    found: list[ast.Call] = ctx.memo[key]
    return found


@question
def several_processes_train(bypass: Bypass) -> Answer:
    """Whether a model surely is wrapped: an Accelerator does so where several processes run."""
    if bypass.where.means(bypass.made.func, WRAPPER):
        return yes()
    return unknown(bypass.where.evidence(bypass.made, "this wraps the model where several processes run"))


@question
def wrapper_stays_uncalled(ctx: PythonContext, bypass: Bypass) -> Answer:
    """Whether nothing calls a wrapper where gradients are on."""
    places: list[Evidence] = []
    for where in {id(each): each for each in (ctx, bypass.where)}.values():
        for call in where.all(ast.Call):
            if _is(where, call.func, bypass) and gradients(where, call) != "off":
                return no(where.evidence(call, "the wrapper is called here"))
            if where is bypass.where and call is bypass.made:
                continue
            for value in values(call):
                if isinstance(value, ast.Name | ast.Attribute) and _is(where, value, bypass):
                    places += _handed(where, call, value, _DEPTH)
    return unless(places)


def _is(ctx: PythonContext, node: ast.expr, bypass: Bypass) -> bool:
    """Whether an expression may be a wrapper."""
    if not isinstance(node, ast.Name | ast.Attribute) or _inside_if_wrapped(ctx, node) is not None:
        return False
    if isinstance(node, ast.Attribute) and node.attr == "forward":
        return _is(ctx, node.value, bypass)
    calls = (each.node for each in _held(ctx, node)[0] if isinstance(each.node, ast.Call))
    return any(constructed(call) is bypass.made for call in calls)


def _handed(ctx: PythonContext, call: ast.Call, model: ast.expr, depth: int) -> Iterator[Evidence]:
    """The calls that may run a wrapper that is handed to a function, where gradients are on."""
    found = ctx.callee(call)
    if found is None:
        if not _is_harmless(ctx, call):
            yield where_defined(ctx, call.func, f"`{ctx.written(call.func)}` may call the wrapper", at=call)
        return
    where, function = found
    for parameter in parameters(function):
        if given_by(where, call, function, parameter.arg) is model:
            yield from _called(where, function, parameter.arg, depth)


def _called(ctx: PythonContext, function: Function, name: str, depth: int) -> Iterator[Evidence]:
    off = any(gradients(ctx, statement) == "off" for statement in function.body[:1])
    for node in own(function):
        if off or not isinstance(node, ast.Call) or gradients(ctx, node) == "off":
            continue
        if ctx.name(node.func) in (name, f"{name}.forward"):
            yield ctx.evidence(node, "the wrapper may be called here")
        for value in values(node):
            if ctx.name(value) == name:
                if depth:
                    yield from _handed(ctx, node, value, depth - 1)
                else:
                    yield where_defined(ctx, node.func, f"`{ctx.written(node.func)}` may call the wrapper", at=node)


def _is_harmless(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a function of Python or torch, or one that takes the wrapper away, calls nothing that it is given."""
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr in ("unwrap_model", "prepare", "save", "watch", "save_state"):
        return True
    origins = ctx.origin(func)
    if origins:
        return all(each.startswith("torch.") for each in origins)
    return isinstance(func, ast.Name) and func.id in ("isinstance", "hasattr", "getattr", "print", "len", "type", "id")


@question
def nobody_averages_gradients(ctx: PythonContext) -> Answer:
    """Whether nothing in the program averages gradients over processes by hand."""
    places: list[Evidence] = []
    for mention in mentions(ctx, "all_reduce", "all_reduce_coalesced", "average_gradients"):
        averages = _is_of_gradients(mention)
        if averages:
            return no(mention.evidence("gradients are averaged here"))
        if averages is None:
            places.append(mention.evidence("this may average gradients"))
    return unless(places)


def _is_of_gradients(mention: Occurrence) -> bool | None:
    """Whether a place reduces gradients; None: what it reduces is not known."""
    ctx, call = mention.ctx, mention.call
    if call is None or not call.args:
        return None
    scope = ctx.scope(call)
    flowing = [*sources(ctx, scope, call.args[0])]
    if any(isinstance(node, ast.Attribute) and node.attr in ("grad", "parameters") for node in flowing):
        return True
    if not isinstance(scope, FUNCTIONS):
        return False
    asked = ctx.parameter_names(scope) & {node.id for node in flowing if isinstance(node, ast.Name)}
    for name in asked:
        for held in given(ctx, scope, name):
            if held is None:
                return None
            where, value = held
            if any(
                isinstance(node, ast.Attribute) and node.attr in ("grad", "parameters")
                for node in sources(where, where.scope(value), value)
            ):
                return True
    return False
