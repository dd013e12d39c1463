"""What the containers of modules hold: lists, `ModuleList`, `Sequential`, filled at once or by `append`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.checkpointing.attributes import attribute
from codemods.frameworks.checkpointing.clean_library import CONTAINERS
from codemods.frameworks.checkpointing.frames import Argument, Frame, Instance, Unseen
from codemods.syntax.module import Function, own, parameters

if TYPE_CHECKING:
    from codemods.frameworks.checkpointing.callables import Tracer

GROWING = frozenset({"append", "insert", "extend", "update", "add_module", "register_module"})
"""Methods by which containers get more."""


def contents(tracer: Tracer, expr: ast.expr, frame: Frame) -> Iterator[Argument]:
    """The expressions that make the elements of a list, `ModuleList`, `Sequential`, or a slice of one."""
    tracer.step()
    ctx = frame.ctx
    match expr:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            for item in items:
                yield from contents(tracer, item.value, frame) if isinstance(item, ast.Starred) else [(item, frame)]
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                yield from contents(tracer, value, frame) if key is None else [(value, frame)]
        case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt) | ast.DictComp(value=elt):
            yield elt, frame
        case ast.BinOp(left=left, right=right, op=ast.Add()):
            yield from contents(tracer, left, frame)
            yield from contents(tracer, right, frame)
        case ast.Subscript(value=value, slice=ast.Slice()):
            yield from contents(tracer, value, frame)
        case ast.Subscript(value=value):
            for made, where in contents(tracer, value, frame):
                yield from contents(tracer, made, where)
        case ast.Call() if ctx.means(expr.func, CONTAINERS) or ctx.name(expr.func) in ("list", "tuple"):
            in_order = ctx.means(expr.func, "torch.nn.Sequential")
            for arg in expr.args:
                if isinstance(arg, ast.Starred):
                    yield from contents(tracer, arg.value, frame)
                else:
                    yield from [(arg, frame)] if in_order else contents(tracer, arg, frame)
            for given in expr.keywords:
                single = in_order and given.arg is not None
                yield from [(given.value, frame)] if single else contents(tracer, given.value, frame)
        case ast.Name() if held := list(tracer.named(expr, frame)):
            for each, where in held:
                if not isinstance(each, ast.expr):
                    raise Unseen(f"what `{expr.id}` holds is not in sight")
                yield from contents(tracer, each, where)
            yield from appended(tracer, ctx, expr.id, ctx.function(expr), frame)
        case ast.Attribute(value=value, attr=name) if owners := tracer.objects(value, frame):
            for owner in owners:
                yield from contents_of(tracer, owner, name)
        case _:
            raise Unseen(f"what `{ctx.written(expr)}` holds is not in sight")


def contents_of(tracer: Tracer, owner: Instance, name: str) -> Iterator[Argument]:
    """The elements that an attribute of an object is given, by its constructor and by `append`."""
    found = False
    for value, where in attribute(tracer, owner, name):
        found = True
        yield from contents(tracer, value, where)
    if not found:
        raise Unseen(f"what `{owner.ref.name}.{name}` holds is not in sight")
    yield from grown(tracer, owner, name)


def grown(tracer: Tracer, owner: Instance, name: str) -> Iterator[Argument]:
    """What the methods of an object's class append to its attribute."""
    for ref in tracer.classes(owner):
        context, klass = tracer.open(ref.path), tracer.index.klass(ref)
        for method in klass.methods if klass else ():
            definition = context.definition(f"{ref.name}.{method}")
            if definition is not None and (given := parameters(definition[1])):
                made = owner.made if definition[1] is tracer.constructor(owner.ref) else None
                frame = Frame(context, owner, {definition[1]: made} if made else {})
                yield from appended(tracer, context, f"{given[0].arg}.{name}", definition[1], frame)


def appended(
    tracer: Tracer, ctx: PythonContext, name: str, function: Function | None, frame: Frame
) -> Iterator[Argument]:
    """What a function appends to a container."""
    for node in _growing(ctx, function).get(name, ()) if function is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(attr=verb)):
                given = [a for a in node.args if not isinstance(a, ast.Starred)]
                match verb, [*given, *(k.value for k in node.keywords if k.arg is not None)]:
                    case "append", [value]:
                        yield value, frame
                    case (("insert" | "add_module" | "register_module"), [_, value]):
                        yield value, frame
                    case "extend", [value]:
                        yield from contents(tracer, value, frame)
                    case _ if verb != "register_module":
                        raise Unseen(f"what `{name}` holds is not in sight")
            case ast.AugAssign(value=value):
                yield from contents(tracer, value, frame)
            case ast.Assign(value=value):
                yield value, frame


def _growing(ctx: PythonContext, function: Function) -> Mapping[str, Sequence[ast.AST]]:
    """What in a function gives a container more, by the name of the container."""
    if (_growing, function) not in ctx.memo:
        found: dict[str, list[ast.AST]] = {}
        for node in own(function):
            match node:
                case ast.Call(func=ast.Attribute(value=held, attr=verb)) if verb in GROWING:
                    pass
                case ast.AugAssign(target=held) | ast.Assign(targets=[ast.Subscript(value=held)]):
                    pass
                case _:
                    continue
            if (name := ctx.name(held)) is not None:
                found.setdefault(name, []).append(node)
        ctx.memo[_growing, function] = found
    growing: Mapping[str, Sequence[ast.AST]] = ctx.memo[_growing, function]
    return growing
