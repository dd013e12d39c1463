"""Which networks a method of a module may run: its own, and what it reaches beside them."""

from __future__ import annotations

import ast
from collections.abc import Generator, Iterator

from codemods.analysis.calls import default, literal
from codemods.analysis.instances import callee
from codemods.analysis.python_context import Method, PythonContext
from codemods.flow.answers import Answer, question, unknown, unless
from codemods.frameworks.gradients.losses import LOSS_MODULES, NUMBERS
from codemods.model.edits import Evidence
from codemods.project.index import Ref
from codemods.syntax.facts import UNKNOWN, Assignment
from codemods.syntax.module import FUNCTIONS, Function, own, parameters

_ADDING = frozenset({"add_module", "register_module", "register_parameter", "setattr", "vars", "__dict__"})
_LOGGING = frozenset({"log", "log_dict", "print", "all_gather"})
"""Methods of a LightningModule that run no network."""
_PLAIN = frozenset({"float", "int", "str", "bool"})
_WITHOUT = LOSS_MODULES | NUMBERS
"""What is made without a parameter."""


@question
def one_network_runs(ctx: PythonContext, method: Method) -> Answer:
    """Whether all that a method of a module may run with parameters is one attribute of the module, called as a whole.

    Where there is more, some of it may be a teacher, a target or a moving average, however it is run: by its name, in
    a helper, in a loop, by `getattr` (`test_parts_that_stay`).
    """
    if not ctx.index.lineage(method.owner).complete:
        return unknown(ctx.evidence(method.node, "not all parts of the module are known"))
    refs = dict.fromkeys((*ctx.index.lineage(method.owner).refs, *ctx.index.subclasses(method.owner)))
    parts = [part for ref in refs for part in _parts(ctx, ref)]
    more = [each for each in parts if each[0] != parts[0][0]]
    return unless((*(evidence for _, evidence in more), *_beside(ctx, method, {name for name, _ in parts})))


def _parts(ctx: PythonContext, ref: Ref) -> Iterator[tuple[str, Evidence]]:
    """The attributes of a class that may hold parameters."""
    klass, there = ctx.index.klass(ref), ctx.other(ref.path)
    if klass is None or there is None:
        return
    for name, given in klass.attributes.items():
        for each in given:
            if not _is_plain(there, ref, each):
                yield name, Evidence(ref.path, each.line, f"`{name}` may be meant to stay as it is")
                break
    for definition in there.classes(ref.name):
        for node in ast.walk(definition):
            if isinstance(node, (ast.Name, ast.Attribute)) and _last(node) in _ADDING:
                yield _last(node), there.evidence(node, "this may add a part that is meant to stay as it is")


def _last(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _is_plain(there: PythonContext, ref: Ref, assignment: Assignment) -> bool:
    """Whether an attribute is given a constant, a loss without parameters, or an argument that is a number or text."""
    value = assignment.value
    if value.literal is not UNKNOWN:
        return True
    if value.dotted is None:
        return False
    if value.call:
        origins = there.index.resolve(ref.path, value.dotted)
        return bool(origins) and origins <= _WITHOUT
    found = there.definition(f"{ref.name}.{assignment.method}") if assignment.method else None
    return found is not None and _is_a_plain_parameter(found[1], value.dotted)


def _is_a_plain_parameter(function: Function, name: str) -> bool:
    """Whether a parameter is annotated as a number or text, or has one as its default."""
    annotations = [each.annotation for each in parameters(function) if each.arg == name]
    annotated = any(isinstance(each, ast.Name) and each.id in _PLAIN for each in annotations)
    return annotated or isinstance(literal(default(function, name)), (int, float, str))


def _beside(ctx: PythonContext, method: Method, parts: set[str]) -> Iterator[Evidence]:
    """What a method runs that is neither a whole part of its module nor of PyTorch, through what it calls."""
    waiting, seen = [(ctx, method.node)], {method.node}
    while waiting:
        there, function = waiting.pop()
        around = there.method(function)
        for node in own(function):
            target = None
            if around is not None and isinstance(node, ast.Name) and node.id == around.self:
                target = yield from _own(there, node, around, parts)
            elif isinstance(node, ast.Call) and _is_of_the_project(there, node.func):
                target = callee(there, node)
                if target is None:
                    yield _evidence(there, node.func)
            if target is not None and target[1] not in seen:
                seen.add(target[1])
                waiting.append(target)


def _is_of_the_project(ctx: PythonContext, called: ast.expr) -> bool:
    """Whether what is called is defined in the project, or held by a name of the file."""
    if any(":" in origin for origin in ctx.origin(called)):
        return True
    root = (ctx.name(called) or "").partition(".")[0]
    within = (each for each in ctx.ancestors(called) if isinstance(each, (*FUNCTIONS, ast.Lambda)))
    is_local = any(root in ctx.bindings(each) or root in ctx.parameter_names(each) for each in within)
    return not is_local and root in ctx.bindings(ctx.module.tree)


def _own(
    ctx: PythonContext, receiver: ast.Name, method: Method, parts: set[str]
) -> Generator[Evidence, None, tuple[PythonContext, Function] | None]:
    """The method that is called where a module is named; what it is named for otherwise is told."""
    above = ctx.parent(receiver)
    named: ast.expr
    if isinstance(above, ast.Attribute):
        named, name, around = above, above.attr, ctx.parent(above)
    else:
        named, name, around = receiver, "forward", above
    is_called = isinstance(around, ast.Call) and around.func is named
    owner = ctx.index.method(method.owner, name)
    if owner is not None and (is_called or named is not receiver):
        there = ctx.other(owner.path)
        return there.definition(f"{owner.name}.{name}") if there is not None else None
    if name in parts:
        unknown_use = not is_called  # given_parts: one of several, or handed on
    elif named is receiver:
        unknown_use = True  # given_to_a_function
    else:  # unsafe_unasked: set from outside
        is_made = next(ctx.index.assigned(method.owner, name), None) is not None
        unknown_use = is_called and not is_made and name not in _LOGGING
    if unknown_use:
        yield _evidence(ctx, named)
    return None


def _evidence(ctx: PythonContext, node: ast.expr) -> Evidence:
    return ctx.evidence(node, f"`{ctx.written(node)}` may run what is meant to stay as it is")
