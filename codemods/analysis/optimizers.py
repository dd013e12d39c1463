"""What is an optimizer: by its class, or by what the code does with it. A name is no evidence."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from codemods.analysis import instances
from codemods.analysis.calls import given, positional
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import Following, PossibleValue, possible_values, verdicts
from codemods.model.names import GRAD_SCALER, OPTIMIZER
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS, Scope, is_none, own

_OPTIMIZERS = re.compile(r"torch\.optim\.(?!lr_scheduler\b|swa_utils\b)[A-Z]\w*|transformers\.(AdamW|Adafactor)")
_SCHEDULES = re.compile(r"torch\.optim\.lr_scheduler\.\w+")
_TOGETHER = frozenset({"step", "zero_grad"})
"""Methods that together only an optimizer has, of what is not called itself."""
_ALONE = frozenset({"param_groups", "add_param_group"})
_NEVER = frozenset({"backward", "forward", "parameters", "eval", "get_last_lr", "scale", "unscale_"})
"""Attributes that an optimizer does not have."""


def optimizes(ctx: PythonContext, node: ast.expr) -> bool | None:
    """Whether a value is an optimizer; None where neither its class nor its use shows it."""
    found, complete = possible_values(ctx, node, returns=True, given=given)
    told = {_made(each.ctx, each.node) for each in found if not each.path and not is_none(each.node)}
    if complete and told in ({True}, {False}):
        return told.pop()
    kind = instances.of(ctx, node)
    if kind is not None:
        verdicts = {_is_class(ctx, name) for name in kind.names}
        return verdicts.pop() if len(verdicts) == 1 else None
    return _by_use(ctx, node)


def are_different(ctx: PythonContext, a: ast.expr, b: ast.expr) -> bool:
    """Whether two expressions surely are different optimizers.

    They are where different calls make them. Two parameters, two attributes of `self`, and two items of one list are
    taken for different ones.
    """
    if ast.dump(a) == ast.dump(b):
        return False
    match a, b:
        case ast.Subscript(value=one, slice=ast.Constant(value=x)), ast.Subscript(
            value=other, slice=ast.Constant(value=y)
        ):
            return x != y and ast.dump(one) == ast.dump(other)
    made, complete = possible_values(ctx, a, returns=True)
    others, whole = possible_values(ctx, b, returns=True)
    ends = {each.node for each in made}, {each.node for each in others}
    if complete and whole and all(isinstance(node, ast.Call) for node in ends[0] | ends[1]):
        return ends[0].isdisjoint(ends[1])
    return _is_own(ctx, a) and _is_own(ctx, b)


def _is_own(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether it is a parameter that is never bound anew, or an attribute of `self`."""
    if isinstance(node, ast.Name):
        scope = ctx.scope(node)
        return (
            isinstance(scope, FUNCTIONS)
            and node.id in ctx.parameter_names(scope)
            and not ctx.bindings(scope).get(node.id)
        )
    method = ctx.method(node)
    return method is not None and isinstance(node, ast.Attribute) and ctx.name(node.value) == method.self


def stepped(ctx: PythonContext, call: ast.Call) -> ast.expr | None:
    """`optimizer` of `optimizer.step()`, where it may be one; None where it surely is something else.

    An optimizer is stepped with nothing or with a closure, and does not give several values.
    """
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "step":
        return None
    if isinstance(func.value, ast.Call) and ctx.name(func.value.func) == "super":
        return None
    arguments = [each.value if isinstance(each, ast.Starred) else each for each in call.args]
    arguments += (k.value for k in call.keywords)
    if len(arguments) > 1 or not all(isinstance(each, (ast.Name, ast.Attribute, ast.Lambda)) for each in arguments):
        return None
    holder = ctx.parent(call)
    if isinstance(holder, ast.Assign) and any(isinstance(target, (ast.Tuple, ast.List)) for target in holder.targets):
        return None
    return func.value if optimizes(ctx, func.value) is not False and not is_schedule(ctx, func.value) else None


def is_schedule(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a value surely is a learning rate scheduler, or another thing that is stepped beside an optimizer."""
    told = verdicts(PossibleValue(ctx, node, following=Following(returns=True, given=given)), _schedules)
    known = [each for each in told if each is not _NOTHING]
    return bool(known) and all(known)


_NOTHING = "nothing"


def _schedules(value: PossibleValue) -> bool | str | None:
    match value.node:
        case ast.Constant(value=None) if not value.path:
            return _NOTHING  # (none_where_the_rate_stays)
        case ast.withitem(context_expr=entered):
            maker = entered.func if isinstance(entered, ast.Call) else entered
            return True if any(":" not in origin for origin in value.ctx.origin(maker)) else None  # a profiler
        case ast.Call(func=ast.Attribute(attr="lr_schedulers")):
            return True
        case ast.Call(func=func) if not value.path:
            origins = value.ctx.origin(func)
            return True if origins and all(_makes_schedules(value.ctx, each) for each in origins) else None
        case ast.Name() | ast.Attribute() as name if not value.path:
            kind = instances.of(value.ctx, name)
            if kind is None or any(":" in each and value.ctx.index.klass(Ref.of(each)) is None for each in kind.names):
                return None  # what a function of the project returns (made_by_two_functions)
            return all(_makes_schedules(value.ctx, each) for each in kind.names)
    return None


def _makes_schedules(ctx: PythonContext, origin: str) -> bool:
    """A class or function of a library that makes schedules, or an own class that extends one (`own_class`)."""
    if ":" in origin:
        return any("lr_scheduler" in base for base in ctx.index.lineage(Ref.of(origin)).external)
    return "lr_scheduler" in origin or ("schedule" in origin and origin.startswith(("transformers.", "diffusers.")))


def _made(ctx: PythonContext, node: ast.AST) -> bool | None:
    """Whether a call makes an optimizer."""
    if not isinstance(node, ast.Call):
        return None
    verdicts = {_is_class(ctx, name) for name in instances.called(ctx, node)}  # (chosen_by_name in given_to_a_class)
    return verdicts.pop() if len(verdicts) == 1 else None


def _is_class(ctx: PythonContext, name: str) -> bool | None:
    """Whether a class is one of optimizers; None for functions, and for what is not fully in sight."""
    if ":" in name:
        ref = Ref.of(name)
        return ctx.index.descends(ref, OPTIMIZER) if ctx.index.klass(ref) is not None else None
    if _OPTIMIZERS.fullmatch(name):
        return True
    last = name.rpartition(".")[2]
    return False if last[:1].isupper() and name.startswith(("torch.", "lightning.")) else None


def _by_use(ctx: PythonContext, node: ast.expr) -> bool | None:
    name = ctx.name(node)
    if name is None:
        return None
    used = uses_of(ctx, node, name)
    if used & _NEVER or "()" in used:
        return False
    if used >= _TOGETHER or used & _ALONE or "(optimizer)" in used:
        return True
    return True if _is_the_only_one(ctx, node, name) else None


def _is_the_only_one(ctx: PythonContext, node: ast.expr, name: str) -> bool:
    """Whether a function that differentiates steps this and nothing else, by itself or by what takes an optimizer."""
    scope = ctx.scope(node)
    key = (_is_the_only_one, scope)
    if key not in ctx.memo:
        found: set[str] = set()
        differentiates = False
        for each in _deep(scope):
            match each:
                case ast.Call(func=ast.Attribute(value=owner, attr="step"), args=[], keywords=[]):
                    found.add(ctx.name(owner) or "")
                case ast.Call(func=ast.Attribute(attr="step"), args=[first, *_]):
                    found |= {ctx.name(first) or "", ""}  # a scaler, or another thing that steps
                case ast.Attribute(attr="backward" | "manual_backward"):
                    differentiates = True
        ctx.memo[key] = found if differentiates else set()
    return bool(ctx.memo[key] == {name})


def uses_of(ctx: PythonContext, node: ast.expr, name: str) -> frozenset[str]:
    """The attributes that the code asks of a name: in its function and those inside; of `self.x` in the whole class.

    `()`: it is called itself; `(optimizer)`: it is given to what takes an optimizer.
    """
    method = ctx.method(node)
    if method is not None and name.startswith(f"{method.self}.") and name.count(".") == 1:
        attribute = name.partition(".")[2]
        methods = [each for each in own(method.klass) if isinstance(each, FUNCTIONS) and ctx.method(each) is not None]
        return frozenset().union(*(_table(ctx, each).get(f"{_self(ctx, each)}.{attribute}", ()) for each in methods))
    scope = ctx.scope(node)
    while isinstance(scope, (ast.Lambda, *FUNCTIONS)):
        bound = name.partition(".")[0] in ctx.parameter_names(scope) or ctx.bindings(scope).get(name)
        if bound:
            break
        scope = ctx.scope(scope)
    return _table(ctx, scope).get(name, frozenset())


def _self(ctx: PythonContext, function: ast.AST) -> str:
    method = ctx.method(function)
    return method.self if method is not None else ""


def _table(ctx: PythonContext, scope: Scope | ast.AST) -> Mapping[str, frozenset[str]]:
    """What a function, with those inside of it, asks of each name."""
    key = (_table, scope)
    if key not in ctx.memo:
        found: dict[str, set[str]] = {}
        for node in _deep(scope):
            match node:
                case ast.Attribute(value=owner, attr=attribute) if isinstance(node.ctx, ast.Load):
                    found.setdefault(ctx.name(owner) or "", set()).add(attribute)
                case ast.Call(func=func):
                    found.setdefault(ctx.name(func) or "", set()).add("()")
                    first = positional(node, 0)
                    if first is not None and _takes_an_optimizer(ctx, node):
                        found.setdefault(ctx.name(first) or "", set()).add("(optimizer)")
        ctx.memo[key] = {name: frozenset(used) for name, used in found.items()}
    table: Mapping[str, frozenset[str]] = ctx.memo[key]
    return table


def _deep(scope: ast.AST) -> list[ast.AST]:
    nodes = list(own(scope))
    inside = [node for node in nodes if isinstance(node, (ast.Lambda, *FUNCTIONS))]
    return nodes + [each for function in inside for each in _deep(function)]


def _takes_an_optimizer(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call is one of a learning rate scheduler's class, or of a gradient scaler's `step` or `unscale_`."""
    origins = ctx.origin(call.func)
    if origins:
        return all(_SCHEDULES.fullmatch(origin) for origin in origins)
    match call.func:
        case ast.Attribute(value=owner, attr="step" | "unscale_"):
            kind = instances.of(ctx, owner)
            return kind is not None and kind.names <= GRAD_SCALER
    return False
