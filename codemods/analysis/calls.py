"""Calls: the arguments they give, and who calls a function with what."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.analysis.python_context import Binding, PythonContext
from codemods.project.index import Index, Ref
from codemods.syntax.module import FUNCTIONS, Function, Scope, own


def is_set_elsewhere(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a value is a constant of another file of the project: `AMP` or `config.AMP` that is imported."""
    head = (ctx.name(node) or "").partition(".")[0]
    found = list(ctx.facts.named(head)) if head else []
    return bool(found) and not ctx.origin(node)


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value given by this keyword."""
    return next((k.value for k in call.keywords if k.arg == name), None)


def positional(call: ast.Call, index: int) -> ast.expr | None:
    """The value at this position (0-based), if no `*args` comes before it."""
    before = call.args[: index + 1]
    return before[index] if len(before) > index and not any(isinstance(a, ast.Starred) for a in before) else None


def argument(call: ast.Call, name: str, index: int) -> ast.expr | None:
    """The value given by keyword, or at a position."""
    found = keyword(call, name)
    return found if found is not None else positional(call, index)


def values(call: ast.Call) -> list[ast.expr]:
    """What a call is given, by position and by keyword; of `*args` and `**kwargs` what is spread."""
    given = [a.value if isinstance(a, ast.Starred) else a for a in call.args]
    return [*given, *(k.value for k in call.keywords)]


def has_splat(call: ast.Call) -> bool:
    """Whether the call has `*args` or `**kwargs`, which may hide any argument."""
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


def super_method(call: ast.Call) -> str:
    """The name of the method that `super().method(…)` calls; of any other call none."""
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
            return name
    return ""


def literal(node: ast.AST | None) -> object:
    """The value of a literal expression; Ellipsis where it is none."""
    match node:
        case ast.Constant(value=value) if value is not ...:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    return ...


# -- who calls a function


def callers(ctx: PythonContext, function: Function) -> Sequence[tuple[PythonContext, ast.Call]]:
    """The calls that surely run a function: of its file, and of those that import something of its module.

    `__init__` is run by the calls of its class, and of those that extend it and have none (`given_to_a_class`).
    """
    key = (callers, function)
    if key not in ctx.memo:
        ctx.memo[key] = tuple(_callers(ctx, function))
    found: tuple[tuple[PythonContext, ast.Call], ...] = ctx.memo[key]
    return found


def _callers(ctx: PythonContext, function: Function) -> Iterator[tuple[PythonContext, ast.Call]]:
    if function.name == "__init__" and (owner := ctx.klass(function)) is not None:
        yield from _makers(ctx, owner)
        return
    here = callers_here(ctx, function)
    yield from ((ctx, call) for call in here)
    if ctx.qualified(function) != function.name:
        yield from (each for each in _on_objects(ctx, function) if each[1] not in here)
        return
    for path in ctx.index.search(ctx.path, (function.name.encode(),)):
        yield from callers_in(ctx, path, function)


def _makers(ctx: PythonContext, owner: Ref) -> Iterator[tuple[PythonContext, ast.Call]]:
    """The calls that make an object with the `__init__` of a class."""
    heirs = (each for each in ctx.index.subclasses(owner) if ctx.index.method(each, "__init__") == owner)
    for ref in (owner, *heirs):
        last = ref.name.rpartition(".")[2]
        for path in dict.fromkeys((ref.path, *ctx.index.search(ref.path, (last.encode(),)))):
            there = ctx.other(path)
            if there is not None:
                calls = named_calls(there, last)
                yield from ((there, call) for call in calls if there.origin(call.func) == {str(ref)})


def _on_objects(ctx: PythonContext, function: Function) -> Iterator[tuple[PythonContext, ast.Call]]:
    """The calls of a method on an object whose constructor is in sight: `Trainer().fit(…)` (`fitted_elsewhere`)."""
    owner = ctx.klass(function)
    if owner is None or function.name.startswith("__"):
        return
    heirs = (each for each in ctx.index.subclasses(owner) if ctx.index.method(each, function.name) == owner)
    classes = (owner, *heirs)
    names = set(map(str, classes))
    for path in dict.fromkeys(path for ref in classes for path in (ref.path, *ctx.index.importing(ref.path))):
        facts = ctx.index.facts(path)
        there = ctx.other(path) if facts is not None and function.name in facts.called else None
        for call in named_calls(there, function.name) if there is not None else ():
            if isinstance(call.func, ast.Attribute) and there is not None:
                held = call.func.value
                made = [held] if isinstance(held, ast.Call) else [each.value for each in there.assigned(held) or ()]
                if any(isinstance(each, ast.Call) and not names.isdisjoint(there.origin(each.func)) for each in made):
                    yield there, call


def callers_here(ctx: PythonContext, function: Function) -> list[ast.Call]:
    """The calls in its own file that surely run a function."""
    return [call for call in named_calls(ctx, function.name) if _runs(ctx, call, function)]


def callers_in(ctx: PythonContext, path: str, function: Function) -> Iterator[tuple[PythonContext, ast.Call]]:
    """The calls in another file that surely run a function of `ctx`, if something of its module is imported there."""
    if path != ctx.path and imports_of(ctx, path, ctx.path) and (other := ctx.other(path)):
        names = {each.name for each in other.facts.imports if each.target.rpartition(".")[2] == function.name}
        calls = named_calls(other, function.name, *sorted(names - {function.name}))  # (called_by_another_name)
        yield from ((other, call) for call in calls if _runs(other, call, function))


def _runs(ctx: PythonContext, call: ast.Call, function: Function) -> bool:
    target = ctx.callee(call)
    return target is not None and target[1] is function


def named_calls(ctx: PythonContext, *names: str) -> list[ast.Call]:
    """The calls of functions, methods and classes with one of these last names: `name(…)`, `x.name(…)`."""
    key = (named_calls,)
    if key not in ctx.memo:
        by_name: dict[str, list[tuple[int, ast.Call]]] = {}
        for number, call in enumerate(ctx.all(ast.Call)):
            func = call.func
            last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
            by_name.setdefault(last, []).append((number, call))
        ctx.memo[key] = by_name
    found: list[tuple[int, ast.Call]] = [each for name in names for each in ctx.memo[key].get(name, ())]
    return [call for _, call in (sorted(found, key=lambda each: each[0]) if len(names) > 1 else found)]


def imports_of(ctx: PythonContext, path: str, module: str) -> bool:
    """Whether a file imports a module of the project, or something of it."""
    return module in _imported_modules(ctx.index, path)


def _imported_modules(index: Index, path: str) -> frozenset[str]:
    """The files of the project that a file imports, and those that hold what it imports; other names beside them."""

    def modules() -> Iterator[str]:
        facts = index.facts(path)
        for each in facts.imports if facts else ():
            if each.name == "*" or each.dotted:
                if isinstance(module := index.module(path, each.path or each.target), str):
                    yield module
            else:
                yield from (origin.partition(":")[0] for origin in index.resolve(path, each.name))

    return index.recall((_imported_modules, path), lambda: frozenset(modules()))


# -- which values


def given(ctx: PythonContext, function: Function, name: str) -> Sequence[tuple[PythonContext, ast.expr] | None]:
    """What the calls in sight give for a parameter of a function of `ctx`; None for one that cannot be told."""
    return [held(ctx, where, call, function, name) for where, call in callers(ctx, function)]


def held(
    ctx: PythonContext, where: PythonContext, call: ast.Call, function: Function, name: str
) -> tuple[PythonContext, ast.expr] | None:
    """What a parameter of a function of `ctx` holds in one call: what is given, or else its default.

    None where it cannot be told: a call with `*` or `**` may give it (`infinite_default`).
    """
    if (value := given_by(ctx, call, function, name)) is not None:
        return where, value
    left = default(function, name) if not has_splat(call) else None
    return (ctx, left) if left is not None else None


def given_by(ctx: PythonContext, call: ast.Call, function: Function, name: str) -> ast.expr | None:
    """What one call of a function of `ctx` gives for a parameter; None: nothing, or it cannot be told."""
    named = [p.arg for p in (*function.args.posonlyargs, *function.args.args)]
    index = named.index(name) if name in named else -1
    if (isinstance(call.func, ast.Attribute) or function.name == "__init__") and ctx.klass(function) is not None:
        index -= 1
    return keyword(call, name) or (positional(call, index) if index >= 0 else None)


def default(function: Function | ast.Lambda, name: str) -> ast.expr | None:
    """The default of a parameter."""
    given = function.args
    by_position = [*given.posonlyargs, *given.args]
    pairs = [*zip(reversed(by_position), reversed(given.defaults), strict=False)]
    pairs += [(each, value) for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value]
    return next((value for each, value in pairs if each.arg == name), None)


def assigned_to_self(ctx: PythonContext, klass: ast.ClassDef, attribute: str) -> Sequence[Binding]:
    """What the methods of a class assign to an attribute of `self`."""
    key = (assigned_to_self, klass)
    if key not in ctx.memo:
        assigned: dict[str, list[Binding]] = {}
        for function in own(klass):
            if isinstance(function, FUNCTIONS) and (found := ctx.method(function)):
                for name, bindings in ctx.bindings(function).items():
                    if name.startswith(f"{found.self}."):
                        assigned.setdefault(name.partition(".")[2], []).extend(bindings)
        ctx.memo[key] = assigned
    given: dict[str, list[Binding]] = ctx.memo[key]
    return given.get(attribute, ())


def binder(ctx: PythonContext, name: str, node: ast.AST) -> Scope | None:
    """The function or module whose variable a plain name is, seen from `node`."""
    scope = ctx.scope(node)
    while True:
        if isinstance(scope, (ast.Lambda, *FUNCTIONS)) and name in ctx.parameter_names(scope):
            return scope
        if not isinstance(scope, ast.Lambda) and name in ctx.bindings(scope):
            return scope
        if isinstance(scope, ast.Module):
            return None
        scope = ctx.scope(scope)
