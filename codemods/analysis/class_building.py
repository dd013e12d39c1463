"""Whether a class or a function is what its statement says: nothing of the project makes another of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from codemods.analysis.mentions import definers
from codemods.analysis.places import where_defined
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Evidence
from codemods.model.names import TORCH_MODULE
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS, Function, own, parameters

_BUILDING = ("__init_subclass__", "__getattribute__")
"""Methods by which a base puts something in the place of what a class defines."""
_SETTERS = ("setattr", "__setattr__")


@question
def class_is_as_written(ctx: PythonContext, node: ast.AST) -> Answer:
    """Whether nothing of the project makes another class of the one around a place."""
    klass = ctx.klass(node)
    if klass is None:
        return unless(())
    return unless(place for each in ctx.index.lineage(klass).refs for place in _places(ctx, each.path, each.name))


@question
def heirs_are_as_written(ctx: PythonContext, base: str) -> Answer:
    """Whether nothing of the project makes another class of one that extends a library's (`rebuilt_by_a_decorator`)."""
    return unless(place for each in extending(ctx, frozenset({base})) for place in _places(ctx, each.path, each.name))


@question
def modules_keep(ctx: PythonContext, *methods: str) -> Answer:
    """Whether no module of the program has a method of its own in the place of one that every module has.

    Fixtures: `dropout_stays`, `its_own_eval`, `its_own_setattr`.
    """
    return unless(
        Evidence(path, klass.methods[method].line, f"`{klass.name}.{method}` may do something else")
        for path, klass, method in definers(ctx, *methods)
        if ctx.index.descends(Ref(path, klass.name), TORCH_MODULE) is not False
    )


def extending(ctx: PythonContext, bases: frozenset[str]) -> Iterator[Ref]:
    """The classes of the program that extend a library's class."""
    words = tuple(sorted({base.rpartition(".")[2].encode() for base in bases}))
    for path in dict.fromkeys((ctx.path, *ctx.index.search(ctx.path, words))):
        facts = ctx.index.facts(path)
        for name in facts.classes if facts is not None else ():
            if not ctx.index.lineage(Ref(path, name)).external.isdisjoint(bases):
                yield Ref(path, name)


@question
def function_is_as_written(ctx: PythonContext, node: ast.AST) -> Answer:
    """Whether no decorator of the project makes another function of the one around a place, or of what defines it.

    It may give other arguments, leave some out, or not call it at all (`known_arguments`, `with_outputs`).
    """
    functions = (each for each in (node, *ctx.ancestors(node)) if isinstance(each, FUNCTIONS))
    return unless(
        where_defined(ctx, decorator, f"`{ctx.written(decorator)}` may change `{function.name}`", at=function)
        for function in functions
        for decorator in function.decorator_list
        if _may_change(ctx, decorator)
    )


@dataclass(frozen=True, slots=True)
class SetOutside:
    """A place outside of a class that sets an attribute of it: `setattr(Net, name, f)`, `Net.step = f`."""

    owner: Ref
    attribute: str
    """Empty where it is not in sight."""
    shown: Evidence


def set_outside(where: PythonContext) -> tuple[SetOutside, ...]:
    """What a file sets on classes of the program."""
    return where.index.recall((set_outside, where.path), lambda: tuple(_set_outside(where)))


def _set_outside(ctx: PythonContext) -> Iterator[SetOutside]:
    for call in ctx.all(ast.Call):
        if (ctx.name(call.func) or "").rpartition(".")[2] in _SETTERS and len(call.args) == 3:
            owner, name, value = call.args
            attribute = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""
            yield from _on_a_class(ctx, call, owner, attribute, value)
    for target in ctx.all(ast.Attribute):
        holder = ctx.parent(target)
        if isinstance(target.ctx, ast.Store) and isinstance(holder, ast.Assign):
            yield from _on_a_class(ctx, target, target.value, target.attr, holder.value)


def _on_a_class(
    ctx: PythonContext, node: ast.expr, owner: ast.expr, attribute: str, value: ast.expr
) -> Iterator[SetOutside]:
    if isinstance(value, ast.Constant):
        return  # a setting
    for origin in ctx.origin(owner):
        if ":" in origin and ctx.index.klass(Ref.of(origin)) is not None:
            says = f"`{ast.unparse(owner)}.{attribute or '…'}` is set here"
            yield SetOutside(Ref.of(origin), attribute, ctx.evidence(node, says))


def _on(ctx: PythonContext, ref: Ref) -> list[SetOutside]:
    """What is set on a class from outside: in its own file, and in those of the project that may."""
    elsewhere = ctx.index.recall((_on, ctx.index.root(ref.path)), lambda: tuple(_set_in_the_project(ctx, ref.path)))
    own = ctx.other(ref.path) if ref.path == ctx.path or _may_set(ctx, ref.path) else None
    here = set_outside(own) if own is not None else ()
    return [each for each in dict.fromkeys((*here, *elsewhere)) if each.owner == ref]


def set_by_name(ctx: PythonContext, ref: Ref) -> Iterator[Evidence]:
    """The places that give a class an attribute whose name is put together (`made_from_outside`)."""
    says = f"`{ref.name}` may get any attribute here"
    return (replace(each.shown, why=says) for each in _on(ctx, ref) if not each.attribute)


def _set_in_the_project(ctx: PythonContext, path: str) -> Iterator[SetOutside]:
    for other in dict.fromkeys((*ctx.index.search(path, (b"setattr",)), *ctx.index.replacing(path))):
        there = ctx.other(other) if _may_set(ctx, other) else None
        yield from set_outside(there) if there is not None else ()


def _may_set(ctx: PythonContext, path: str) -> bool:
    facts = ctx.index.facts(path)
    return facts is not None and (not facts.called.isdisjoint(_SETTERS) or path in ctx.index.replacing(path))


def _places(ctx: PythonContext, path: str, name: str) -> Iterator[Evidence]:
    yield from (each.shown for each in _on(ctx, Ref(path, name)))  # (set_from_outside)
    there = ctx if path == ctx.path else ctx.other(path) if _may_be_rebuilt(ctx, path, name) else None
    if there is None:
        return
    for klass in there.classes(name):
        for decorator in klass.decorator_list:
            if _may_change(there, decorator):
                yield there.evidence(klass, f"`{there.written(decorator)}` may change `{klass.name}`")
        for word in klass.keywords:
            if word.arg == "metaclass" and any(":" in origin for origin in there.origin(word.value)):
                yield there.evidence(klass, f"`{there.written(word.value)}` may change `{klass.name}`")
        for method in (each for each in klass.body if isinstance(each, FUNCTIONS)):
            if method.name in _BUILDING:
                yield there.evidence(method, f"`{method.name}` may change what a class defines")
            if any(_sets_any(there, node) for node in own(method)):
                yield there.evidence(method, f"`{method.name}` may set any attribute")


def _may_be_rebuilt(ctx: PythonContext, path: str, name: str) -> bool:
    """Whether a class of another file has what may make another of it, as far as facts tell."""
    klass, facts = ctx.index.klass(Ref(path, name)), ctx.index.facts(path)
    if klass is None or facts is None:
        return False
    return klass.marked or any(each in klass.methods for each in _BUILDING) or "setattr" in facts.called


def _sets_any(ctx: PythonContext, node: ast.AST) -> bool:
    """`setattr(self, name, f(value))`: something made, under a name that only a run can tell."""
    match node:
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name() as owner, name, ast.Call()]):
            method = ctx.method(node)
            return method is not None and owner.id == method.self and not isinstance(name, ast.Constant)
    return False


def _may_change(ctx: PythonContext, decorator: ast.expr) -> bool:
    """Whether a decorator is the project's, and not shown to give back the class as it is: a registry does."""
    func = decorator.func if isinstance(decorator, ast.Call) else decorator
    origins = ctx.origin(func)
    if origins and all(":" not in origin for origin in origins):
        return False
    function = ctx.function_at(next(iter(origins))) if len(origins) == 1 else None
    if function is None:
        return True
    made = [each for each in own(function[1]) if isinstance(each, FUNCTIONS)] if decorator is not func else []
    return not (_returns(function[1], {each.name for each in made}) if made else _gives_back(function[1]))


def _gives_back(function: Function) -> bool:
    """Whether a decorator sets nothing and returns what it is given."""
    return _returns(function, {arg.arg for arg in parameters(function)})


def _returns(function: Function, names: set[str]) -> bool:
    """Whether a function returns one of these and sets nothing; so does each function of it that it returns."""
    for node in own(function):
        match node:
            case ast.Return(value=ast.Name(id=name)) if name in names:
                continue
            case ast.FunctionDef() if node.name in names and not _gives_back(node):
                return False
            case ast.Return() | ast.ClassDef() | ast.Attribute(ctx=ast.Store()) | ast.Name(id="setattr" | "type"):
                return False
    return True
