"""Who runs the closure that Lightning gives to `optimizer_step`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codemods.analysis.calls import keyword
from codemods.analysis.mentions import definers, stores
from codemods.analysis.python_context import Method, PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Evidence
from codemods.model.names import LIGHTNING_SETUP, OPTIMIZER
from codemods.project.index import Ref
from codemods.syntax.facts import MISSING, UNKNOWN
from codemods.syntax.module import Function, own

_KNOWN = ("lightning.", "torch.", "abc.", "typing.")
"""Packages whose classes do not optimize by hand."""
_CONFIGURE = "configure_optimizers"
_HARMLESS = frozenset(
    {"min", "max", "float", "int", "print", "len", "range", "enumerate", "open", "self.log", "self.log_dict"}
)


def optimizes_by_hand(ctx: PythonContext, owner: Ref) -> bool | None:
    """Whether a LightningModule sets `automatic_optimization` to False; None where it may."""
    setting = ctx.index.constant(owner, "automatic_optimization", LIGHTNING_SETUP)
    if setting is MISSING:
        return None if any(not base.startswith(_KNOWN) for base in ctx.index.lineage(owner).external) else False
    return None if setting is UNKNOWN else not setting


def runs_by_hand(ctx: PythonContext, method: Method) -> bool:
    """Whether a method surely runs in manual optimization: it is set so, or `manual_backward` is called, which raises
    otherwise (`set_by_a_method_of_its_base`).
    """
    if ctx.index.constant(method.owner, "automatic_optimization", LIGHTNING_SETUP) is False:
        return True
    calls = (node for node in own(method.node) if isinstance(node, ast.Call))
    return any(ctx.name(call.func) == f"{method.self}.manual_backward" for call in calls)


@question
def steps_with_a_closure(ctx: PythonContext, method: Method) -> Answer:
    """Whether Lightning gives this `optimizer_step` a closure that nothing has run."""
    found: list[Evidence] = []
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


@question
def updates_follow_their_closure(ctx: PythonContext, owner: Ref) -> Answer:
    """Whether `step(closure)` runs the closure, then the update: SAM, for one, updates the weights before."""
    found: list[Evidence] = []
    for path, klass, _ in definers(ctx, "step"):
        if ctx.index.descends(Ref(path, klass.name), OPTIMIZER) is not False:
            found.append(Evidence(path, klass.line, f"`{klass.name}` may do otherwise with a closure"))
    for ref in (owner, *ctx.index.subclasses(owner)):
        if (configure := ctx.method_of(ref, _CONFIGURE)) is not None:
            found += _others(*configure)
    return unless(dict.fromkeys(found))


def _others(ctx: PythonContext, configure: Function) -> Iterator[Evidence]:
    """What may be another optimizer than torch's: a class of another library, or all where none of torch's is made."""
    torchs = False
    for node in (each for each in ast.walk(configure) if isinstance(each, ast.Call)):
        for origin in ctx.origin(node.func):
            torchs |= origin in OPTIMIZER
            if not origin.startswith("torch.") and origin.rpartition(".")[2][:1].isupper():
                yield ctx.evidence(node, f"`{ctx.written(node)}` may do otherwise with a closure")
    if not torchs:
        yield ctx.evidence(configure, "these optimizers may do otherwise with a closure")


@question
def nothing_reads_gradients(ctx: PythonContext, method: Method, before: Iterable[ast.AST]) -> Answer:
    """Whether what runs before the step needs no gradients: the closure computes them in the step."""
    found: list[Evidence] = []
    for node in (each for earlier in before for each in ast.walk(earlier)):
        if isinstance(node, ast.Attribute) and node.attr != "zero_grad":
            if "grad" in node.attr or ctx.index.method(method.owner, node.attr) is not None:
                found.append(ctx.evidence(node, f"`{ctx.written(node)}` may read gradients"))
        elif isinstance(node, ast.Call) and not _is_harmless(ctx, node):
            found.append(ctx.evidence(node, f"`{ctx.written(node)}` may read gradients"))
    return unless(found)


def _is_harmless(ctx: PythonContext, call: ast.Call) -> bool:
    name, origin = ctx.name(call.func) or "", ctx.origin(call.func)
    if origin:
        return all(each.startswith("math.") for each in origin)
    known = name in _HARMLESS or name.endswith(".zero_grad")
    return known and keyword(call, "key") is None and ctx.callee(call) is None


def always_before(ctx: PythonContext, statement: ast.AST) -> list[ast.AST] | None:
    """What runs before a statement that blocks let run once in every call of its function; None for another."""
    before: list[ast.AST] = []
    for parent in ctx.ancestors(statement):
        caught = getattr(parent, "handlers", [])
        if caught or not isinstance(parent, ast.FunctionDef | ast.With | ast.Try) or statement not in parent.body:
            break
        before += [*getattr(parent, "items", []), *parent.body[: parent.body.index(statement)]]
        if isinstance(parent, ast.FunctionDef):
            return before
        statement = parent
    return None
