"""Code that asks which release of a library it runs on before it chooses a name: a repair of one branch would undo that
choice."""

from __future__ import annotations

import ast
import re

from codemods.analysis.exits import falls_through
from codemods.analysis.python_context import PythonContext
from codemods.syntax.module import TRIES

_ASKS = re.compile(
    r"torch\w*[._]*version|__version__|version\.parse|LooseVersion|digit_version|parse_version"
    r"|torch_?[gl][te](?:_|\d|\b)|[gl][te]_?torch|torch_?\d|torch\w*(?:greater|newer|older|least)",
    re.IGNORECASE,
)
"""Names, and keys of a dict, that speak of torch's version."""
_ASKS_ANY = re.compile(
    _ASKS.pattern + r"|version|signature|__dataclass_fields__"
    r"|(?:transformers|trl|accelerate|peft|lightning|hf|pl)_?(?:v?\d|[gl][te]_?\d)",
    re.IGNORECASE,
)
"""The same of other libraries, and of what a call takes."""
_LISTING = frozenset({"dataclasses.fields", "inspect.getmembers", "typing.get_type_hints"})
"""Functions that tell what a class has."""
_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "TypeError"})


def version_tested(ctx: PythonContext, node: ast.AST, library: str = "torch") -> bool:
    """Whether a test of a library's version or of a name's existence decides if `node` runs."""
    below = node
    for above in ctx.ancestors(node):
        match above:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                if below is not test and asks(ctx, test, library):
                    return True
            case ast.BoolOp(values=values):
                if any(asks(ctx, value, library) for value in values[: values.index(below)]):  # type: ignore[arg-type]
                    return True
            case ast.ExceptHandler():
                return True
        if isinstance(above, TRIES):
            assert isinstance(above, ast.Try)
            if below in above.body and any(_catches_missing(ctx, h, above.body) for h in above.handlers):
                return True
        if isinstance(below, ast.stmt) and _left_before(ctx, below, library):
            return True
        below = above
    return False


def asks(ctx: PythonContext, test: ast.expr, library: str = "torch") -> bool:
    """Whether a condition looks at versions or attributes of a library, itself or through a name it reads."""
    if _asks(ctx, test, library):
        return True
    for part in ast.walk(test):
        if isinstance(part, (ast.Name, ast.Attribute)) and (name := ctx.name(part)):
            for scope in (ctx.scope(test), ctx.module.tree):
                for binding in ctx.bindings(scope).get(name, ()):
                    if binding.value is not None and _asks(ctx, binding.value, library):
                        return True
    return False


def _asks(ctx: PythonContext, expression: ast.expr, library: str) -> bool:
    words = _ASKS if library == "torch" else _ASKS_ANY
    for part in ast.walk(expression):
        match part:
            case ast.Call(func=func, args=[first, *_]) if ctx.name(func) in ("hasattr", "getattr", "dir"):
                if any(origin.partition(".")[0] in ("torch", library) for origin in ctx.origin(first)):
                    return True
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name.lower() == "version":
                return True
            case ast.Call(func=func, args=[first, *_]) if ctx.means(func, _LISTING):
                if any(origin.partition(".")[0] == library for origin in ctx.origin(first)):
                    return True
            case ast.Name(id=name) | ast.Attribute(attr=name) if words.search(ctx.name(part) or name):
                return True
            case ast.Subscript(slice=ast.Constant(value=str(key))) if words.search(key):
                return True
    return False


def _catches_missing(ctx: PythonContext, handler: ast.ExceptHandler, tried: list[ast.stmt]) -> bool:
    """Whether a handler is there for a name that is missing; one for all exceptions is, if a single line is tried."""
    if handler.type is None or ctx.name(handler.type) in ("Exception", "BaseException"):
        lines = [line for line in tried if not _does_nothing(line)]
        return len(lines) == 1 and not hasattr(lines[0], "body")
    named = (n for n in ast.walk(handler.type) if isinstance(n, (ast.Name, ast.Attribute)))
    return any((ctx.name(n) or "").rpartition(".")[2] in _MISSING for n in named)


def _does_nothing(line: ast.stmt) -> bool:
    """Whether a line is a bare name, as which a notebook's magics are read."""
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Name)


def _left_before(ctx: PythonContext, statement: ast.stmt, library: str) -> bool:
    """Whether an earlier `if version…: return` of the same block decides about a statement."""
    holder, field = ctx.module.block(statement)
    key = (_left_before, holder, field, library)
    if key not in ctx.memo:
        leaving = (s for s in getattr(holder, field) if isinstance(s, ast.If) and not falls_through(s.body))
        ctx.memo[key] = next((s.lineno for s in leaving if asks(ctx, s.test, library)), None)
    first = ctx.memo[key]
    return first is not None and first < statement.lineno
