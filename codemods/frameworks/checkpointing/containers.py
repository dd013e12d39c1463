"""What the containers of modules hold: lists, `ModuleList`, `Sequential`, filled at once or by `append`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from codemods.frameworks.checkpointing.attributes import attribute
from codemods.frameworks.checkpointing.clean_library import CONTAINERS
from codemods.frameworks.checkpointing.frames import Argument, Frame, Instance, Unseen, parameters, written
from codemods.rules.context import Context
from codemods.syntax import flow

if TYPE_CHECKING:
    from codemods.frameworks.checkpointing.callables import Tracer


def contents(tracer: Tracer, expr: cst.BaseExpression, frame: Frame) -> Iterator[Argument]:
    """The expressions that make the elements of a list, `ModuleList`, `Sequential`, or a slice of one."""
    tracer.step()
    ctx = frame.ctx
    match expr:
        case cst.List(elements=items) | cst.Tuple(elements=items) | cst.Dict(elements=items):
            for item in items:
                starred = isinstance(item, (cst.StarredElement, cst.StarredDictElement))
                yield from contents(tracer, item.value, frame) if starred else [(item.value, frame)]
        case cst.ListComp(elt=elt) | cst.GeneratorExp(elt=elt) | cst.DictComp(value=elt):
            yield elt, frame
        case cst.BinaryOperation(left=left, right=right, operator=cst.Add()):
            yield from contents(tracer, left, frame)
            yield from contents(tracer, right, frame)
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Slice())]):
            yield from contents(tracer, value, frame)
        case cst.Subscript(value=value):
            for made, where in contents(tracer, value, frame):
                yield from contents(tracer, made, where)
        case cst.Call() if ctx.means(expr.func, CONTAINERS) or ctx.name(expr.func) in ("list", "tuple"):
            for arg in expr.args:
                single = not arg.star and ctx.means(expr.func, "torch.nn.Sequential")
                yield from [(arg.value, frame)] if single else contents(tracer, arg.value, frame)
        case cst.Name() if held := list(tracer.named(expr, frame)):
            for each, where in held:
                if not isinstance(each, cst.BaseExpression):
                    raise Unseen(f"what `{expr.value}` holds is not in sight")
                yield from contents(tracer, each, where)
            yield from appended(tracer, ctx, expr.value, ctx.function(expr), frame)
        case cst.Attribute(value=value, attr=cst.Name(value=name)) if owners := tracer.objects(value, frame):
            for owner in owners:
                yield from contents_of(tracer, owner, name)
        case _:
            raise Unseen(f"what `{written(ctx, expr)}` holds is not in sight")


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
            if definition := context.definition(f"{ref.name}.{method}"):
                first = next(parameters(definition[1]), None)
                made = owner.made if definition[1] is tracer.constructor(owner.ref) else None
                frame = Frame(context, owner, {definition[1]: made} if made else {})
                if first is not None:
                    yield from appended(tracer, context, f"{first.name.value}.{name}", definition[1], frame)


def appended(
    tracer: Tracer, ctx: Context, name: str, function: cst.FunctionDef | None, frame: Frame
) -> Iterator[Argument]:
    """What a function appends to a container."""
    for node in flow.own(function.body) if function is not None else ():
        match node:
            case cst.Call(func=cst.Attribute(value=held, attr=cst.Name(value=verb))) if ctx.name(held) == name:
                match verb, [a.value for a in node.args if not a.star]:
                    case "append", [value]:
                        yield value, frame
                    case (("insert" | "add_module" | "register_module"), [_, value]):
                        yield value, frame
                    case "extend", [value]:
                        yield from contents(tracer, value, frame)
                    case _ if verb in ("append", "insert", "extend", "update", "add_module"):
                        raise Unseen(f"what `{name}` holds is not in sight")
            case cst.AugAssign(target=target, value=value) if ctx.name(target) == name:
                yield from contents(tracer, value, frame)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript(value=held))], value=value):
                if ctx.name(held) == name:
                    yield value, frame
