"""Who runs the closure that Lightning gives to `optimizer_step`."""

from __future__ import annotations

import ast

from codemods.analysis.mentions import stores
from codemods.analysis.python_context import Method, PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Evidence
from codemods.model.names import LIGHTNING_SETUP
from codemods.project.index import Ref
from codemods.syntax.facts import MISSING, UNKNOWN

_KNOWN = ("lightning.", "torch.", "abc.", "typing.")
"""Packages whose classes do not optimize by hand."""


def optimizes_by_hand(ctx: PythonContext, owner: Ref) -> bool | None:
    """Whether a LightningModule sets `automatic_optimization` to False; None where it may."""
    setting = ctx.index.constant(owner, "automatic_optimization", LIGHTNING_SETUP)
    if setting is MISSING:
        return None if any(not base.startswith(_KNOWN) for base in ctx.index.lineage(owner).external) else False
    return None if setting is UNKNOWN else not setting


@question
def steps_with_a_closure(ctx: PythonContext, method: Method) -> Answer:
    """Whether Lightning 2 gives this `optimizer_step` a closure that nothing has run."""
    found: list[Evidence] = []
    taken = method.node.args
    if len(taken.posonlyargs) + len(taken.args) != 5 or taken.vararg or taken.kwarg or taken.kwonlyargs:
        found.append(ctx.evidence(method.node, "Lightning 2 gives other parameters"))
    for ref in (method.owner, *ctx.index.subclasses(method.owner)):
        if (klass := ctx.index.klass(ref)) is None:
            continue
        if optimizes_by_hand(ctx, ref) is not False:
            found.append(Evidence(ref.path, klass.line, f"`{ref.name}` may be optimized by hand"))
        if ref != method.owner and (heir := klass.methods.get(method.node.name)):
            found.append(Evidence(ref.path, heir.line, f"`{ref.name}` may run the closure before"))
    for store in stores(ctx, "automatic_optimization"):
        target, place = store.node, store.ctx.method(store.node)
        if place is None or not isinstance(target, ast.Attribute) or ast.unparse(target.value) != place.self:
            found.append(store.ctx.evidence(target, "a module may be optimized by hand"))
    return unless(found)
