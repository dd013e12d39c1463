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

## When it is not offered
Where the class is not surely a `torch.optim.Optimizer`, where the closure is wrapped, bound anew or handed on
(`closure = torch.enable_grad()(closure)`, as in SAM), where gradients are switched on in the method, where the class
reads no gradient (SPSA, MeZO), or where a closure in the project writes weights in place, which would raise. Reported
without a fix where the call stands in the head of an `if` or `while`, or beside other work in one statement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import literal, named_calls, values
from codemods.analysis.python_context import PythonContext
from codemods.frameworks.gradients.grad_mode import grad_mode, gradients_on
from codemods.frameworks.gradients.losses import named
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import FUNCTIONS, Function, own
from codemods.syntax.verbs import enclose

OPTIMIZERS = named(
    "torch.optim",
    "Optimizer ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS Muon NAdam RAdam RMSprop Rprop SGD SparseAdam",
)


rule = Rule(
    code="GRD005",
    name="bare-closure-in-no-grad-step",
    summary="the closure runs with gradients off, so the loss that it differentiates has no graph",
    fix_title="Call the closure under `torch.enable_grad()`",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    triggers=(("step",), ("no_grad", "inference_mode", "set_grad_enabled")),
    subclasses=OPTIMIZERS,
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
    if not switches or not ctx.index.descends(method.owner, OPTIMIZERS):
        return
    if any(_interferes(node, name, ctx) for node in own(step)):
        return
    if not _reads_gradients(method.klass) or _may_write_weights(ctx, method.klass):
        return
    message = f"`{name}()` runs with gradients off, so the loss that it differentiates has no graph"
    statement = ctx.statement(call)
    inference = any(not ctx.means(each.maker, "torch.no_grad", "torch.set_grad_enabled") for each in switches)
    # `enable_grad` has no effect inside `inference_mode`
    enable = ctx.spell("torch.inference_mode" if inference else "torch.enable_grad", at=call)
    if enable is None or statement is None or not _stands_alone(call, statement, ctx):
        yield rule.finding(call, message=message)
        return
    header = f"with {enable.code}({'False' if inference else ''}):"
    title = "Call the closure under `torch.inference_mode(False)`" if inference else None
    yield rule.finding(call, message=message, title=title, fix=[enclose(statement, header)], needs=[enable.need])


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


def _may_write_weights(ctx: PythonContext, klass: ast.ClassDef) -> bool:
    """Whether a closure that this optimizer may be given writes in place, which raises where gradients are on."""
    for path in ctx.index.search(ctx.path, (klass.name.encode(),)):
        other = ctx.other(path)
        for call in named_calls(other, "step") if other is not None else ():
            for closure in (_definition(given, other) for given in values(call)) if other is not None else ():
                if closure is not None and any(map(_writes_in_place, ast.walk(closure))):
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
        for binding in ctx.bindings(scope).get(name, ()):
            return binding.node if isinstance(binding.node, FUNCTIONS) else None
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
    return ctx.name(node.func) not in ("callable", "isinstance", "print") and any(
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
