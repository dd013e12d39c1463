"""A LightningModule whose `training_step`, or a method that makes its loss, runs under `torch.no_grad()`.

## Why is this bad?
The loss that `training_step` returns has no graph, and the Trainer's backward pass ends with

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

The same for `inference_mode` and `set_grad_enabled(False)`, as decorator or as a block around the body (run on
Lightning 2.0.3 and 2.6.6). It is not needed for evaluation either: the Trainer runs validation, test and prediction
without gradients by itself.

## Fix safety
Safe for `training_step` and the methods that compute its loss, where the decorator goes, or the block around
everything that is computed. Unsafe for `forward`, which other code may call as a feature extractor, for a block that
holds only a part of the work, and where a teacher, target or moving average is called in the method, which would then
be trained too.

## When it is not offered
Where the class, one of its parents or one of its subclasses optimizes by hand or has no optimizer, where the class has
a `backward` of its own (an evolution strategy may do nothing there), where gradients are switched on again inside,
where `training_step` returns nothing or a fresh tensor that requires gradients (models that only collect), and where
the helper makes only a part of the loss: features of a frozen backbone, the target of a loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from codemods.frameworks.gradients.differentiated import handed, is_automatic, sinks
from codemods.frameworks.gradients.grad_mode import gradients_off, gradients_on
from codemods.frameworks.gradients.losses import LOSS_FUNCTIONS, LOSS_MODULES, reaching, uses
from codemods.model.edits import Consequence, Safety
from codemods.model.names import LIGHTNING_MODULE
from codemods.rules.context import Context, Method
from codemods.rules.rule import Draft, Rule
from codemods.syntax import flow, rewrite
from codemods.syntax.rewrite import Replacement

_REFERENCE = re.compile(r"teacher|target|momentum|ema|frozen|reference|ref_", re.IGNORECASE)

rule = Rule(
    code="GRD004",
    name="no-grad-training-step",
    summary="`training_step` makes its loss without gradients",
    fix_title="Compute the loss with gradients",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    triggers=(("no_grad", "inference_mode", "set_grad_enabled"), ("training_step",)),
    together=(("no_grad", "inference_mode", "set_grad_enabled"),),
    subclasses=LIGHTNING_MODULE,
    errors=("element 0 of tensors does not require grad and does not have a grad_fn",),
    references=(
        "https://lightning.ai/docs/pytorch/stable/common/lightning_module.html#training-loop",
        "https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation",
    ),
)


@rule.on(cst.FunctionDef)
def without_gradients(function: cst.FunctionDef, ctx: Context) -> Iterator[Draft]:
    switches = [d for d in function.decorators if gradients_off(ctx, d.decorator)]
    blocks = list(_blocks(function.body, ctx))
    method = ctx.method(function) if switches or blocks else None
    if method is None or method.node is not function:
        return
    step = _step(method, ctx)
    if step is None or _switched_on(function, ctx) or (step is not function and _switched_on(step, ctx)):
        return
    if not is_automatic(ctx, method.owner) or ctx.index.method(method.owner, "backward") is not None:
        return
    what = "`training_step` runs without gradients, so its loss has no graph"
    if step is not function:
        what = f"`{method.name}`, which makes the loss of `training_step`, runs without gradients"
    doubtful = method.name == "forward" or _calls_a_reference(function, method.self, ctx)
    safety = Safety.UNSAFE if doubtful else Safety.SAFE
    for decorator in switches:
        yield rule.finding(decorator, message=what, fix={decorator: None}, safety=safety)
    for block, items in blocks:
        whole = _holds_all_work(block, function, ctx)
        if whole or _makes_the_result(block, function, ctx):
            level = safety if whole else Safety.UNSAFE
            yield rule.finding(items[0].item, message=what, fix=_opened(block, items, ctx), safety=level)


# -- which methods


def _step(method: Method, ctx: Context) -> cst.FunctionDef | None:
    """The `training_step` whose loss a method makes: itself, or the one of its class that returns what it gives."""
    if method.name == "training_step":
        return method.node if _returns_a_loss(method.node) else None
    for step in method.klass.body.body:
        if isinstance(step, cst.FunctionDef) and step.name.value == "training_step" and _returns_a_loss(step):
            for call in flow.own(step.body):
                if isinstance(call, cst.Call) and _is_call_of(call, method, ctx) and _is_the_loss(call, ctx):
                    return step
    return None


def _returns(function: cst.FunctionDef) -> list[cst.Return]:
    return [node for node in flow.own(function.body) if isinstance(node, cst.Return)]


def _returns_a_loss(step: cst.FunctionDef) -> bool:
    """Whether the step returns something, and makes nothing that requires gradients by itself."""
    for node in flow.own(step.body):
        match node:
            case cst.Arg(keyword=cst.Name(value="requires_grad")):
                return False
            case cst.Attribute(attr=cst.Name(value="requires_grad" | "requires_grad_")):
                return False
    return any(handed(r) is not None for r in _returns(step))


def _is_call_of(call: cst.Call, method: Method, ctx: Context) -> bool:
    around = ctx.method(call)
    name = ctx.name(call.func)
    if around is None or name is None:
        return False
    if method.name == "forward" and name == around.self:
        return True
    target = ctx.callee(call) if name == f"{around.self}.{method.name}" else None
    return target is not None and target[1] is method.node


def _is_the_loss(node: cst.BaseExpression, ctx: Context, depth: int = 5) -> bool:
    """Whether the returned loss is the value of `node`, an item of it, or a loss of PyTorch of it and the batch."""
    if depth == 0:
        return False
    if any(s.alone and s.sure and isinstance(s.node, cst.Return) for s in sinks(ctx, node)):
        return True
    holder = ctx.parent(node)
    match holder:
        case cst.Subscript(value=inner) if inner is node:
            return _is_the_loss(holder, ctx, depth - 1)
        case cst.Arg(star=""):
            call = ctx.parent(holder)
            if not isinstance(call, cst.Call) or call.args[0] is not holder:
                return False
            is_loss = ctx.means(call.func, LOSS_FUNCTIONS) or ctx.is_a(call.func, LOSS_MODULES)
            plain = all(_is_data(a.value, ctx) for a in call.args[1:])
            return is_loss and plain and _is_the_loss(call, ctx, depth - 1)
        case cst.Assign(targets=[cst.AssignTarget(target=target)]):
            reads = [use for name in _names(target, ctx) for use in uses(ctx, name, holder)]
            return any(_only(use, holder, ctx) and _is_the_loss(use, ctx, depth - 1) for use in reads)
    return False


def _is_data(node: cst.BaseExpression, ctx: Context) -> bool:
    """Whether an argument is computed from nothing but parameters and constants."""
    if any(isinstance(n, (cst.Call, cst.Lambda, cst.Await)) for n in (node, *flow.own(node))):
        return False
    bindings = [b for name in (node, *flow.own(node)) if isinstance(name, cst.Name) for b in reaching(ctx, name)[0]]
    return not any(isinstance(n, cst.Call) for b in bindings for n in flow.own(b.node))


def _names(target: cst.BaseExpression, ctx: Context) -> Iterator[str]:
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _names(element.value, ctx)
    elif (name := ctx.name(target)) is not None:
        yield name


def _only(use: cst.BaseExpression, binding: cst.CSTNode, ctx: Context) -> bool:
    found, complete = reaching(ctx, use)
    return complete and [b.node for b in found] == [binding]


def _calls_a_reference(function: cst.FunctionDef, receiver: str, ctx: Context) -> bool:
    """Whether a model that should not be trained seems to be called, by its name."""
    calls = (ctx.name(n.func) or "" for n in flow.own(function.body) if isinstance(n, cst.Call))
    return any(name.startswith(receiver + ".") and _REFERENCE.search(name) for name in calls)


# -- how gradients are switched off


def _switched_on(function: cst.FunctionDef, ctx: Context) -> bool:
    """Whether gradients may be switched on inside, here or in a function that is called."""
    callees = [ctx.callee(node) for node in flow.own(function.body) if isinstance(node, cst.Call)]
    for there, each in [(ctx, function), *(c for c in callees if c is not None)]:
        for node in (*(d.decorator for d in each.decorators), *flow.own(each.body)):
            if isinstance(node, (cst.Call, cst.Name, cst.Attribute)) and gradients_on(there, node):
                return True
    return False


def _blocks(body: cst.BaseSuite, ctx: Context) -> Iterator[tuple[cst.With, list[cst.WithItem]]]:
    """The blocks on the straight way through a body that switch gradients off, with the items that do."""
    for statement in body.body:
        items = []
        if isinstance(statement, cst.With):
            items = [item for item in statement.items if gradients_off(ctx, item.item)]
        if items and isinstance(statement, cst.With):
            yield statement, items
        elif isinstance(statement, (cst.With, cst.Try)):
            yield from _blocks(statement.body, ctx)


def _holds_all_work(block: cst.With, function: cst.FunctionDef, ctx: Context) -> bool:
    """Whether outside the block nothing is called but what logs."""
    inside = {id(node) for node in flow.own(block.body)}
    around = [block, *(a for a in ctx.ancestors(block) if isinstance(a, cst.With))]
    items = {id(node) for with_ in around for item in with_.items for node in flow.own(item)}
    return all(
        isinstance(node.func, cst.Attribute) and node.func.attr.value in ("log", "log_dict", "item", "detach")
        for node in flow.own(function.body)
        if isinstance(node, cst.Call) and id(node) not in inside | items
    ) and _makes_the_result(block, function, ctx)


def _makes_the_result(block: cst.With, function: cst.FunctionDef, ctx: Context) -> bool:
    """Whether everything that the function returns is returned in the block, or a name that is bound only there."""
    inside = {id(node) for node in flow.own(block.body)}
    outside = [r for r in _returns(function) if id(r) not in inside and handed(r) is not None]
    for statement in outside:
        given = handed(statement)
        loss = next((v for v in _losses(given) if isinstance(v, (cst.Name, cst.Attribute))), None) if given else None
        bindings, complete = reaching(ctx, loss) if loss is not None else ([], False)
        if not complete or not all(id(b.node) in inside for b in bindings):
            return False
    return bool(outside) or any(id(r) in inside for r in _returns(function))


def _losses(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The loss in what is returned: the value itself, or the `"loss"` of a dictionary."""
    if not isinstance(value, cst.Dict):
        yield value
        return
    for element in value.elements:
        match element:
            case cst.DictElement(key=cst.SimpleString(evaluated_value="loss"), value=loss):
                yield loss


def _opened(block: cst.With, items: list[cst.WithItem], ctx: Context) -> dict[cst.CSTNode, Replacement]:
    """The block without the items that switch gradients off; its statements alone where no item is left."""
    kept = [item for item in block.items if item not in items]
    if kept:
        kept[-1] = kept[-1].with_changes(comma=block.items[-1].comma)
        return {block: block.with_changes(items=kept)}
    first, *rest = rewrite.block(ctx, block.body)
    return {block: [first.with_changes(leading_lines=[*block.leading_lines, *first.leading_lines]), *rest]}
