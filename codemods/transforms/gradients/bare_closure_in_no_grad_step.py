"""An optimizer of your own whose `step` runs under `torch.no_grad()` and calls the closure as it is.

A closure computes the loss and calls `backward()`. Under `no_grad` the loss it computes has no graph:

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

## Why is this bad?
Whoever passes a closure meets the error: plain PyTorch with `optimizer.step(closure)`, and every LightningModule in
automatic optimization, because Lightning runs `training_step` and the backward pass inside `optimizer.step`. Lightning
2.0.7 and later switch gradients on again around its own closure, so there the bug waits for the next user; plain
PyTorch fails on every version (run on 2.0.1 and 2.13). The optimizers of PyTorch write
`with torch.enable_grad(): loss = closure()`.

The advice to call `torch.set_grad_enabled(True)` in `training_step` does not help: the switch leaks into the
optimizer, which then raises `a leaf Variable that requires grad is being used in an in-place operation.`

## Fix safety
Safe: only the statement that calls the closure moves into `with torch.enable_grad():`; the update itself stays under
`no_grad`. A `step` under `inference_mode` gets `with torch.inference_mode(False):` instead, because `enable_grad` has
no effect there.

Possible, and unsafe, where nobody in sight gives the optimizer a closure, where the closure that is given is not in
sight or the optimizer may be another one, where the step does more with it than to test and to call it, and beside
hooks on steps. Unsafe where a closure that is given cannot be read, or a `forward` of the project writes in place: that
raises with gradients; and where the step keeps the loss, which would have its graph then.

## When it is not offered
Where the class is not surely a `torch.optim.Optimizer`, where the closure is wrapped, bound anew or handed on
(`closure = torch.enable_grad()(closure)`, as in SAM), where gradients are switched on in the method, where the class
reads no gradient (SPSA, MeZO), or where a closure in the project writes weights in place, which would raise. Reported
without a fix where the call stands in the head of an `if` or `while`, or beside other work in one statement.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from codemods.analysis.calls import given, literal, values
from codemods.analysis.gradient_watchers import no_hook_changes_a_step
from codemods.analysis.mentions import Occurrence, mentions
from codemods.analysis.optimizers import is_schedule, optimizes
from codemods.analysis.places import where_defined
from codemods.analysis.python_context import PythonContext
from codemods.analysis.regions import WITHS
from codemods.analysis.values import PossibleValue, possible_values
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.frameworks.gradients.grad_mode import grad_mode, gradients, gradients_on
from codemods.frameworks.gradients.questions import (
    SWITCHING_ON,
    WRITING,
    gradients_stay_off,
    graph_stays_here,
    may_switch,
)
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.names import GRAD_SCALER, OPTIMIZER
from codemods.project.index import NONE, Ref
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import FUNCTIONS, Function, own
from codemods.syntax.verbs import enclose

_DIFFERENTIATING = ("backward", "manual_backward", "grad")
_ASKING = ("callable", "isinstance", "print")

rule = Rule(
    code="GRD005",
    name="bare-closure-in-no-grad-step",
    summary="the closure runs with gradients off, so the loss that it differentiates has no graph",
    fix_title="Call the closure under `torch.enable_grad()`",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    follows=True,
    computed=Computed.NOTHING,
    triggers=(("step",), ("no_grad", "inference_mode", "set_grad_enabled")),
    subclasses=OPTIMIZER,
    errors=("element 0 of tensors does not require grad and does not have a grad_fn",),
    references=(
        "https://docs.pytorch.org/docs/stable/optim.html#optimizer-step-closure",
        "https://github.com/Lightning-AI/pytorch-lightning/pull/18268",
        "https://github.com/huggingface/transformers/pull/23417",
    ),
)


@rule.on(ast.Call)
def bare_closure(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if not isinstance(call.func, ast.Name) or values(call):
        return
    step = ctx.scope(call)
    if not isinstance(step, FUNCTIONS) or step.name != "step":
        return
    name = call.func.id
    method = ctx.method(call)
    if method is None or method.node is not step or name != _closure(step):
        return
    if name in ctx.bindings(step) or any(gradients_on(ctx, decorator) for decorator in step.decorator_list):
        return
    switches = [each for each in ctx.regions(call) if grad_mode(ctx, each.entered) == "off"]
    if not switches or not ctx.index.descends(method.owner, OPTIMIZER):
        return
    if any(_interferes(node, name, ctx) for node in own(step)):
        return
    if not _reads_gradients(method.klass) or any(each.writes for each in _closures(ctx, method.klass)):
        return
    message = f"`{name}()` runs with gradients off, so the loss that it differentiates has no graph"
    statement = ctx.statement(call)
    inference = any(not ctx.means(each.maker, "torch.no_grad", "torch.set_grad_enabled") for each in switches)
    # `enable_grad` has no effect inside `inference_mode`
    enable = ctx.spell("torch.inference_mode" if inference else "torch.enable_grad", at=call)
    managers = [each.entered for each in ctx.regions(call) if isinstance(each.holder, WITHS)]
    is_bug = [
        a_closure_is_given(ctx, method.klass),
        closure_is_only_called(ctx, step, name),
        step_is_as_written(ctx, method.owner, step),
        gradients_stay_off(ctx, managers),
        no_hook_changes_a_step(ctx),
    ]
    returned = [node for node in own(step) if isinstance(node, ast.Return)]
    is_right = [closures_write_nothing(ctx, method.klass), graph_stays_here(ctx, step, *returned)]
    if enable is None or statement is None or not _stands_alone(call, statement, ctx):
        yield rule.finding(call, message=message, is_bug=is_bug)
        return
    header = f"with {enable.code}({'False' if inference else ''}):"
    title = "Call the closure under `torch.inference_mode(False)`" if inference else None
    yield rule.finding(
        call,
        message=message,
        title=title,
        fix=[enclose(statement, header)],
        needs=[enable.need],
        is_bug=is_bug,
        is_right=is_right,
    )


@question
def a_closure_is_given(ctx: PythonContext, klass: ast.ClassDef) -> Answer:
    """Whether somebody gives this optimizer a closure that does not switch gradients on by itself."""
    given = list(_closures(ctx, klass))
    bare = [each for each in given if each.surely and each.enables is False and each.differentiates]
    if bare:
        return yes(*(each.shown for each in bare))
    if given and all(each.surely and each.enables for each in given):
        return no(*(each.shown for each in given))
    if doubts := [each.shown for each in given if not (each.surely and each.enables)]:
        return unknown(*doubts)
    nobody = ctx.evidence(klass, f"nobody in sight gives `{klass.name}` a closure")
    steps = (each for each in mentions(ctx, "step") if each.is_kept or isinstance(each.node, ast.Constant))
    return unknown(nobody, *(each.evidence("a closure may be given by another name") for each in steps))


@question
def step_is_as_written(ctx: PythonContext, owner: Ref, step: Function) -> Answer:
    """Whether no decorator or base of the project runs a `step` in another way: it may give it another closure."""
    wrappers: list[tuple[str, Collection[str], Evidence]] = []
    for base in ctx.index.lineage(owner).refs:
        klass = ctx.index.klass(base)
        if klass is not None and (made := klass.methods.get("__init_subclass__")) is not None:
            wrappers.append((klass.name, {base.path}, Evidence(base.path, made.line, "")))
    for each in step.decorator_list:
        origins = ctx.origin(each.func if isinstance(each, ast.Call) else each)
        if not origins or any(":" in name for name in origins):
            files = {name.partition(":")[0] for name in origins} or {ctx.path}
            wrappers.append((ctx.written(each), files, ctx.evidence(each, "")))
    doubts: list[Evidence] = []
    for who, inside, shown in wrappers:
        why = f"`{who}` may give the closure gradients"
        places = [each.evidence(why) for each in mentions(ctx, *SWITCHING_ON) if each.ctx.path in inside]
        doubts += places or [replace(shown, why=why)]
    return unless(doubts)


@question
def closure_is_only_called(ctx: PythonContext, step: Function, name: str) -> Answer:
    """Whether a `step` does nothing with its closure but to test and to call it: another may run it with gradients."""
    uses = (node for node in ast.walk(step) if isinstance(node, ast.Name) and node.id == name)
    others = (use for use in uses if isinstance(use.ctx, ast.Load) and not _is_tested_or_called(ctx, use))
    return unless(ctx.evidence(use, f"`{name}` may run elsewhere, with gradients on") for use in others)


def _is_tested_or_called(ctx: PythonContext, use: ast.expr) -> bool:
    match ctx.parent(use):
        case ast.Call(func=func):
            return func is use or ctx.name(func) in _ASKING
        case ast.Compare() | ast.If() | ast.IfExp() | ast.BoolOp() | ast.UnaryOp() | ast.Assert():
            return True
    return False


@question
def closures_write_nothing(ctx: PythonContext, klass: ast.ClassDef) -> Answer:
    """Whether no closure that this optimizer may be given writes in place, which raises where gradients are on."""
    written = (each.shown for each in _closures(ctx, klass) if each.writes is not False)
    passes = (each for each in mentions(ctx, *WRITING) if _is_in_a_pass(each))
    return unless([*written, *(each.evidence(f"`{each.word}` writes in a forward pass") for each in passes)])


def _is_in_a_pass(mention: Occurrence) -> bool:
    """Whether a place runs with a module, and outside of `torch.no_grad()`."""
    function = mention.ctx.function(mention.node)
    return function is not None and function.name == "forward" and gradients(mention.ctx, mention.node) != "off"


@dataclass(frozen=True, slots=True)
class _Given:
    """A closure that is given to the `step` of an optimizer."""

    shown: Evidence
    surely: bool
    """Whether it surely is an optimizer of the class."""
    enables: bool | None
    """Whether the closure switches gradients on by itself; None: it is not in sight."""
    writes: bool | None
    """Whether the closure writes in place."""
    differentiates: bool
    """Whether the closure surely differentiates something, and so needs gradients."""


def _closures(ctx: PythonContext, klass: ast.ClassDef) -> Iterator[_Given]:
    ref = ctx.ref(klass)
    for step in mentions(ctx, "step"):
        call, other, receiver = step.call, step.ctx, step.receiver
        if call is None or receiver is None or len(values(call)) != 1 or other.klass(call) == ref:
            continue
        if _is_no_closure(other, values(call)[0]):
            continue
        if other.is_a(receiver, GRAD_SCALER) or is_schedule(other, receiver) or optimizes(other, receiver) is False:
            continue
        found, complete = possible_values(other, receiver, returns=True, given=given)
        origins = [each.ctx.origin(each.node.func) if isinstance(each.node, ast.Call) else NONE for each in found]
        if complete and found and all(map(_are_classes, origins)) and not any(str(ref) in names for names in origins):
            if not any(_is_configured(each, ref) for each in found):
                continue
        surely = complete and bool(found) and all(names == {str(ref)} for names in origins)
        surely = surely or any(_is_configured(each, ref) for each in found)
        says = "a closure is given here" if surely else "a closure may be given here"
        taken = values(call)[0]
        closure = _definition(taken, other)
        made = where_defined(other, taken, says, at=call)
        shown = made if closure is None and made.path != other.path else other.evidence(call, says)
        asks = _asks_for_gradients(closure)
        differentiates = asks is None and _differentiates(closure)
        if asks is not None:
            shown = other.evidence(asks, "the closure asks whether there are gradients")
        elif closure is not None and not differentiates:
            shown = where_defined(other, taken, "the closure that is given may only evaluate", at=call)
        yield _Given(shown, surely, _enables(other, closure), _writes(closure), differentiates)


def _asks_for_gradients(closure: Function | ast.Lambda | None) -> ast.Attribute | None:
    """Where a closure tests for gradients or their graph: without them it does something else (`asks_first`)."""
    found = ast.walk(closure) if closure is not None else ()
    words = ("requires_grad", "is_grad_enabled", "grad_fn")
    return next((each for each in found if isinstance(each, ast.Attribute) and each.attr in words), None)


def _is_no_closure(ctx: PythonContext, given: ast.expr) -> bool:
    """Whether an argument surely is no function: a number, what is computed, or what a loop brings."""
    found, complete = possible_values(ctx, given)
    data = (ast.Constant, ast.BinOp, ast.Compare, ast.Tuple, ast.List, ast.Dict, ast.Subscript, ast.For, ast.AugAssign)
    return complete and bool(found) and all(isinstance(each.node, data) for each in found)


def _are_classes(names: frozenset[str]) -> bool:
    """Whether all names are those of classes: what a function gives is not in sight."""
    return bool(names) and all(re.split(r"[.:]", name)[-1][:1].isupper() for name in names)


def _is_configured(value: PossibleValue, ref: Ref) -> bool:
    """Whether a value is what `self.optimizers()` gives, in a module that configures an optimizer of a class."""
    ctx, node = value.ctx, value.node
    method = ctx.method(node)
    if not isinstance(node, ast.Call) or method is None or ctx.name(node.func) != f"{method.self}.optimizers":
        return False
    if (found := ctx.method_of(method.owner, "configure_optimizers")) is None:
        return False
    other, function = found
    made = (n for n in own(function) if isinstance(n, ast.Call))
    return any(other.origin(call.func) == {str(ref)} for call in made)


def _enables(ctx: PythonContext, closure: Function | ast.Lambda | None) -> bool | None:
    """Whether a closure switches gradients on: by a decorator, around what it computes, or by who makes it."""
    if closure is None:
        return None
    decorators = [] if isinstance(closure, ast.Lambda) else closure.decorator_list
    if any(gradients_on(ctx, node) for node in (*decorators, *own(closure))):
        return True
    entered = [item.context_expr for node in own(closure) if isinstance(node, WITHS) for item in node.items]
    return None if any(may_switch(ctx, each, SWITCHING_ON) for each in (*decorators, *entered)) else False


def _differentiates(closure: Function | ast.Lambda | None) -> bool:
    """Whether a closure surely runs a backward pass: one that only evaluates is right without gradients."""
    calls = (node for node in ast.walk(closure) if isinstance(node, ast.Call)) if closure is not None else ()
    return any(isinstance(call.func, ast.Attribute) and call.func.attr in _DIFFERENTIATING for call in calls)


def _writes(closure: Function | ast.Lambda | None) -> bool | None:
    """Whether a closure writes in place."""
    return any(map(_writes_in_place, ast.walk(closure))) if closure is not None else None


def _reads_gradients(klass: ast.ClassDef) -> bool:
    """Whether an optimizer reads gradients, by itself or through another `step`: if not, nothing is differentiated."""
    for node in ast.walk(klass):
        match node:
            case ast.Attribute(attr="grad"):
                return True
            case ast.Call(func=ast.Attribute(attr="step" | "first_step" | "second_step")):
                return True
            case ast.Call(func=ast.Name(id="getattr"), args=[_, name, *_]) if literal(name) == "grad":
                return True
    return False


def _definition(given: ast.expr, ctx: PythonContext) -> Function | ast.Lambda | None:
    """The function that an argument names, or is."""
    if isinstance(given, ast.Lambda):
        return given
    name = ctx.name(given)
    if name is None or "." in name:
        return None
    scope: ast.AST = given
    while not isinstance(scope, ast.Module):
        scope = ctx.scope(scope)
        if found := ctx.bindings(scope).get(name, ()):
            node = found[0].node
            return node if len(found) == 1 and isinstance(node, FUNCTIONS) else None
    return None


def _writes_in_place(node: ast.AST) -> bool:
    """`w.mul_(0.9)`, `w.data = …`, `w -= …` of an attribute; `zero_grad_` and `requires_grad_` write no weights."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name.endswith("_") and not name.startswith("_") and name not in ("requires_grad_", "clip_grad_norm_")
        case ast.AugAssign(target=ast.Attribute()):
            return True
        case ast.Attribute(attr="data", ctx=ast.Store()):
            return True
    return False


def _closure(step: Function) -> str | None:
    """The parameter after `self`."""
    given = [*step.args.posonlyargs, *step.args.args]
    return given[1].arg if len(given) > 1 else None


def _interferes(node: ast.AST, name: str, ctx: PythonContext) -> bool:
    """Whether something switches gradients on, or hands the closure to something that may."""
    if not isinstance(node, ast.Call):
        return False
    if gradients_on(ctx, node):
        return True
    return ctx.name(node.func) not in _ASKING and any(
        isinstance(given, ast.Name) and given.id == name for given in values(node)
    )


def _stands_alone(call: ast.Call, statement: ast.stmt, ctx: PythonContext) -> bool:
    """Whether the statement does nothing but call the closure and keep what it returns."""
    match statement:
        case ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
            pass
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            pass
        case _:
            return False
    if isinstance(value, ast.IfExp):
        value = value.body if call is value.body or call in own(value.body) else value.orelse
    while value is not call:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr="item" | "detach"), args=[], keywords=[]):
                value = inner
            case ast.Call(func=ast.Name(id="float"), args=[inner]):
                value = inner
            case _:
                return False
    return True
