"""Code that asks which torch it runs on before it chooses a name: a repair of one branch would undo that choice."""

from __future__ import annotations

import re

import libcst as cst

from codemods.rules.context import Context
from codemods.syntax import flow

_ASKS = re.compile(
    r"torch\w*[._]*version|__version__|version\.parse|\bVersion\(|LooseVersion|digit_version|parse_version"
    r"|torch_?[gl][te](?:_|\d|\b)|[gl][te]_?torch|torch_?\d|torch\w*(?:greater|newer|older|least)",
    re.IGNORECASE,
)
_MISSING = re.compile(r"\b(?:ImportError|ModuleNotFoundError|AttributeError|NameError|TypeError)\b")


def version_tested(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether a test of torch's version or of a name's existence decides if `node` runs."""
    below = node
    for above in ctx.ancestors(node):
        match above:
            case cst.If() | cst.IfExp() | cst.While() if below is not above.test and asks(ctx, above.test):
                return True
            case cst.BooleanOperation(left=left) if below is not left and asks(ctx, left):
                return True
            case cst.Try() | cst.TryStar():
                if below is above.body and any(_catches_missing(ctx, h, above.body) for h in above.handlers):
                    return True
            case cst.ExceptHandler() | cst.ExceptStarHandler():
                return True
            case cst.IndentedBlock() | cst.Module() if _left_before(ctx, above, below):
                return True
        below = above
    return False


def asks(ctx: Context, test: cst.BaseExpression) -> bool:
    """Whether a condition looks at versions or attributes of torch, itself or through a name it reads."""
    if _asks(ctx, test):
        return True
    for part in (test, *flow.own(test)):
        if isinstance(part, (cst.Name, cst.Attribute)) and (name := ctx.name(part)):
            for scope in (ctx.scope(test), ctx.module):
                for binding in ctx.bindings(scope).get(name, ()):
                    if binding.value is not None and _asks(ctx, binding.value):
                        return True
    return False


def _asks(ctx: Context, expression: cst.BaseExpression) -> bool:
    for part in (expression, *flow.own(expression)):
        if isinstance(part, cst.Call) and part.args and ctx.name(part.func) in ("hasattr", "getattr", "dir"):
            if any(origin.partition(".")[0] == "torch" for origin in ctx.origin(part.args[0].value)):
                return True
    return _ASKS.search(ctx.module.code_for_node(expression)) is not None


def _catches_missing(ctx: Context, handler: cst.ExceptHandler | cst.ExceptStarHandler, tried: cst.BaseSuite) -> bool:
    """Whether a handler is there for a name that is missing; one for all exceptions is, if a single line is tried."""
    if handler.type is None or ctx.name(handler.type) in ("Exception", "BaseException"):
        lines = [line for line in tried.body if not _does_nothing(line)]
        return len(lines) == 1 and not isinstance(lines[0], cst.BaseCompoundStatement)
    return _MISSING.search(ctx.module.code_for_node(handler.type)) is not None


def _does_nothing(line: cst.CSTNode) -> bool:
    """Whether a line is a bare name, as which a notebook's magics are read."""
    return isinstance(line, cst.SimpleStatementLine) and all(
        isinstance(each, cst.Expr) and isinstance(each.value, cst.Name) for each in line.body
    )


def _left_before(ctx: Context, block: cst.IndentedBlock | cst.Module, child: cst.CSTNode) -> bool:
    """Whether an earlier `if version…: return` of the block decides about `child`."""
    for statement in block.body:
        if statement is child:
            return False
        if isinstance(statement, cst.If) and not flow.falls_through(statement.body) and asks(ctx, statement.test):
            return True
    return False
