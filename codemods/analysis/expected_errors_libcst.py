"""Code that expects an error or a warning: a test that shows a bug is no bug."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import takewhile
from operator import is_not

import libcst as cst

from codemods.model.edits import Consequence
from codemods.rules.context import Context

_RAISING = frozenset(
    {
        *("raises", "warns", "deprecated_call", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp"),
        *("assertWarns", "assertWarnsRegex", "RaisesGroup"),
    }
)
"""Context managers, or functions that are given a function, in which an error or a warning is expected."""
_MARKS = frozenset({"xfail", "expectedFailure"})
"""Decorators of tests that fail."""
_SUPPRESSING = "suppress"
_SUPPRESSED = frozenset(
    {
        *("BaseException", "Exception", "RuntimeError", "AssertionError", "ValueError", "TypeError", "AttributeError"),
        *("ImportError", "NotImplementedError", "Warning", "UserWarning", "FutureWarning", "DeprecationWarning"),
    }
)
"""What `contextlib.suppress` has to name to count: a training loop that suppresses KeyboardInterrupt is no test."""
_QUIETING = frozenset({"catch_warnings"})
_PATCHING = "patch"
_WORDS = (*sorted(_RAISING | _MARKS | _QUIETING), _SUPPRESSING, _PATCHING)


def expects_error(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether the code around a node, or every call of the function around it, expects an error or a warning."""
    return _mentions(ctx) and _is_inside(ctx, node, _RAISING | _MARKS | {_SUPPRESSING}, depth=2)


def expects(ctx: Context, node: cst.CSTNode, consequence: Consequence) -> bool:
    """Whether what a bug costs at a node is what the code there expects: then there is nothing to report."""
    if expects_error(ctx, node):
        return True
    return consequence <= Consequence.WARNS and is_observed(ctx, node)


def is_observed(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether warnings are caught around a node, or a name that it uses may be patched: an edit there breaks a test."""
    return _mentions(ctx) and _is_inside(ctx, node, _QUIETING | {_PATCHING}, depth=2)


def _mentions(ctx: Context) -> bool:
    return any(word in ctx.text for word in _WORDS)


def _is_inside(ctx: Context, node: cst.CSTNode, names: frozenset[str], depth: int) -> bool:
    below = node
    for above in ctx.ancestors(node):
        match above:
            case cst.With(items=items, body=body):
                entered = items if below is body else takewhile(partial(is_not, below), items)
                if any(_is_one(ctx, item.item, names) for item in entered):
                    return True
            case cst.Lambda():
                argument = ctx.parent(above)
                call = ctx.parent(argument) if isinstance(argument, cst.Arg) else None
                if isinstance(call, cst.Call) and _is_one(ctx, call, names):
                    return True
            case cst.FunctionDef() | cst.ClassDef():
                if any(_is_one(ctx, decorator.decorator, names) for decorator in above.decorators):
                    return True
                if isinstance(above, cst.FunctionDef) and depth and _every_use_is_inside(ctx, above, names, depth - 1):
                    return True
        below = above
    return False


def _is_one(ctx: Context, expression: cst.BaseExpression, names: frozenset[str]) -> bool:
    """Whether an expression is, or calls, something of these names: `pytest.raises(…)`, `mock.patch.object(…)`."""
    func = expression.func if isinstance(expression, cst.Call) else expression
    written = frozenset(_names(func))
    parts = written & names
    if _PATCHING in parts and "mock" not in written and not any("mock" in origin for origin in ctx.origin(func)):
        parts -= {_PATCHING}
    if _SUPPRESSING in parts and isinstance(expression, cst.Call):
        suppressed = {(ctx.name(argument.value) or "").rpartition(".")[2] for argument in expression.args}
        parts = parts if suppressed & _SUPPRESSED else parts - {_SUPPRESSING}
    return bool(parts)


def _names(node: cst.BaseExpression) -> Iterator[str]:
    """The names in a chain of attributes and calls: `a`, `b`, `c` of `a().b.c`."""
    while isinstance(node, (cst.Attribute, cst.Call)):
        if isinstance(node, cst.Attribute):
            yield node.attr.value
        node = node.value if isinstance(node, cst.Attribute) else node.func
    if isinstance(node, cst.Name):
        yield node.value


def _every_use_is_inside(ctx: Context, function: cst.FunctionDef, names: frozenset[str], depth: int) -> bool:
    """Whether the file uses a function, and only where that is expected."""
    name = function.name.value
    uses = [n for n in ctx.all(cst.Name, name) if n.value == name and n is not function.name]
    uses = [n for n in uses if function not in ctx.ancestors(n)]
    return bool(uses) and all(_is_use_inside(ctx, use, names, depth) for use in uses)


def _is_use_inside(ctx: Context, use: cst.Name, names: frozenset[str], depth: int) -> bool:
    """Whether a function is used where that is expected: called there, or given to what expects it."""
    node: cst.CSTNode = use
    while isinstance(above := ctx.parent(node), cst.Attribute):
        node = above
    argument = ctx.parent(node)
    call = ctx.parent(argument) if isinstance(argument, cst.Arg) else None
    if isinstance(call, cst.Call) and _is_one(ctx, call, names):
        return True
    return _is_inside(ctx, use, names, depth)
