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
holds only a part of the work, where the module has a second network, or the method runs something of the project that
is not followed (a teacher, a target or a moving average would then be trained too), where something is kept that would
have a graph then, and where something that runs with the method writes into tensors, which raises with gradients.

Possible where a context manager or a function that is called may switch gradients on, where the loss that is returned
was made before, where other code runs the method without a Trainer, and beside a plugin with a backward pass of its
own.

## When it is not offered
Where the class, one of its parents or one of its subclasses optimizes by hand or has no optimizer, where the class has
a `backward` of its own (an evolution strategy may do nothing there), where gradients are switched on again inside,
where `training_step` returns nothing or a fresh tensor that requires gradients (models that only collect), and where
the helper makes only a part of the loss: features of a frozen backbone, the target of a loss.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.analysis import instances
from codemods.analysis.calls import literal
from codemods.analysis.definitions import reaching, uses
from codemods.analysis.mentions import Occurrence, may_run_during, mentions, mentions_during
from codemods.analysis.python_context import Method, PythonContext
from codemods.analysis.regions import WITHS
from codemods.analysis.values import possible_values, returned
from codemods.flow.answers import Answer, every, in_turn, question, unknown, unless
from codemods.frameworks.gradients.differentiated import handed, is_automatic, sinks
from codemods.frameworks.gradients.grad_mode import grad_mode, gradients_on
from codemods.frameworks.gradients.losses import LOSS_FUNCTIONS, LOSS_MODULES
from codemods.frameworks.gradients.networks import one_network_runs
from codemods.frameworks.gradients.questions import (
    SWITCHING_ON,
    WRITING,
    a_trainer_differentiates,
    gradients_stay_off,
    graph_stays_here,
)
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.names import LIGHTNING_MODULE, OPTIMIZER
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import FUNCTIONS, Function, own
from codemods.syntax.verbs import drop, unwrap

_LOGS = ("log", "log_dict", "item", "detach")

rule = Rule(
    code="GRD004",
    name="no-grad-training-step",
    summary="`training_step` makes its loss without gradients",
    fix_title="Compute the loss with gradients",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    follows=True,
    computed=Computed.NOTHING,
    triggers=(("no_grad", "inference_mode", "set_grad_enabled"), ("training_step",)),
    subclasses=LIGHTNING_MODULE,
    errors=("element 0 of tensors does not require grad and does not have a grad_fn",),
    references=(
        "https://lightning.ai/docs/pytorch/stable/common/lightning_module.html#training-loop",
        "https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation",
    ),
)


@rule.on(ast.FunctionDef, ast.AsyncFunctionDef)
def without_gradients(function: Function, ctx: PythonContext) -> Iterator[Draft]:
    switches = [decorator for decorator in function.decorator_list if grad_mode(ctx, decorator) == "off"]
    blocks = list(_blocks(function.body, ctx))
    method = ctx.method(function) if switches or blocks else None
    if method is None or method.node is not function:
        return
    step = _step(method, ctx)
    if step is None or _switched_on(function, ctx) or (step is not function and _switched_on(step, ctx)):
        return
    if not is_automatic(ctx, method.owner):
        return
    what = "`training_step` runs without gradients, so its loss has no graph"
    if step is not function:
        what = f"`{method.name}`, which makes the loss of `training_step`, runs without gradients"
    inside = (node for each in (function, step) for node in own(each) if isinstance(node, WITHS))
    entered = [item.context_expr for node in inside for item in node.items]
    is_bug = in_turn(
        lambda: gradients_stay_off(ctx, entered),
        lambda: loss_is_made_here(ctx, step),
        lambda: a_trainer_differentiates(ctx, step),
        lambda: nothing_switches_gradients_on(ctx, function, step),
    )
    is_right = [nothing_refuses_a_graph(ctx, function), one_network_runs(ctx, method)]
    is_right += [graph_stays_here(ctx, each, *_returns(each)) for each in dict.fromkeys((function, step))]
    if every(is_bug).is_yes:
        is_right.append(nothing_is_written(ctx, function, step))  # which reads every file that writes in place
    for decorator in switches:
        yield rule.finding(decorator, message=what, fix=[drop(decorator)], is_bug=is_bug, is_right=is_right)
    for block, items in blocks:
        work = _work_outside(block, function, ctx)
        if _makes_the_result(block, function, ctx):
            fix = drop(*items) if len(items) < len(block.items) else unwrap(block)
            complete = [*is_right, block_is_all_work(ctx, work)]
            yield rule.finding(items[0], message=what, fix=[fix], is_bug=is_bug, is_right=complete)


# -- which methods


def _step(method: Method, ctx: PythonContext) -> Function | None:
    """The `training_step` whose loss a method makes: itself, or the one of its class that returns what it gives."""
    if method.name == "training_step":
        return method.node if _returns_a_loss(method.node) else None
    for step in method.klass.body:
        if isinstance(step, FUNCTIONS) and step.name == "training_step" and _returns_a_loss(step):
            for call in own(step):
                if isinstance(call, ast.Call) and _is_call_of(call, method, ctx) and _is_the_loss(call, ctx):
                    return step
    return None


def _returns(function: Function) -> list[ast.Return]:
    return [node for node in own(function) if isinstance(node, ast.Return)]


def _returns_a_loss(step: Function) -> bool:
    """Whether the step returns something, and makes nothing that requires gradients by itself."""
    for node in own(step):
        match node:
            case ast.keyword(arg="requires_grad"):
                return False
            case ast.Attribute(attr="requires_grad" | "requires_grad_"):
                return False
    return any(handed(r) is not None for r in _returns(step))


def _is_call_of(call: ast.Call, method: Method, ctx: PythonContext) -> bool:
    around = ctx.method(call)
    name = ctx.name(call.func)
    if around is None or name is None:
        return False
    if method.name == "forward" and name == around.self:
        return True
    target = ctx.callee(call) if name == f"{around.self}.{method.name}" else None
    return target is not None and target[1] is method.node


def _is_the_loss(node: ast.expr, ctx: PythonContext, depth: int = 5) -> bool:
    """Whether the returned loss is the value of `node`, an item of it, or a loss of PyTorch of it and the batch."""
    if depth == 0:
        return False
    if any(s.alone and s.sure and isinstance(s.node, ast.Return) for s in sinks(ctx, node)):
        return True
    holder = ctx.parent(node)
    match holder:
        case ast.Subscript(value=inner) if inner is node:
            return _is_the_loss(holder, ctx, depth - 1)
        case ast.Call(args=[first, *others], keywords=named) if first is node:
            is_loss = ctx.means(holder.func, LOSS_FUNCTIONS) or ctx.is_a(holder.func, LOSS_MODULES)
            plain = all(_is_data(each, ctx) for each in (*others, *(k.value for k in named)))
            return is_loss and plain and _is_the_loss(holder, ctx, depth - 1)
        case ast.Assign(targets=[target]):
            reads = [use for name in _names(target, ctx) for use in uses(ctx, name, holder)]
            return any(_only(use, holder, ctx) and _is_the_loss(use, ctx, depth - 1) for use in reads)
    return False


def _is_data(node: ast.expr, ctx: PythonContext) -> bool:
    """Whether an argument is computed from nothing but parameters and constants."""
    if any(isinstance(n, (ast.Call, ast.Lambda, ast.Await)) for n in (node, *own(node))):
        return False
    bindings = [b for name in (node, *own(node)) if isinstance(name, ast.Name) for b in reaching(ctx, name)[0]]
    return not any(isinstance(n, ast.Call) for b in bindings for n in own(b.node))


def _names(target: ast.expr, ctx: PythonContext) -> Iterator[str]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _names(element, ctx)
    elif (name := ctx.name(target)) is not None:
        yield name


def _only(use: ast.expr, binding: ast.AST, ctx: PythonContext) -> bool:
    found, complete = reaching(ctx, use)
    return complete and [b.node for b in found] == [binding]


@question
def nothing_refuses_a_graph(ctx: PythonContext, function: Function) -> Answer:
    """Whether a method is no `forward`, which others call for its features, and makes no array of what it computes."""
    if function.name == "forward":
        return unknown(ctx.evidence(function, "other code may call `forward` for its features"))
    return unless(
        ctx.evidence(call, f"`{ctx.written(call.func)}` refuses what has a graph")
        for call in own(function)
        if isinstance(call, ast.Call) and _leaves_torch(call)
    )


def _leaves_torch(call: ast.Call) -> bool:
    """Whether a call makes an array of a tensor, which one with a graph refuses (`as_an_array`)."""
    match call.func:
        case ast.Attribute(value=held, attr="numpy"):
            kept = (each for each in ast.walk(held) if isinstance(each, ast.Attribute))
            return not any(each.attr in ("detach", "data") for each in kept)
    return False


@question
def nothing_switches_gradients_on(ctx: PythonContext, *functions: Function) -> Answer:
    """Whether nothing that a step runs switches gradients on: nor a decorator that is kept under another name."""
    scopes = dict.fromkeys(functions, ctx)
    return unless(
        each.evidence(f"`{each.ctx.written(each.node)}` may switch gradients on")
        for each in mentions(ctx, *SWITCHING_ON)
        if each.call is None or gradients_on(each.ctx, each.call)
        if _is_put_away(each) or may_run_during(each, scopes)
    )


def _is_put_away(mention: Occurrence) -> bool:
    """Whether a context manager is made outside of functions, for others to enter."""
    return isinstance(mention.ctx.scope(mention.node), (ast.Module, ast.ClassDef)) and isinstance(
        mention.ctx.statement(mention.node), (ast.Assign, ast.AnnAssign)
    )


@question
def loss_is_made_here(ctx: PythonContext, step: Function) -> Answer:
    """Whether what a step returns is made while it runs, was not kept from before, and is something at all."""
    losses = [loss for each in _returns(step) if (given := handed(each)) is not None for loss in _losses(given)]
    values = [value for loss in losses for value in possible_values(ctx, loss, ordered=True)[0] if not value.path]
    kept = [each.node for each in values if isinstance(each.node, ast.Attribute)]
    made = [each.node for each in values if isinstance(each.node, ast.Call) and each.ctx is ctx]
    # what only collects returns nothing (`returns_nothing`)
    nothing = [call for call in made if (target := instances.callee(ctx, call)) is not None and not returned(target[1])]
    return unless(
        (
            *(ctx.evidence(each, "the loss may be made elsewhere") for each in kept),
            *(ctx.evidence(each, f"`{ctx.written(each.func)}` may return nothing") for each in nothing),
        )
    )


@question
def nothing_is_written(ctx: PythonContext, *functions: Function) -> Answer:
    """Whether nothing that a step runs writes into tensors, which raises, or keeps a graph, where gradients are on."""
    scopes = dict.fromkeys(functions, ctx)
    return unless(
        each.evidence(f"`{each.ctx.written(each.node)}` may write where gradients must be off")
        for each in mentions_during(ctx, scopes, *WRITING)
        if not _is_of_an_optimizer(each)
    )


def _is_of_an_optimizer(mention: Occurrence) -> bool:
    """Whether a place is in the `step` of an optimizer: that runs a training step, and never the other way round."""
    method = mention.ctx.method(mention.node)
    return method is not None and method.name == "step" and mention.ctx.index.descends(method.owner, OPTIMIZER) is True


@question
def block_is_all_work(ctx: PythonContext, work: Sequence[ast.Call]) -> Answer:
    """Whether a method calls nothing outside of the block without gradients."""
    return unless(ctx.evidence(call, f"`{ctx.written(call.func)}` stands outside of the block") for call in work)


# -- how gradients are switched off


def _switched_on(function: Function, ctx: PythonContext) -> bool:
    """Whether gradients may be switched on inside, here or in a function that is called."""
    callees = [ctx.callee(node) for node in own(function) if isinstance(node, ast.Call)]
    for there, each in [(ctx, function), *(c for c in callees if c is not None)]:
        for node in (*each.decorator_list, *own(each)):
            if isinstance(node, (ast.Call, ast.Name, ast.Attribute)) and gradients_on(there, node):
                return True
    return False


def _blocks(body: Sequence[ast.stmt], ctx: PythonContext) -> Iterator[tuple[ast.With, list[ast.expr]]]:
    """The blocks on the straight way through a body that switch gradients off, with the items that do."""
    for statement in body:
        if isinstance(statement, ast.With):
            opened = (item.context_expr for item in statement.items)
            if items := [each for each in opened if grad_mode(ctx, each) == "off"]:
                yield statement, items
                continue
        if isinstance(statement, (ast.With, ast.Try)):
            yield from _blocks(statement.body, ctx)


def _work_outside(block: ast.With, function: Function, ctx: PythonContext) -> list[ast.Call]:
    """What is called outside of the block, but for what logs."""
    seen = {node for each in ctx.regions(block) for node in (each.entered, *own(each.entered))} | {*own(block)}
    calls = (node for node in own(function) if isinstance(node, ast.Call) and node not in seen)
    return [call for call in calls if not (isinstance(call.func, ast.Attribute) and call.func.attr in _LOGS)]


def _makes_the_result(block: ast.With, function: Function, ctx: PythonContext) -> bool:
    """Whether everything that the function returns is returned in the block, or a name that is bound only there."""
    inside = set(own(block))
    outside = [r for r in _returns(function) if r not in inside and handed(r) is not None]
    for statement in outside:
        given = handed(statement)
        loss = next((v for v in _losses(given) if isinstance(v, (ast.Name, ast.Attribute))), None) if given else None
        bindings, complete = reaching(ctx, loss) if loss is not None else ([], False)
        if not complete or not all(b.node in inside for b in bindings):
            return False
    return bool(outside) or any(r in inside for r in _returns(function))


def _losses(value: ast.expr) -> Iterator[ast.expr]:
    """The loss in what is returned: the value itself, or the `"loss"` of a dictionary."""
    if not isinstance(value, ast.Dict):
        yield value
        return
    for key, loss in zip(value.keys, value.values, strict=True):
        if literal(key) == "loss":
            yield loss
