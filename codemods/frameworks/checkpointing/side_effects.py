"""What code may write to without a trace: what it made itself, in the same call."""

from __future__ import annotations

import libcst as cst

from codemods.frameworks.checkpointing.clean_library import MAKERS, VIEWS
from codemods.frameworks.checkpointing.frames import parameters
from codemods.rules.context import Context


def is_own(name: cst.Name, ctx: Context, *, counting: bool = False) -> bool:
    """Whether a name holds something that this very call made (`counting`: or a plain number)."""
    scope = ctx.scope(name)
    if not isinstance(scope, cst.FunctionDef):
        return False
    values = [b.value for b in ctx.bindings(scope).get(name.value, ()) if not isinstance(b.node, cst.AugAssign)]
    if not values or any(p.name.value == name.value for p in parameters(scope)):
        return False
    return all(value is not None and is_new(value, ctx, counting) for value in values)


def is_new(value: cst.BaseExpression, ctx: Context, counting: bool) -> bool:
    match value:
        case cst.List() | cst.Tuple() | cst.Dict() | cst.ListComp() | cst.DictComp() | cst.BinaryOperation():
            return True
        case cst.Integer() | cst.Float() | cst.SimpleString():
            return counting
        case cst.IfExp(body=body, orelse=orelse):
            return is_new(body, ctx, counting) and is_new(orelse, ctx, counting)
        case cst.Call(func=cst.Attribute(value=changed, attr=cst.Name(value=name))) if name.endswith("_"):
            return is_new(changed, ctx, counting)
        case cst.Call(func=func):
            last = func.attr.value if isinstance(func, cst.Attribute) else (ctx.name(func) or "")
            return last in MAKERS or (counting and last not in VIEWS)
        case _:
            return False
