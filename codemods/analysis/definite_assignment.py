"""Whether a name, or an attribute of `self`, surely has a value at a place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import super_method
from codemods.analysis.python_context import Method, PythonContext
from codemods.flow.answers import Answer, no, question, unknown, yes
from codemods.flow.control_flow import ControlFlow
from codemods.model.edits import Evidence
from codemods.model.names import LIGHTNING_MODULE, LIGHTNING_SETUP
from codemods.syntax.module import FUNCTIONS, Function, own


@question
def is_assigned(ctx: PythonContext, name: str, at: ast.AST) -> Answer:
    """Whether what is written as `name` is there, whichever way leads to a place.

    Of a plain name: a parameter, or assigned before on every way. Of `self.x`: assigned on every way through the
    constructor, or through a hook that has run before, or before in the same method; or the place is where a test has
    asked for it.
    """
    if "." in name:
        method = ctx.method(at)
        head, _, rest = name.partition(".")
        if method is None or head != method.self:
            return is_bound(ctx, head, at)
        return _attribute(ctx, method, name, rest.partition(".")[0], at)
    return is_bound(ctx, name, at)


def is_bound(ctx: PythonContext, name: str, at: ast.AST) -> Answer:
    """The same of a plain name."""
    scope = ctx.scope(at)
    first = scope
    while True:
        if isinstance(scope, (ast.Lambda, *FUNCTIONS)) and name in ctx.parameter_names(scope):
            return yes()
        bindings = ctx.bindings(scope).get(name, ())
        if bindings and (scope is first or not isinstance(scope, ast.ClassDef)):
            if any(not b.conditional for b in bindings) and scope is not first:
                return yes()
            nodes = [b.node for b in bindings]
            flow = ctx.flow_of(scope)
            if flow.surely_passes(nodes, at if scope is first else None) or _asked(ctx, name, at, nodes):
                return yes()
            return no(ctx.evidence(_statement(ctx, nodes[0]), f"`{name}` is set under a condition only"))
        if isinstance(scope, ast.Module):
            return yes()  # imported, or a builtin
        scope = ctx.scope(scope)


def _statement(ctx: PythonContext, node: ast.AST) -> ast.stmt:
    found = ctx.statement(node)
    assert found is not None, "an assignment is, or is in, a statement"
    return found


def _attribute(ctx: PythonContext, method: Method, name: str, attribute: str, at: ast.AST) -> Answer:
    index = ctx.index
    for ref in index.lineage(method.owner).refs:
        klass = index.klass(ref)
        if klass is None:
            continue
        if attribute in klass.methods or any(not a.method for a in klass.attributes.get(attribute, ())):
            return yes()  # a property, or an attribute of the class
    here = [b.node for b in ctx.bindings(method.node).get(name, ())] if ctx.scope(at) is method.node else []
    if here and ctx.flow_of(method.node).surely_passes(here, at):
        return yes()
    first: Evidence | None = None
    for where, function in _before(ctx, method):
        nodes = list(_assignments(where, function, attribute, method))
        if nodes and where.flow_of(function).surely_passes(nodes, None):
            return yes()
        if nodes and first is None:
            line = _statement(where, nodes[0])
            first = where.evidence(line, f"`{name}` is set under a condition only")
        if nodes and _asked(ctx, name, at, nodes, where):
            return yes()
    if _asked(ctx, name, at, []):
        return yes()
    if first is not None:
        return no(first)
    for ref, given in index.assigned(method.owner, attribute):
        return unknown(Evidence(ref.path, given.line, f"`{name}` may not be set by then"))
    return unknown(ctx.evidence(method.node, f"where `{name}` is set is not in sight"))


def _before(ctx: PythonContext, method: Method) -> Iterator[tuple[PythonContext, Function]]:
    """The methods that have run before: the constructor, and Lightning's hooks of a LightningModule."""
    lightning = ctx.index.descends(method.owner, LIGHTNING_MODULE) is True
    for name in LIGHTNING_SETUP if lightning else ("__init__", "__post_init__"):
        if (owner := ctx.index.method(method.owner, name)) is not None and (other := ctx.other(owner.path)) is not None:
            if found := other.definition(f"{owner.name}.{name}"):
                yield found


def _assignments(ctx: PythonContext, function: Function, attribute: str, method: Method) -> Iterator[ast.AST]:
    """The nodes of a function that set an attribute of `self`, themselves or in a method that they surely call."""
    inside = ctx.method(function)
    if inside is None:
        return
    yield from (b.node for b in ctx.bindings(function).get(f"{inside.self}.{attribute}", ()))
    for node in own(function):
        if not isinstance(node, ast.Call):
            continue
        if super_method(node):
            target = _above(ctx, function, node)
        else:
            target = ctx.callee(node)
        if target is not None and target[1] is not function and target[0].method(target[1]) is not None:
            where, called = target
            there = where.method(called)
            assert there is not None
            nodes = [b.node for b in where.bindings(called).get(f"{there.self}.{attribute}", ())]
            if nodes and where.flow_of(called).surely_passes(nodes, None):
                yield node


def _above(ctx: PythonContext, function: Function, call: ast.Call) -> tuple[PythonContext, Function] | None:
    """What `super().method()` runs."""
    here = ctx.klass(function)
    assert isinstance(call.func, ast.Attribute)
    for ref in ctx.index.lineage(here).refs[1:] if here is not None else ():
        klass = ctx.index.klass(ref)
        if klass is not None and call.func.attr in klass.methods:
            other = ctx.other(ref.path)
            return other.definition(f"{ref.name}.{call.func.attr}") if other is not None else None
    return None


def _asked(
    ctx: PythonContext, name: str, at: ast.AST, nodes: list[ast.AST], where: PythonContext | None = None
) -> bool:
    """Whether a test around a place asks for the value, or is the one under which it is set."""
    here = ctx.flow_of(ctx.scope(at)).tests(at)
    for test, holds in here.items():
        if holds and (test == name or (test.startswith("hasattr(") and name.rpartition(".")[2] in test)):
            return True
        if not holds and test == f"{name} is None":
            return True
    owner, _, attribute = name.rpartition(".")
    asked = f"hasattr({owner}, '{attribute}')"
    for above in ctx.ancestors(at):
        if isinstance(above, ast.If) and asked in ast.unparse(above.test):
            return True
    where = where or ctx
    return bool(nodes) and all(_same_tests(where, node, here) for node in nodes[:1])


def _same_tests(ctx: PythonContext, node: ast.AST, here: dict[str, bool]) -> bool:
    """Whether all that had to hold where a value is set holds at the place, too."""
    flow: ControlFlow = ctx.flow_of(ctx.scope(node))
    there = flow.tests(node)
    return bool(there) and all(here.get(test) is holds for test, holds in there.items())
