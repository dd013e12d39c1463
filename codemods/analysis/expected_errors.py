"""Code that expects an error or a warning: a test that shows a bug is no bug."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis import instances
from codemods.analysis.calls import values
from codemods.analysis.instances import library_values
from codemods.analysis.mentions import Occurrence, may_run_during, mentions
from codemods.analysis.places import where_defined
from codemods.analysis.python_context import PythonContext
from codemods.analysis.regions import WITHS
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Consequence, Evidence
from codemods.syntax.module import FUNCTIONS, TRIES, Function, own

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


def expects_error(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether the code around a node, or every call of the function around it, expects an error or a warning."""
    return _mentions(ctx) and _is_inside(ctx, node, _RAISING | _MARKS | {_SUPPRESSING}, depth=2)


@question
def error_is_not_expected(ctx: PythonContext, node: ast.expr | ast.stmt) -> Answer:
    """Whether nothing that expects an error can reach the place that raises it."""
    place = Occurrence(ctx, node, "")
    found = (each for each in mentions(ctx, *sorted(_RAISING), _SUPPRESSING) if _may_expect(each, place))
    expecting = (each.evidence(f"`{each.ctx.written(each.node)}` may expect the error") for each in found)
    return unless([*_caught(ctx, node), *_entered(ctx, node), *_run_by_others(ctx, node), *expecting])


def _entered(ctx: PythonContext, node: ast.AST) -> Iterator[Evidence]:
    """The managers of the project around a node that may catch an error: by `try`, or in `__exit__` (`refused`)."""
    for manager in ctx.regions(node, nested=True):
        if library_values(ctx, manager.entered) is None and not _is_of_a_library(ctx, manager.entered):
            entered = manager.entered
            says = f"`{ctx.written(entered)}` may expect the error"
            yield where_defined(ctx, entered, says, at=entered)


def _is_of_a_library(ctx: PythonContext, entered: ast.expr) -> bool:
    """Whether a manager is made by a method of a library's object: `accelerator.accumulate(model)`."""
    if not isinstance(entered, ast.Call) or not isinstance(entered.func, ast.Attribute):
        return False
    kind = instances.of(ctx, entered.func.value)
    return kind is not None and not any(":" in name for name in kind.names)


def _run_by_others(ctx: PythonContext, node: ast.AST) -> Iterator[Evidence]:
    """The decorators and calls that are given a function around a node, where the project catches errors in their file.

    A harness that runs what it is given may want the error (uncalled-context-manager/lesson).
    """
    for above in ctx.ancestors(node):
        taken: list[ast.expr] = []
        if isinstance(above, FUNCTIONS):
            taken = [each.func if isinstance(each, ast.Call) else each for each in above.decorator_list]
            yield from _handed_to_others(ctx, above.name)
        elif isinstance(above, ast.Lambda) and (call := _given_to(ctx, above)) is not None:
            taken = [call.func]
        for each in taken:
            if _is_of_a_file_that_catches(ctx, each):
                yield where_defined(ctx, each, f"`{ctx.written(each)}` may expect the error", at=each)
        if isinstance(above, ast.Lambda | ast.Call) and _catches(ctx):  # table_of_calls
            if isinstance(above, ast.Lambda) or ctx.calls(above, "functools.partial"):
                yield ctx.evidence(above, "who calls this may expect the error")


def _handed_to_others(ctx: PythonContext, function: str) -> Iterator[Evidence]:
    """The calls that are given a function, by its name, where their file catches errors (`first_accepted`)."""
    for each in mentions(ctx, function):
        call = _given_to(each.ctx, each.node) if isinstance(each.node, ast.expr) else None
        if call is not None and _is_of_a_file_that_catches(each.ctx, call.func):
            yield each.evidence(f"`{each.ctx.written(call.func)}` may expect the error")
        above = each.ctx.parent(each.node)
        if isinstance(above, (ast.Dict, ast.List, ast.Tuple, ast.Set)) and _catches(each.ctx):  # called_by_a_table
            yield each.evidence("who calls this may expect the error")


def _is_of_a_file_that_catches(ctx: PythonContext, func: ast.expr) -> bool:
    for origin in ctx.origin(func):
        there = ctx.other(origin.partition(":")[0]) if ":" in origin else None
        if there is not None and _catches(there):
            return True
    return False


def _catches(ctx: PythonContext) -> bool:
    """Whether a file catches errors, of whatever kind, and goes on."""
    for handler in ctx.all(ast.ExceptHandler):
        if not any(isinstance(each, ast.Raise) for each in own(handler)):
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            named = {(ctx.name(kind) or "").rpartition(".")[2] for kind in kinds if kind is not None}
            if handler.type is None or named & _SUPPRESSED or not any(name[:1].isupper() for name in named):
                return True
    return False


def _caught(ctx: PythonContext, node: ast.AST) -> Iterator[Evidence]:
    """The handlers around a node, in its function, that catch an error of that kind and go on."""
    below = node
    for above in ctx.ancestors(node):
        if isinstance(above, FUNCTIONS):
            return
        if isinstance(above, TRIES) and below in getattr(above, "body", ()):
            for handler in getattr(above, "handlers", ()):
                kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
                named = {(ctx.name(kind) or "").rpartition(".")[2] for kind in kinds if kind is not None}
                goes_on = not any(isinstance(each, ast.Raise) for each in own(handler))
                if goes_on and (handler.type is None or named & _SUPPRESSED):
                    yield Evidence(ctx.path, handler.lineno, "the error may be expected here")
        below = above


def _may_expect(expecting: Occurrence, place: Occurrence) -> bool:
    """Whether a place may run where an error is expected: what is entered or called there reaches it.

    A manager that is kept or returned may be entered by every `with` of which it is not known what it enters.
    """
    ctx = expecting.ctx
    if expecting.call is not None and not _is_one(ctx, expecting.call, _RAISING | {_SUPPRESSING}):
        return False
    for above in ctx.ancestors(expecting.node):
        if isinstance(above, ast.withitem):
            if expecting.word == _SUPPRESSING and place.ctx.klass(place.node) is not None:
                return False  # what is suppressed around some `x.step()` says nothing of the method of a class
            holder = ctx.parent(above)
            return holder is not None and may_run_during(place, {holder: ctx})
        if isinstance(above, ast.stmt):
            break
    if expecting.call is not None and len(values(expecting.call)) > 1 and may_run_during(place, {expecting.call: ctx}):
        return True
    holders = {each.holder: place.ctx for each in place.ctx.regions(place.node, nested=True)}
    around = {each: there for each, there in holders.items() if _enters_unknown(there, each)}
    return may_run_during(place, {**dict.fromkeys(_unknown_withs(ctx), ctx), **around})


def _unknown_withs(ctx: PythonContext) -> list[ast.AST]:
    """The `with` statements of a file that enter something that no known library makes."""
    if (_unknown_withs,) not in ctx.memo:
        ctx.memo[_unknown_withs,] = [each for each in ctx.all(*WITHS) if _enters_unknown(ctx, each)]
    known: list[ast.AST] = ctx.memo[_unknown_withs,]
    return known


def _enters_unknown(ctx: PythonContext, holder: ast.AST) -> bool:
    """Whether a statement is a `with` that enters something that no known library makes."""
    if not isinstance(holder, WITHS):
        return False
    made = [library_values(ctx, item.context_expr) for item in holder.items]
    return None in made or any(_is_one(*each, _RAISING | {_SUPPRESSING}) for known in made for each in known or ())


def expects(ctx: PythonContext, node: ast.AST, consequence: Consequence) -> bool:
    """Whether what a bug costs at a node is what the code there expects: then there is nothing to report."""
    if expects_error(ctx, node):
        return True
    return consequence <= Consequence.WARNS and is_observed(ctx, node)


def is_observed(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether warnings are caught around a node, or a name that it uses may be patched: an edit there breaks a test."""
    return _mentions(ctx) and _is_inside(ctx, node, _QUIETING | {_PATCHING}, depth=2)


def _mentions(ctx: PythonContext) -> bool:
    if (_mentions,) not in ctx.memo:
        ctx.memo[_mentions,] = any(word in ctx.text for word in _WORDS)
    return bool(ctx.memo[_mentions,])


def _is_inside(ctx: PythonContext, node: ast.AST, names: frozenset[str], depth: int) -> bool:
    if any(_is_one(ctx, manager.entered, names) for manager in ctx.regions(node, nested=True)):
        return True
    for above in ctx.ancestors(node):
        if isinstance(above, ast.Lambda) and (call := _given_to(ctx, above)) is not None and _is_one(ctx, call, names):
            return True
        if isinstance(above, FUNCTIONS) and depth and _every_use_is_inside(ctx, above, names, depth - 1):
            return True
    return False


def _is_one(ctx: PythonContext, expression: ast.expr, names: frozenset[str]) -> bool:
    """Whether an expression is, or calls, something of these names: `pytest.raises(…)`, `mock.patch.object(…)`."""
    func = expression.func if isinstance(expression, ast.Call) else expression
    written = frozenset(_names(func))
    parts = written & names
    if _PATCHING in parts and "mock" not in written and not any("mock" in origin for origin in ctx.origin(func)):
        parts -= {_PATCHING}
    if _SUPPRESSING in parts and isinstance(expression, ast.Call):
        suppressed = {(ctx.name(argument) or "").rpartition(".")[2] for argument in values(expression)}
        parts = parts if suppressed & _SUPPRESSED else parts - {_SUPPRESSING}
    return bool(parts)


def _names(node: ast.expr) -> Iterator[str]:
    """The names in a chain of attributes and calls: `a`, `b`, `c` of `a().b.c`."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        if isinstance(node, ast.Attribute):
            yield node.attr
        node = node.value if isinstance(node, ast.Attribute) else node.func
    if isinstance(node, ast.Name):
        yield node.id


def _every_use_is_inside(ctx: PythonContext, function: Function, names: frozenset[str], depth: int) -> bool:
    """Whether the file uses a function, and only where that is expected."""
    uses: list[ast.expr] = [n for n in ctx.all(ast.Name) if n.id == function.name]
    uses += [n for n in ctx.all(ast.Attribute) if n.attr == function.name]
    uses = [n for n in uses if function not in ctx.ancestors(n)]
    return bool(uses) and all(_is_use_inside(ctx, use, names, depth) for use in uses)


def _is_use_inside(ctx: PythonContext, use: ast.expr, names: frozenset[str], depth: int) -> bool:
    """Whether a function is used where that is expected: called there, or given to what expects it."""
    if (call := _given_to(ctx, use)) is not None and _is_one(ctx, call, names):
        return True
    return _is_inside(ctx, use, names, depth)


def _given_to(ctx: PythonContext, value: ast.expr) -> ast.Call | None:
    """The call that a value is an argument of."""
    above = ctx.parent(value)
    if isinstance(above, ast.keyword):
        above = ctx.parent(above)
    return above if isinstance(above, ast.Call) and value is not above.func else None
