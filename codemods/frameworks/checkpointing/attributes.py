"""What the attributes of objects of the project hold, by the classes that assign them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.checkpointing.frames import Argument, Frame, Instance, Unseen
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS, Function, is_none, parameters

if TYPE_CHECKING:
    from codemods.frameworks.checkpointing.callables import Tracer


def attribute(tracer: Tracer, owner: Instance, name: str) -> Iterator[Argument]:
    """The expressions assigned to an attribute of an object, by its class and its relatives."""
    for ref in tracer.classes(owner):
        klass = tracer.index.klass(ref)
        given = klass.attributes.get(name, ()) if klass else ()
        if not given:
            continue
        context = tracer.open(ref.path)
        for method in dict.fromkeys(a.method for a in given):
            holder, target = _holder(context, ref, method, name)
            bindings = context.bindings(holder).get(target, ())
            if len(bindings) != sum(a.method == method for a in given) or any(b.value is None for b in bindings):
                raise Unseen(f"what `{ref.name}.{name}` holds is not in sight")
            made = owner.made if holder is tracer.constructor(owner.ref) else None
            frame = Frame(context, owner, {holder: made} if made and isinstance(holder, FUNCTIONS) else {})
            for binding in bindings:
                if binding.value is not None and not is_none(binding.value):
                    yield binding.value, frame


def _holder(context: PythonContext, ref: Ref, method: str, name: str) -> tuple[Function | ast.ClassDef, str]:
    """The method or class whose body assigns an attribute, and the name by which it does."""
    if not method:
        if classes := context.classes(ref.name):
            return classes[0], name
    elif (definition := context.definition(f"{ref.name}.{method}")) and (given := parameters(definition[1])):
        return definition[1], f"{given[0].arg}.{name}"
    raise Unseen(f"what `{ref.name}.{name}` holds is not in sight")
