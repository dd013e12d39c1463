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

from collections.abc import Iterator

import libcst as cst

from codemods.frameworks.gradients.grad_mode import gradients_off, gradients_on
from codemods.frameworks.gradients.losses import named
from codemods.model.edits import Consequence, Safety
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Rule
from codemods.syntax import flow, rewrite
from codemods.syntax.rewrite import Replacement
from codemods.syntax.tree import walk

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
    together=(("step",),),
    subclasses=OPTIMIZERS,
    errors=("element 0 of tensors does not require grad and does not have a grad_fn",),
    references=(
        "https://docs.pytorch.org/docs/stable/optim.html#optimizer-step-closure",
        "https://github.com/Lightning-AI/pytorch-lightning/pull/18268",
        "https://github.com/huggingface/transformers/pull/23417",
    ),
)


@rule.on(cst.Call)
def bare_closure(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    if not isinstance(call.func, cst.Name) or call.args:
        return
    step = ctx.scope(call)
    if not isinstance(step, cst.FunctionDef) or step.name.value != "step":
        return
    name = call.func.value
    method = ctx.method(call)
    if method is None or method.node is not step or name != _closure(step):
        return
    if name in ctx.bindings(step) or any(gradients_on(ctx, d.decorator) for d in step.decorators):
        return
    switches = _switches(call, step, ctx)
    if not switches or not ctx.index.descends(method.owner, OPTIMIZERS):
        return
    if any(_interferes(node, name, ctx) for node in flow.own(step.body)):
        return
    if not _reads_gradients(method.klass) or _may_write_weights(ctx, method.klass):
        return
    message = f"`{name}()` runs with gradients off, so the loss that it differentiates has no graph"
    statement = ctx.statement(call)
    inference = any(not ctx.means(_function(s), "torch.no_grad", "torch.set_grad_enabled") for s in switches)
    # `enable_grad` has no effect inside `inference_mode`
    enable = ctx.spell("torch.inference_mode" if inference else "torch.enable_grad", at=call)
    if enable is None or statement is None or not _stands_alone(call, statement, ctx):
        yield rule.finding(call, message=message)
        return
    header = f"with {ctx.module.code_for_node(enable.node)}({'False' if inference else ''}):"
    title = "Call the closure under `torch.inference_mode(False)`" if inference else None
    yield rule.finding(call, message=message, title=title, fix=_moved(statement, header, ctx), needs=[enable.need])


def _reads_gradients(klass: cst.ClassDef) -> bool:
    """Whether an optimizer reads gradients, by itself or through another `step`: if not, nothing is differentiated."""
    for node in walk(klass.body):
        match node:
            case cst.Attribute(attr=cst.Name(value="grad")):
                return True
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="step" | "first_step" | "second_step"))):
                return True
            case cst.Call(func=cst.Name(value="getattr"), args=[_, cst.Arg(value=cst.SimpleString() as name), *_]):
                if name.evaluated_value == "grad":
                    return True
    return False


def _may_write_weights(ctx: Context, klass: cst.ClassDef) -> bool:
    """Whether a closure that this optimizer may be given writes in place, which raises where gradients are on."""
    for path in ctx.index.search(ctx.path, (klass.name.value.encode(),)):
        other = ctx.other(path)
        for call in other.named_calls("step") if other is not None else ():
            for closure in (_definition(arg.value, other) for arg in call.args) if other is not None else ():
                if closure is not None and any(map(_writes_in_place, walk(closure.body))):
                    return True
    return False


def _definition(given: cst.BaseExpression, ctx: Context) -> cst.FunctionDef | cst.Lambda | None:
    """The function that an argument names, or is."""
    if isinstance(given, cst.Lambda):
        return given
    name = ctx.name(given)
    if name is None or "." in name:
        return None
    scope: cst.CSTNode = given
    while not isinstance(scope, cst.Module):
        scope = ctx.scope(scope)
        for binding in ctx.bindings(scope).get(name, ()):
            return binding.node if isinstance(binding.node, cst.FunctionDef) else None
    return None


def _writes_in_place(node: cst.CSTNode) -> bool:
    """`w.mul_(0.9)`, `w.data = …`, `w -= …` of an attribute; `zero_grad_` and `requires_grad_` write no weights."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))):
            return name.endswith("_") and not name.startswith("_") and name not in ("requires_grad_", "clip_grad_norm_")
        case cst.AugAssign(target=cst.Attribute()):
            return True
        case cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value="data"))):
            return True
    return False


def _closure(step: cst.FunctionDef) -> str | None:
    """The parameter after `self`."""
    params = [*step.params.posonly_params, *step.params.params]
    return params[1].name.value if len(params) > 1 else None


def _switches(call: cst.Call, step: cst.FunctionDef, ctx: Context) -> list[cst.BaseExpression]:
    """What switches gradients off where the closure is called: blocks around it, decorators of `step`."""
    around: list[cst.BaseExpression] = [d.decorator for d in step.decorators]
    for above in ctx.ancestors(call):
        if above is step:
            break
        if isinstance(above, cst.With):
            around += [item.item for item in above.items]
    return [switch for switch in around if gradients_off(ctx, switch)]


def _function(switch: cst.BaseExpression) -> cst.BaseExpression:
    return switch.func if isinstance(switch, cst.Call) else switch


def _interferes(node: cst.CSTNode, name: str, ctx: Context) -> bool:
    """Whether something switches gradients on, or hands the closure to something that may."""
    if not isinstance(node, cst.Call):
        return False
    if gradients_on(ctx, node):
        return True
    return ctx.name(node.func) not in ("callable", "isinstance", "print") and any(
        isinstance(a.value, cst.Name) and a.value.value == name for a in node.args
    )


def _stands_alone(call: cst.Call, statement: cst.CSTNode, ctx: Context) -> bool:
    """Whether the statement does nothing but call the closure and keep what it returns."""
    match statement:
        case cst.Expr(value=value) | cst.Return(value=cst.BaseExpression() as value):
            pass
        case cst.Assign(value=value) | cst.AnnAssign(value=cst.BaseExpression() as value):
            pass
        case _:
            return False
    if isinstance(value, cst.IfExp):
        value = value.body if call is value.body or call in flow.own(value.body) else value.orelse
    while value is not call:
        match value:
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="item" | "detach")), args=[]):
                value = inner
            case cst.Call(func=cst.Name(value="float"), args=[cst.Arg(value=inner)]):
                value = inner
            case _:
                return False
    return True


def _moved(statement: cst.CSTNode, header: str, ctx: Context) -> dict[cst.CSTNode, Replacement]:
    """The statement inside a `with` block of its own; what shares its line stays before or behind it."""
    line = ctx.parent(statement)
    assert isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite))
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        return {line: rewrite.wrapped(ctx, header, [line])}
    lines = [cst.SimpleStatementLine([s.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]) for s in line.body]
    at = next(i for i, s in enumerate(line.body) if s is statement)
    block: list[cst.CSTNode] = [*lines[:at], rewrite.wrapped(ctx, header, [lines[at]]), *lines[at + 1 :]]
    if isinstance(line, cst.SimpleStatementSuite):
        return {line: rewrite.with_body(line, block)}
    block[0] = block[0].with_changes(leading_lines=line.leading_lines)
    return {line: block}
