"""What code may write to without a trace: what it made itself, in the same call."""

from __future__ import annotations

import ast

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.checkpointing.clean_library import MAKERS, VIEWS
from codemods.syntax.module import FUNCTIONS


def is_own(name: ast.Name, ctx: PythonContext, *, counting: bool = False) -> bool:
    """Whether a name holds something that this very call made (`counting`: or a plain number)."""
    scope = ctx.scope(name)
    if not isinstance(scope, FUNCTIONS) or name.id in ctx.parameter_names(scope):
        return False
    values = [b.value for b in ctx.bindings(scope).get(name.id, ()) if not isinstance(b.node, ast.AugAssign)]
    return bool(values) and all(value is not None and is_new(value, ctx, counting) for value in values)


def is_new(value: ast.expr, ctx: PythonContext, counting: bool) -> bool:
    """Whether an expression makes something that nobody else holds."""
    match value:
        case ast.List() | ast.Tuple() | ast.Dict() | ast.ListComp() | ast.DictComp() | ast.BinOp():
            return True
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int() | float() | str()):
            return counting
        case ast.IfExp(body=body, orelse=orelse):
            return is_new(body, ctx, counting) and is_new(orelse, ctx, counting)
        case ast.Call(func=ast.Attribute(value=changed, attr=name)) if name.endswith("_"):
            return is_new(changed, ctx, counting)
        case ast.Call(func=func):
            last = func.attr if isinstance(func, ast.Attribute) else (ctx.name(func) or "")
            return last in MAKERS or (counting and last not in VIEWS)
    return False
