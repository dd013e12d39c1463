"""What a value is an instance of: by constructor, by annotation, or by protocol. Unknown is None, never a guess."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import PossibleValue, moved_module, possible_values
from codemods.model.names import ACCELERATOR, GRAD_SCALER, PARAMETER, TORCH_MODULE
from codemods.project.index import NONE, Ref
from codemods.syntax.module import FUNCTIONS, Function, is_none, own, parameters


@dataclass(frozen=True, slots=True)
class InstanceOf:
    """Canonical class names, and on which evidence."""

    names: frozenset[str]
    how: str
    """constructor, annotation, or protocol: the weakest of what shows them"""


_WEAKER = ("constructor", "annotation", "protocol")


def of(ctx: PythonContext, node: ast.expr) -> InstanceOf | None:
    """What an expression's value is an instance of, whatever it may be beside None."""
    found, complete = possible_values(ctx, node)
    kinds = [_kind(each) for each in found if not is_none(each.node)]
    names = frozenset[str]().union(*(kind.names for kind in kinds if kind))
    if names and complete and all(kinds):
        return InstanceOf(names, max((kind.how for kind in kinds if kind), key=_WEAKER.index))
    return _protocol(ctx, node)


def is_module_class(ctx: PythonContext, name: str) -> bool:
    """Whether a canonical name surely is that of a class of modules: of torch, or of the project."""
    if ":" in name:
        return ctx.index.descends(Ref.of(name), TORCH_MODULE) is True
    return name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper()


def may_be_a_parameter(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether an expression may be a parameter of torch that a call in sight makes."""
    found, _ = possible_values(ctx, node)
    return any(not each.path and each.ctx.calls(each.node, PARAMETER) for each in found)


def library_values(ctx: PythonContext, node: ast.expr) -> list[tuple[PythonContext, ast.expr]] | None:
    """What an expression may be, None apart, where libraries make all of it; None: something else may, too."""
    found, complete = possible_values(ctx, node, returns=True)
    made = [(each.ctx, each.node) for each in found if isinstance(each.node, ast.expr) and not is_none(each.node)]
    known = complete and all(not each.path and (is_none(each.node) or _is_external(each)) for each in found)
    return made if known else None


def _is_external(value: PossibleValue) -> bool:
    ctx, maker = value.ctx, value.node.func if isinstance(value.node, ast.Call) else value.node
    if isinstance(maker, ast.Name) and hasattr(builtins, maker.id):
        return maker.id not in ctx.facts.rebound and not any(ctx.facts.named(maker.id))
    return any(":" not in origin for origin in ctx.origin(maker))


def _kind(value: PossibleValue) -> InstanceOf | None:
    """By the call that makes a value, or by what is known of a parameter."""
    if value.path:
        return None
    match value.node:
        case ast.Call() as call:
            names = value.ctx.origin(call.func) or _moved(value.ctx, call)
            return InstanceOf(names, "constructor") if names else None
        case ast.Name() as name:
            return _annotated(value.ctx, name) or _protocol(value.ctx, name)
    return None


def _moved(ctx: PythonContext, call: ast.Call) -> frozenset[str]:
    """`torch.nn.Embedding` of `nn.Embedding(9, 4).to(device)`."""
    names = ctx.origin(constructed(call).func)
    return names if all(name.startswith("torch.nn.") for name in names) else NONE


def constructed(call: ast.Call) -> ast.Call:
    """The call at the head of a chain of methods with which a module returns itself: `Net()` of `Net().to(device)`."""
    while isinstance(moved := moved_module(call), ast.Call):
        call = moved
    return call


def _annotated(ctx: PythonContext, node: ast.Name) -> InstanceOf | None:
    """By the annotation of the parameter that a plain name is."""
    name, scope = ctx.name(node) or "", ctx.scope(node)
    while not isinstance(scope, ast.Module):
        if isinstance(scope, (ast.Lambda, *FUNCTIONS)):
            given = next((each for each in parameters(scope) if each.arg == name), None)
            bound = ctx.bindings(scope).get(name, ())
            if given is not None and given.annotation is not None:
                names = [_annotation(ctx, given.annotation), *(_made(ctx, each.value) for each in bound)]
                return InstanceOf(NONE.union(*names), "annotation") if all(names) else None
            if given is not None or bound:
                return None
        scope = ctx.scope(scope)
    return None


def _made(ctx: PythonContext, value: ast.expr | None) -> frozenset[str]:
    """The class that a call makes an object of: `if args is None: args = TrainingArguments("out")`."""
    return ctx.origin(value.func) if isinstance(value, ast.Call) else NONE


def _annotation(ctx: PythonContext, node: ast.expr) -> frozenset[str]:
    """`X` of `X`, `"X"`, `Optional[X]`, `X | None`."""
    match node:
        case ast.Constant(value=str(text)):
            try:
                return _annotation(ctx, ast.parse(text, mode="eval").body)
            except SyntaxError:
                return NONE
        case ast.Subscript(value=value, slice=inner):
            return _annotation(ctx, inner) if (ctx.name(value) or "").endswith("Optional") else NONE
        case ast.BinOp(left=left, right=right, op=ast.BitOr()):
            if is_none(right):
                return _annotation(ctx, left)
            return _annotation(ctx, right) if is_none(left) else NONE
        case _:
            return ctx.origin(node)


def _protocol(ctx: PythonContext, node: ast.expr) -> InstanceOf | None:
    """By use, in one function: `S.scale(…).backward()` and `S.step(…)`: a GradScaler; `A.backward(x)` beside
    `A.prepare(…)` or `A.accumulate(…)`: an Accelerator. Where a constructor is in sight, it decides.
    """
    if ctx.name(node) is None or ctx.assigned(node) is not None:
        return None
    scope = ctx.scope(node)
    if ("called", scope) not in ctx.memo:
        ctx.memo["called", scope] = _called(ctx, scope)
    used: set[str] = ctx.memo["called", scope].get(ctx.name(node), set())
    if {"scale().backward", "step"} <= used:
        return InstanceOf(GRAD_SCALER, "protocol")
    if "backward" in used and used & {"prepare", "accumulate"}:
        return InstanceOf(ACCELERATOR, "protocol")
    return None


def _called(ctx: PythonContext, scope: ast.AST) -> dict[str | None, set[str]]:
    """The methods that a scope calls, by receiver; `S.scale(…).backward()` as one."""
    called: dict[str | None, set[str]] = {}
    for call in own(scope):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        receiver, method = call.func.value, call.func.attr
        called.setdefault(ctx.name(receiver), set()).add(method)
        if method == "backward" and isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Attribute):
            if receiver.func.attr == "scale":
                called.setdefault(ctx.name(receiver.func.value), set()).add("scale().backward")
    return called


# -- what a call runs


def callee(ctx: PythonContext, call: ast.Call) -> tuple[PythonContext, Function] | None:
    """The project's function that a call runs: also a method of an object whose class is known."""
    if (target := ctx.callee(call)) is not None or not isinstance(call.func, ast.Attribute):
        return target
    kind = of(ctx, call.func.value)
    if kind is None or len(kind.names) != 1 or ":" not in (origin := next(iter(kind.names))):
        return None
    return ctx.method_of(Ref.of(origin), call.func.attr)


def called(ctx: PythonContext, call: ast.Call) -> frozenset[str]:
    """What a call calls, as canonical names: by its name, or by what this name or attribute of `self` is given.

    A function that is assigned on the class is called with `self` as one more argument: that counts as unknown.
    """
    if origins := ctx.origin(call.func):
        return origins
    if _is_made(ctx, call.func):
        return NONE
    given, complete = possible_values(ctx, call.func)
    on_the_class = any(isinstance(each.ctx.scope(each.node), ast.ClassDef) for each in given)
    found = [each.ctx.origin(each.node) if not each.path else NONE for each in given]
    return NONE.union(*found) if complete and all(found) and not on_the_class else NONE


def _is_made(ctx: PythonContext, function: ast.expr) -> bool:
    """Whether some call makes what is called, an attribute of `self`: it has no canonical name then."""
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return False
    method = ctx.method(function)
    if method is None or method.self != function.value.id:
        return False
    given = ctx.index.assigned(method.owner, function.attr)
    return any(each.value.call and each.value.dotted != "next" for _, each in given)
