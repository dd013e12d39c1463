"""`loss.backward()` in a LightningModule that optimizes manually.

## Why is this bad?
With `automatic_optimization = False` you call the optimizers, but the Trainer still owns precision and strategy. Under
`precision="16-mixed"` it holds a gradient scaler, and a raw `loss.backward()` never tells it about the loss:

    AssertionError: Attempted unscale_ but _scale is None.  This may indicate your script did not use
    scaler.scale(loss or outputs) earlier in the iteration.

That is the lucky case. Where another loss of the same step went through `self.manual_backward` before, the scaler is
awake and nothing is raised: the gradients of the raw loss are divided by the scale (65536 at the start) although they
were never multiplied by it, and that part of the model hardly trains. Seen with Lightning 2.4 to 2.6; under
`bf16-mixed` and `32-true` the raw call does no harm, until somebody changes the precision or the strategy.

## Fix safety
Safe: `self.manual_backward(loss, *args, **kwargs)` hands everything after the loss on to `Tensor.backward`. Under
`32-true` and `bf16-mixed` the gradients are the same. `torch.autograd.backward(loss, grad_tensors=g)` becomes
`self.manual_backward(loss, gradient=g)`. Safe means that every optimizer which the training code of the class steps is
seen to be one of `self.optimizers()`, and that nothing looks at the gradients before they are unscaled.

Unsafe where that may be otherwise: an optimizer or a function of which it cannot be told, a gradient hook, a script or
test that may call the method outside `fit`, and a hook `on_after_backward`, which a raw call does not run.

## When it is not offered
Reported, but left as it is, because `manual_backward` alone would turn an error into wrong training:

- where an optimizer is stepped around the Trainer (`self.optimizers(use_pl_optimizer=False)`, `opt.optimizer.step()`,
  an optimizer of torch): its step would use gradients that are multiplied by the scale,
- where the gradients are clipped or read between backward and step: `clip_grad_norm_` and `self.clip_gradients` in
  `training_step` would cut the scaled gradients (one step moved the weights by 0.000488 instead of 0.5). Call
  `self.manual_backward` *and* move the clip to where gradients are unscaled:

      def on_before_optimizer_step(self, optimizer):
          self.clip_gradients(optimizer, gradient_clip_val=0.5, gradient_clip_algorithm="norm")

- where another raw call of the same training code cannot be repaired: the first `manual_backward` wakes the scaler, and
  what stays raw is silently divided by its scale.

Also reported only:

- where no training hook is seen to lead: before `fit` there is no strategy, and `manual_backward` raises,
- in functions without `self`: static methods and free functions,
- where `automatic_optimization` is set under a condition, or to something that only a run can tell,
- several tensors in one `torch.autograd.backward`,
- with Lightning before 1.4, whose `manual_backward` takes an optimizer before it takes anything else,
- a name of which nothing says that it is a tensor.

Left alone: a method named `backward` (Lightning's own hook, in which `loss.backward()` is right), `super().backward()`,
`engine.backward(loss)`, `self.trainer.strategy.backward(loss)` and the like, a scaler of your own
(`scaler.scale(loss).backward()`), and code that only evaluation runs, which reads unscaled gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.analysis.gradient_use import Consumers, Obstacle, ReachedCode, consumers, obstacle
from codemods.analysis.python_context import Method, PythonContext
from codemods.analysis.tensors import as_of_a_tensor, is_raw_backward, is_tensor, only_keywords, redirected
from codemods.frameworks.lightning.hooks import (
    BACKWARD_HOOKS,
    BEFORE,
    EVALUATION,
    TRAINING,
    called_from_outside,
    calls_elsewhere,
    reached,
    runs,
    training_code,
)
from codemods.frameworks.lightning.optimizers import stepped_by_the_trainer
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.effect import Effect
from codemods.model.names import LIGHTNING_CALLBACK, LIGHTNING_MODULE, LIGHTNING_SETUP
from codemods.project import versions
from codemods.project.index import Ref
from codemods.rules.rule import Draft, Rule
from codemods.syntax.facts import MISSING
from codemods.syntax.module import FUNCTIONS
from codemods.syntax.verbs import Verb

rule = Rule(
    code="PL001",
    name="raw-backward",
    summary="`loss.backward()` bypasses the Trainer's gradient scaler and strategy",
    fix_title="Call `self.manual_backward(loss)`",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.FACTOR,
    triggers=(("backward",),),
    subclasses=LIGHTNING_MODULE,
    errors=("Attempted unscale_ but _scale is None",),
    references=(
        "https://lightning.ai/docs/pytorch/stable/model/manual_optimization.html",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/19695",
    ),
)

WITHOUT_OPTIMIZER = ">=1.4"
"""The Lightning from which `manual_backward(loss, …)` hands what follows on to `backward`; 1.1 wants the optimizer."""

OPTIMIZER_METHODS = frozenset(
    {"step", "zero_grad", "state_dict", "load_state_dict", "add_param_group", "train", "eval", "toggle_model"}
    | {"append", "items", "keys", "values", "index"}
)
"""Methods of an optimizer, or of a collection of some, that leave gradients alone or are seen elsewhere."""

HOOKS = ("backward", "manual_backward")
"""Methods that Lightning itself calls to run a backward pass, or that stand for it."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A raw backward call of a manual module."""

    written: str
    method: Method | None = None
    fixed: Verb | None = None
    why: str = ""
    """Why it is only reported, where it is."""
    sure: bool = True
    """Whether it surely differentiates a tensor."""


@rule.on(ast.Call)
def raw_backward(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    raw = _raw(call, ctx)
    if raw is None:
        return
    if raw.method is None or raw.fixed is None:
        yield rule.finding(call, message=f"{raw.written} bypasses the Trainer{raw.why}")
        return
    message = f"{raw.written} bypasses the Trainer's gradient scaler and strategy"
    beside = _beside(ctx, raw.method)
    reasons = beside.users.reasons
    evidence = beside.users.evidence or beside.awake
    harmless = beside.users.steps == {False}  # no scaler ever sees these gradients
    consequence = Consequence.STYLE if harmless else Consequence.SILENT if beside.awake else None
    if beside.users.forbid:
        message = f"{message}; `manual_backward` alone would be wrong: {reasons}"
        yield rule.finding(call, message=message, consequence=consequence, evidence=evidence)
        return
    yield rule.finding(
        call,
        fix=[raw.fixed],
        safety=Safety.UNSAFE if reasons else Safety.SAFE,
        message=f"{message}; look first: {reasons}" if reasons else message,
        requires=_requires(ctx),
        consequence=consequence,
        evidence=evidence,
    )


def _raw(call: ast.Call, ctx: PythonContext) -> Raw | None:
    """What a call is to this rule; None where it is none of its business."""
    functional = ctx.means(call.func, "torch.autograd.backward")
    match call.func:
        case ast.Attribute(value=loss, attr="backward") if not functional:
            if ctx.loss_of(call) is not loss or ctx.owns_backward(loss):
                return None
            certain = is_tensor(ctx, loss, by_name=as_of_a_tensor(call))
            if certain is False or (certain is None and not (isinstance(loss, ast.Name) and only_keywords(call))):
                return None
        case _ if functional:
            certain = True
        case _:
            return None
    written = _written(call, ctx)
    method = _method(call, ctx)
    if method is None:
        return _without_self(call, ctx, written)
    if method.name in HOOKS or not ctx.index.descends(method.owner, LIGHTNING_MODULE):
        return None
    optimizes = ctx.index.constant(method.owner, "automatic_optimization", LIGHTNING_SETUP)
    if optimizes is True or optimizes is MISSING:
        return None
    training = runs(ctx, method.owner, method.node, TRAINING)
    if not training and runs(ctx, method.owner, method.node, EVALUATION):
        return None
    if optimizes is not False:
        return Raw(written, why=" wherever `automatic_optimization` is off, as it may be here")
    if not training or _may_run_before_fit(ctx, method):
        return Raw(written, why=f"; `{method.name}` may run outside `fit`, where `manual_backward` would raise")
    if not certain:
        return Raw(written, why=", if it is a tensor that is differentiated", sure=False)
    if not versions.may(ctx.target("lightning"), WITHOUT_OPTIMIZER):
        return Raw(written, why="; `manual_backward` wants the optimizer before Lightning 1.4")
    if (fixed := redirected(ctx, call, f"{method.self}.manual_backward")) is None:
        return Raw(written, why="; `manual_backward` takes one tensor")
    return Raw(written, method, fixed)


@dataclass(frozen=True, slots=True)
class Beside:
    """What is seen of the training code beside a raw backward call."""

    users: Consumers
    """Who uses the gradients, and what else stands against a repair of all backward calls of that code."""
    awake: tuple[Evidence, ...]
    """The calls of `manual_backward`: after the first, a raw backward raises nothing and is divided by the scale."""


def _beside(ctx: PythonContext, method: Method) -> Beside:
    """What is seen beside a method: all raw calls of its training code are repaired, or none.

    The first one that is repaired wakes the scaler, which divides what the others leave.
    """
    key = (_beside, method.node)
    if key not in ctx.memo:
        code = training_code(ctx, method.owner, method.node)
        users = consumers(code, stepped_by_the_trainer, "the Trainer")
        found: list[Obstacle] = []
        awake: list[Evidence] = []
        for where, node in code.nodes:
            if isinstance(node, ast.Call) and (raw := _raw(node, where) or _out_of_reach(node, where)) and raw.why:
                found.append(obstacle(where, node, f"{raw.written} would stay as it is", sure=raw.sure))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr not in OPTIMIZER_METHODS and stepped_by_the_trainer(where, node.func.value):
                    found.append(
                        obstacle(where, node, f"`{where.source(node.func)}` may use the gradients", sure=False)
                    )
            elif isinstance(node, ast.Attribute) and node.attr == "manual_backward":
                awake.append(where.evidence(node, "`manual_backward` scales another loss"))
        for where, node, sure in calls_elsewhere(ctx, method.owner, method.node):
            why = f"`{where.source(node.func)}` {'runs' if sure else 'may run'} it outside `fit`, where it would raise"
            found.append(obstacle(where, node, why, sure=sure))
        found += _hooks(ctx, code)
        ctx.memo[key] = Beside(users.beside(found), tuple(awake))
    beside: Beside = ctx.memo[key]
    return beside


def _out_of_reach(call: ast.Call, ctx: PythonContext) -> Raw | None:
    """A raw backward call of the training code in a class that is no LightningModule, such as a mixin."""
    function = ctx.function(call)
    if not is_raw_backward(ctx, call) or function is None or function.name in HOOKS:
        return None
    return Raw(_written(call, ctx), why="; it stands in another class", sure=False)


def _hooks(ctx: PythonContext, code: ReachedCode) -> Iterator[Obstacle]:
    """The hooks that only `manual_backward` runs: of the class, and of callbacks of the project."""
    why = "runs with `manual_backward` only"
    for scope, where in code.scopes.items():
        if isinstance(scope, FUNCTIONS) and scope.name in BACKWARD_HOOKS:
            yield obstacle(where, scope, f"`{scope.name}` {why}", sure=False)
    for path in ctx.index.search(ctx.path, tuple(hook.encode() for hook in BACKWARD_HOOKS)):
        facts = ctx.index.facts(path)
        for name, klass in facts.classes.items() if facts else ():
            hooks = [hook for hook in BACKWARD_HOOKS if hook in klass.methods]
            if hooks and ctx.index.descends(Ref(path, name), LIGHTNING_CALLBACK) and (other := ctx.other(path)):
                for hook in hooks:
                    if found := other.definition(f"{name}.{hook}"):
                        yield obstacle(other, found[1], f"`{hook}` of `{name}` {why}", sure=False)


def _requires(ctx: PythonContext) -> dict[str, str]:
    """What `manual_backward` asks of Lightning, where the project says which it uses: it is older than most."""
    target = ctx.target("lightning")
    return {"lightning": WITHOUT_OPTIMIZER} if target is not None and target.spec else {}


def _method(call: ast.Call, ctx: PythonContext) -> Method | None:
    """The method around the call, if its first parameter is the module."""
    method = ctx.method(call)
    if method and any(ctx.name(d) == "classmethod" for d in method.node.decorator_list):
        return None
    return method


def _may_run_before_fit(ctx: PythonContext, method: Method) -> bool:
    if method.name in TRAINING:
        return False
    return runs(ctx, method.owner, method.node, BEFORE) or called_from_outside(ctx, method.owner, method.node)


def _without_self(call: ast.Call, ctx: PythonContext, written: str) -> Raw | None:
    """A function without `self` that the training step of a manual module in this file runs."""
    function = ctx.function(call)
    if function is None or function.name in HOOKS:
        return None
    key = (ctx.path, ctx.qualified(function))
    for name in ctx.facts.classes:
        owner = Ref(ctx.path, name)
        if ctx.index.descends(owner, LIGHTNING_MODULE):
            if ctx.index.constant(owner, "automatic_optimization", LIGHTNING_SETUP) is False:
                if key in reached(ctx, owner, TRAINING):
                    last = name.rpartition(".")[2]
                    return Raw(written, why=f" of `{last}`; there is no `self` here on which to call `manual_backward`")
    return None


def _written(call: ast.Call, ctx: PythonContext) -> str:
    loss = ctx.loss_of(call)
    name = ctx.name(loss) if loss is not None else None
    if name is None or not isinstance(call.func, ast.Attribute) or call.func.value is not loss:
        return "this raw backward"
    return f"`{name}.backward()`"
