"""A manual `training_step` clips gradients that the Trainer has scaled.

## Why is this bad?
With `precision="16-mixed"` `manual_backward` multiplies the loss by the scale of a gradient scaler, and only the step
divides the gradients again. A clip in between cuts the scaled ones, whether it is `self.clip_gradients` or torch's:
with a scale of 64 the gradient that was used had the norm 0.0078 for 0.5 (run with Lightning 2.6.6). Nothing raises and
nothing warns. In `on_before_optimizer_step` the gradients are unscaled, and the norm was 0.5.

## Fix safety
Unsafe: the clip moves to this hook, and training takes longer steps. In other precisions both do the same.

## When it is not offered
Reported with several optimizers, a fused one (its step unscales itself, so that the hook sees scaled gradients), where
the class has such a hook, where the clip needs variables of the step or does not stand beside `step()`, and where its
norm is used. Silent where no Trainer in sight has a scaler, where the clip asks for the precision or the scale, where
the step takes hold of gradients itself, and for an infinite bound. Possible where a Trainer has another precision, and
where other code asks for the scale.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, has_splat, keyword
from codemods.analysis.mentions import mentions
from codemods.analysis.python_context import Method, PythonContext
from codemods.analysis.sources import sources
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks.autocast.regions import every_trainer_scales
from codemods.frameworks.lightning.closures import runs_by_hand
from codemods.frameworks.lightning.hooks import STEPPING, runs
from codemods.frameworks.lightning.optimizers import methods_are_lightnings, stepped_by_the_trainer, which
from codemods.frameworks.scaler.questions import bound_is_a_number
from codemods.frameworks.training import questions
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.names import CLIP_GRAD, LIGHTNING_MODULE
from codemods.project import versions
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own
from codemods.syntax.verbs import Verb, delete, insert_after

_KNOWING = ("scaler", "get_scale", "precision", "precision_plugin")  # by which a clip is made for the scale

rule = Rule(
    code="PL003",
    name="manual-clip-in-training-step",
    summary="a manual `training_step` clips gradients that are multiplied by the loss scale",
    fix_title="Clip in `on_before_optimizer_step`",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.SIZES,
    triggers=(("clip_gradients", "clip_grad_norm_", "clip_grad_value_"), ("manual_backward",), ("training_step",)),
    subclasses=LIGHTNING_MODULE,
    references=("https://lightning.ai/docs/pytorch/stable/common/lightning_module.html#on-before-optimizer-step",),
)


@rule.on(ast.Call)
def manual_clip(clip: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    method = ctx.method(clip)
    if method is None or ctx.scope(clip) is not method.node or has_splat(clip):
        return
    lightnings = ctx.name(clip.func) == f"{method.self}.clip_gradients"
    if not lightnings and not ctx.means(clip.func, CLIP_GRAD):
        return
    if lightnings and argument(clip, "gradient_clip_val", 1) is None:
        return  # it clips nothing then: the Trainer has no bound in manual optimization
    if not runs_by_hand(ctx, method) or ctx.index.descends(method.owner, LIGHTNING_MODULE) is not True:
        return
    if method.name != "training_step" and not runs(ctx, method.owner, method.node, ("training_step",)):
        return
    scales, steps = every_trainer_scales(ctx), _around(ctx, method, clip)
    tests = questions.own_tests(ctx, clip)
    told = [node for each in tests for node in ast.walk(each)] + [*sources(ctx, method.node, clip)]
    if scales.is_no or not steps or questions.reads_gradients(ctx, method.node):
        return
    if any(isinstance(n, ast.Attribute) and n.attr in _KNOWING for n in told):
        return
    yield rule.finding(
        clip,
        fix=_moved(ctx, method, clip, steps),
        message=f"`{ctx.written(clip.func)}` sees gradients that are multiplied by the scale of the Trainer",
        is_bug=[
            scales,
            methods_are_lightnings(ctx, method.owner, "manual_backward", "optimizers", "clip_gradients"),
            the_trainer_gave_it(ctx, steps[0]),
            nothing_asks_for_the_scale(ctx),
            *([] if lightnings else [bound_is_a_number(ctx, clip)]),
        ],
    )


def _around(ctx: PythonContext, method: Method, clip: ast.Call) -> list[ast.Call]:
    """The steps behind a clip, if `manual_backward` surely ran before it, and no step since; none of raw optimizers."""
    flow, calls = ctx.flow_of(method.node), [node for node in own(method.node) if isinstance(node, ast.Call)]
    backwards = [each for each in calls if ctx.name(each.func) == f"{method.self}.manual_backward"]
    steps = [(c, c.func.value) for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "step"]
    made = [each for each in backwards if flow.dominates(each, clip) and flow.stands_before(each, clip)]
    if not made or any(flow.reaches(made[-1], each) and flow.reaches(each, clip) for each, _ in steps):
        return []
    later = [(each, of) for each, of in steps if flow.reaches(clip, each)]
    return [each for each, of in later if stepped_by_the_trainer(ctx, of) is not False]


@question
def the_trainer_gave_it(ctx: PythonContext, step: ast.Call) -> Answer:
    """Whether what is stepped surely came from `self.optimizers()`: a method may be given another (`in_a_helper`)."""
    assert isinstance(step.func, ast.Attribute)
    optimizer = step.func.value
    if stepped_by_the_trainer(ctx, optimizer):
        return yes()
    return unknown(ctx.evidence(optimizer, f"who made `{ctx.written(optimizer)}` is not known"))


def _moved(ctx: PythonContext, method: Method, clip: ast.Call, steps: list[ast.Call]) -> list[Verb] | None:
    """The clip in a hook of its own; None where it may clip something else there, or the class has the hook."""
    here, there = ctx.statement(clip), ctx.statement(step := steps[0])
    if not isinstance(here, ast.Expr) or here.value is not clip or there is None or len(steps) != 1:
        return None
    if ctx.module.block(here) != ctx.module.block(there) or not isinstance(step.func, ast.Attribute):
        return None
    if which(ctx, step.func.value) != {""} or any(ctx.index.method(method.owner, each) for each in STEPPING):
        return None
    old = not versions.may(ctx.target("lightning"), ">=2.0")  # the hook took another argument
    if old or any(keyword(each, "fused") for each in ctx.all(ast.Call)) or method.node.decorator_list:
        return None
    lightnings = ctx.name(clip.func) == f"{method.self}.clip_gradients"
    given = argument(clip, "optimizer", 0) if lightnings else None
    parts = [(each, "") for each in clip.args] + [(each.value, f"{each.arg}=") for each in clip.keywords]
    names = [node for value, _ in parts if value is not given for node in ast.walk(value) if isinstance(node, ast.Name)]
    if any(name.id != method.self and not ctx.origin(name) for name in names):
        return None  # a variable of the step
    if given is not None and which(ctx, given) != {""}:
        return None
    told = ", ".join(f"{name}{'optimizer' if value is given else ctx.source(value)}" for value, name in parts)
    hook = f"\ndef on_before_optimizer_step({method.self}, optimizer):\n    {ctx.source(clip.func)}({told})\n"
    return [delete(clip), insert_after(method.node, hook)] if "\n" not in told else None


@question
def nothing_asks_for_the_scale(ctx: PythonContext) -> Answer:
    """Whether nothing in the program asks for the scale, by which a bound may be multiplied (`scaled_bound`)."""
    found = mentions(ctx, "scaler", "get_scale", "unscale_")
    return unless(each.evidence("the bound may hold the scale, or the gradients be divided by it") for each in found)
