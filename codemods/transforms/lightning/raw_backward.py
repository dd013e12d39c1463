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

It raises in 16-bit precision, with a gradient scaler. Where no Trainer of the project is seen to have one, the call is
told as `style`: on one device it does no harm; where a run chooses the precision, as possible. Possible, too, where
what is differentiated may be no tensor or be scaled by hand, where the module has a `manual_backward` of its own, and
where no optimizer is seen that steps with the gradients, or the gradient of an input is read.

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
from dataclasses import dataclass, replace

from codemods.analysis.calls import keyword, named_calls, values
from codemods.analysis.gradient_use import (
    Consumers,
    Obstacle,
    ReachedCode,
    consumers,
    gradients_are_taken_back,
    obstacle,
)
from codemods.analysis.gradient_watchers import (
    every_backward_is_known,
    functions_are_linear,
    no_hook_sees_gradients,
    no_other_code_reads_gradients,
)
from codemods.analysis.mentions import mentions_during
from codemods.analysis.optimizers import stepped
from codemods.analysis.python_context import Method, PythonContext
from codemods.analysis.tensors import differentiates_a_tensor, is_raw_backward, redirected
from codemods.flow.answers import Answer, every, question, unknown, unless, yes
from codemods.frameworks.autocast.regions import scales_losses
from codemods.frameworks.lightning.hooks import (
    BACKWARD_HOOKS,
    BEFORE,
    EVALUATION,
    STEPPING,
    TRAINING,
    called_from_outside,
    reached,
    runs,
    runs_under_the_trainer,
    training_code,
)
from codemods.frameworks.lightning.optimizers import methods_are_lightnings, stepped_by_the_trainer
from codemods.frameworks.scaler.questions import no_scaler_may_be_off
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.effect import Effect
from codemods.model.names import LIGHTNING_CALLBACK, LIGHTNING_MODULE, LIGHTNING_SETUP
from codemods.project import versions
from codemods.project.index import Ref
from codemods.rules.rule import Draft, Rule
from codemods.syntax.facts import MISSING
from codemods.syntax.module import FUNCTIONS, own
from codemods.syntax.verbs import Verb

rule = Rule(
    code="PL001",
    name="raw-backward",
    summary="`loss.backward()` bypasses the Trainer's gradient scaler and strategy",
    fix_title="Call `self.manual_backward(loss)`",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.FACTOR,
    follows=True,
    computed=Computed.SIZES,
    triggers=(("backward",),),
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
    is_bug: tuple[Answer, ...] = ()


@rule.on(ast.Call)
def raw_backward(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    raw = _raw(call, ctx)
    if raw is None:
        return
    raw = replace(raw, is_bug=(*raw.is_bug, weights_get_gradients(ctx, call)))
    scaled = scales_losses(ctx)
    if raw.method is None or raw.fixed is None:
        cost = Consequence.STYLE if scaled.is_no else None
        is_bug = raw.is_bug if scaled.is_no else (*raw.is_bug, a_scaler_is_used(ctx))
        message = f"{raw.written} bypasses the Trainer{raw.why}"
        yield rule.finding(call, message=message, is_bug=is_bug, consequence=cost)
        return
    message = f"{raw.written} bypasses the Trainer's gradient scaler and strategy"
    beside = _beside(ctx, call, raw.method)
    harmless = scaled.is_no or beside.users.steps == {False}  # no scaler ever sees these gradients
    asked = [a_scaler_is_used(ctx)] if not harmless else []
    yield rule.finding(
        call,
        fix=[raw.fixed],
        message=message,
        is_bug=(
            *raw.is_bug,
            *asked,
            methods_are_lightnings(ctx, raw.method.owner, "manual_backward"),
            loss_is_not_scaled(ctx, raw.method),
            gradients_are_for_the_trainer(ctx, call, beside.users),
        ),
        is_right=beside.is_right,
        requires=_requires(ctx),
        consequence=Consequence.STYLE if harmless else Consequence.SILENT if beside.awake else None,
        evidence=beside.awake,
    )


@question
def weights_get_gradients(ctx: PythonContext, call: ast.Call) -> Answer:
    """Whether a backward pass is not one for some tensors only: those of an attack are no weights (`for_an_attack`)."""
    given = keyword(call, "inputs")
    weights = given is not None and any(
        isinstance(node, ast.Attribute) and node.attr == "parameters" for node in ast.walk(given)
    )
    return yes() if given is None or weights else unknown(ctx.evidence(given, "only these get gradients"))


def _raw(call: ast.Call, ctx: PythonContext) -> Raw | None:
    """What a call is to this rule; None where it is none of its business."""
    if not is_raw_backward(ctx, call):
        return None
    written = _written(call, ctx)
    method = _method(call, ctx)
    if method is None:
        return _without_self(call, ctx, written)
    if method.name in HOOKS:
        return None
    if not ctx.index.descends(method.owner, LIGHTNING_MODULE):
        return _in_a_mixin(call, ctx, method, written)
    optimizes = ctx.index.constant(method.owner, "automatic_optimization", LIGHTNING_SETUP)
    if optimizes is True or optimizes is MISSING:
        return None
    training = runs(ctx, method.owner, method.node, TRAINING)
    if not training and runs(ctx, method.owner, method.node, EVALUATION):
        return None
    tensor = differentiates_a_tensor(ctx, call)
    if optimizes is not False:
        why = " wherever `automatic_optimization` is off"
        return Raw(written, why=why, is_bug=(tensor, _optimizes_manually(ctx, method)))
    if not training or _may_run_before_fit(ctx, method):
        outside = ctx.evidence(method.node, f"`{method.name}` may run outside `fit`, where `manual_backward` raises")
        return Raw(written, is_bug=(tensor, unknown(outside)))
    if not versions.may(ctx.target("lightning"), WITHOUT_OPTIMIZER):
        return Raw(written, why="; `manual_backward` wants the optimizer before Lightning 1.4", is_bug=(tensor,))
    if (fixed := redirected(ctx, call, f"{method.self}.manual_backward")) is None:
        return Raw(written, why="; `manual_backward` takes one tensor", is_bug=(tensor,))
    return Raw(written, method, fixed, is_bug=(tensor,))


def _in_a_mixin(call: ast.Call, ctx: PythonContext, method: Method, written: str) -> Raw | None:
    """A method that a manual module of the project inherits from a class that is no LightningModule itself."""
    if ctx.index.descends(method.owner, LIGHTNING_MODULE) is None:
        return None
    for owner in ctx.index.subclasses(method.owner):
        manual = ctx.index.descends(owner, LIGHTNING_MODULE) and (
            ctx.index.constant(owner, "automatic_optimization", LIGHTNING_SETUP) is False
        )
        if manual and (ctx.path, ctx.qualified(method.node)) in reached(ctx, owner, TRAINING):
            last = owner.name.rpartition(".")[2]
            why = f" of `{last}`; it stands in a class that is no LightningModule itself"
            return Raw(written, why=why, is_bug=(differentiates_a_tensor(ctx, call),))
    return None


def _optimizes_manually(ctx: PythonContext, method: Method) -> Answer:
    """What says whether a module optimizes manually, where only a run can tell."""
    for ref, given in ctx.index.assigned(method.owner, "automatic_optimization"):
        return unknown(Evidence(ref.path, given.line, "`automatic_optimization` may be on"))
    return unknown(ctx.evidence(method.klass, "`automatic_optimization` may be on"))


@question
def loss_is_not_scaled(ctx: PythonContext, method: Method) -> Answer:
    """Whether nothing that runs with a training step scales a loss by hand, as with the Trainer's own scaler."""
    scopes = {method.node: ctx}
    return unless(
        each.evidence(f"`{each.ctx.written(each.node)}` may scale the loss already")
        for each in mentions_during(ctx, scopes, "scale", "get_scale", "pre_backward")
        if each.word == "pre_backward" or each.is_kept or (each.call is not None and len(values(each.call)) < 2)
    )


@question
def a_scaler_is_used(ctx: PythonContext) -> Answer:
    """Whether a Trainer of the project scales losses, so that a raw backward costs something."""
    return every((scales_losses(ctx), no_scaler_may_be_off(ctx)))


@question
def gradients_are_for_the_trainer(ctx: PythonContext, call: ast.Call, users: Consumers) -> Answer:
    """Whether the gradients are for an optimizer that the Trainer steps, and not for who reads those of an input."""
    if not users.steps:
        return unknown(ctx.evidence(call, "no optimizer is seen that steps with these gradients"))
    if (own_step := _stepped_here_by_another(ctx, call)) is not None:
        return unknown(ctx.evidence(own_step, f"`{ctx.written(own_step)}` may step with them, around the Trainer"))
    return unless(each.shown for each in users.obstacles if each.of_an_input)


def _stepped_here_by_another(ctx: PythonContext, call: ast.Call) -> ast.Call | None:
    """A step that surely follows a backward in its function, of an optimizer which is not the Trainer's.

    Fixture: `copy_with_its_own_optimizer`.
    """
    steps = [(c, owner) for c in own(ctx.scope(call)) if isinstance(c, ast.Call) and (owner := stepped(ctx, c))]
    others = [c for c, owner in steps if stepped_by_the_trainer(ctx, owner) is False]
    flow = ctx.flow_of(ctx.scope(call))
    if len(others) < len(steps) or not flow.surely_follows(call, others):
        return None
    return others[0]


@dataclass(frozen=True, slots=True)
class Beside:
    """What is seen of the training code beside a raw backward call."""

    users: Consumers
    """Who uses the gradients, and what else stands against a repair of all backward calls of that code."""
    is_right: tuple[Answer, ...]
    awake: tuple[Evidence, ...]
    """The calls of `manual_backward`: after the first, a raw backward raises nothing and is divided by the scale."""


def _beside(ctx: PythonContext, call: ast.Call, method: Method) -> Beside:
    """What is seen beside a method: all raw calls of its training code are repaired, or none.

    The first one that is repaired wakes the scaler, which divides what the others leave.
    """
    key = (_beside, method.node)
    if key not in ctx.memo:
        code = training_code(ctx, method.owner, method.node)
        at = ctx.evidence(call, "it is differentiated here")
        users = consumers(code, at, stepped_by_the_trainer, "the Trainer")
        found: list[Obstacle] = []
        awake: list[Evidence] = []
        for where, node in code.nodes:
            if isinstance(node, ast.Call) and (raw := _raw(node, where) or _out_of_reach(node, where)):
                if raw.fixed is None or not every(raw.is_bug).is_yes:
                    sure = raw.fixed is None and bool(raw.is_bug) and every(raw.is_bug).is_yes
                    found.append(obstacle(where, node, f"{raw.written} would stay as it is", sure=sure))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr not in OPTIMIZER_METHODS and stepped_by_the_trainer(where, node.func.value):
                    found.append(
                        obstacle(where, node, f"`{where.source(node.func)}` may use the gradients", sure=False)
                    )
            elif isinstance(node, ast.Attribute) and node.attr == "manual_backward":
                awake.append(where.evidence(node, "`manual_backward` scales another loss"))
        found += _hooks(ctx, code)
        users = users.beside(found)
        is_right = (
            gradients_are_taken_back(users),
            methods_are_lightnings(ctx, method.owner, "optimizers"),
            runs_under_the_trainer(ctx, method.owner, method.node),
            no_hook_sees_gradients(ctx),
            functions_are_linear(ctx),
            every_backward_is_known(ctx, code, _is_looked_at),
            no_other_code_reads_gradients(ctx, code, _sees_unscaled),
        )
        ctx.memo[key] = Beside(users, is_right, tuple(awake))
    beside: Beside = ctx.memo[key]
    return beside


def _is_looked_at(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a backward pass is raw, and so repaired or told, or Lightning's own."""
    if is_raw_backward(ctx, call):
        return True
    method = ctx.method(call)
    return method is not None and method.name in HOOKS


def _sees_unscaled(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether a node runs in a hook in which gradients are unscaled."""
    method = ctx.method(node)
    return method is not None and method.name in STEPPING


def _out_of_reach(call: ast.Call, ctx: PythonContext) -> Raw | None:
    """A raw backward call of the training code in a class that is no LightningModule, such as a mixin."""
    function = ctx.function(call)
    if not is_raw_backward(ctx, call) or function is None or function.name in HOOKS:
        return None
    return Raw(_written(call, ctx), why="; it stands in another class")


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
            if (
                hooks
                and ctx.index.descends(Ref(path, name), LIGHTNING_CALLBACK) is not False
                and (other := ctx.other(path))
            ):
                for hook in hooks:
                    if found := other.definition(f"{name}.{hook}"):
                        yield obstacle(other, found[1], f"`{hook}` of `{name}` {why}", sure=False)
    for path in ctx.index.search(ctx.path, (b"LambdaCallback",)):
        other = ctx.other(path)
        for call in named_calls(other, "LambdaCallback") if other is not None else ():
            if other is not None and any(each.arg is None or each.arg in BACKWARD_HOOKS for each in call.keywords):
                yield obstacle(other, call, f"a hook of this callback {why}", sure=False)


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
                    why = f" of `{last}`; there is no `self` here on which to call `manual_backward`"
                    return Raw(written, why=why, is_bug=(differentiates_a_tensor(ctx, call),))
    return None


def _written(call: ast.Call, ctx: PythonContext) -> str:
    loss = ctx.loss_of(call)
    name = ctx.name(loss) if loss is not None else None
    if name is None or not isinstance(call.func, ast.Attribute) or call.func.value is not loss:
        return "this raw backward"
    return f"`{name}.backward()`"
