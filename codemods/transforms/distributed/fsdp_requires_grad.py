"""A model that is partly frozen, in `FullyShardedDataParallel` without `use_orig_params=True`.

## Why is this bad?
The wrapper joins the parameters of a unit into one, which requires gradients or does not. It raises where it is made
(run with PyTorch 2.13):

    ValueError: Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`

## Fix safety
Unsafe: `use_orig_params=True` keeps the parameters apart: the optimizer sees them under their own names, and saved
states of the optimizer have another form.

## When it is not offered
Silent with an `auto_wrap_policy`, which may put frozen and trained parameters into units of their own, with ignored
modules, for FSDP2 (`fully_shard`), and where no optimizer in sight is given the wrapper. Possible where parameters are
frozen by their names or under a test, where the program makes parameters require gradients, and where parts are wrapped
apart.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, has_splat, keyword, literal
from codemods.analysis.mentions import mentions
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.trainer_config.adapters import thawing
from codemods.frameworks.trainer_config.trainings import made_of, trainings
from codemods.frameworks.training.partly_frozen import Frozen, partly_frozen
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import is_none
from codemods.syntax.verbs import edit_call, replace

_WRAPPER = frozenset(
    f"torch.distributed.fsdp.{name}FullyShardedDataParallel" for name in ("", "fully_sharded_data_parallel.")
)

rule = Rule(
    code="DST003",
    name="fsdp-requires-grad",
    summary="`FullyShardedDataParallel` of a model that is partly frozen needs `use_orig_params=True`",
    fix_title="Keep the parameters apart",
    safety=Safety.UNSAFE,
    consequence=Consequence.RAISES,
    triggers=(("FullyShardedDataParallel",),),
    somewhere=(b"requires_grad", b"get_peft_model"),
    errors=("Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`",),
    references=("https://docs.pytorch.org/docs/stable/fsdp.html",),
)


@rule.on(ast.Call)
def fsdp_requires_grad(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if not ctx.means(call.func, _WRAPPER) or has_splat(call) or len(call.args) > 4:
        return
    apart, policy = keyword(call, "use_orig_params"), keyword(call, "auto_wrap_policy")
    ignoring = keyword(call, "ignored_modules") or keyword(call, "ignored_states")
    model = argument(call, "module", 0)
    if model is None or ignoring or not (policy is None or is_none(policy)):
        return
    if apart is not None and literal(apart) is not False:
        return
    if not any(call in made_of(ctx, each)[0] for _, models in trainings(ctx) for each in models):
        return  # it may be frozen as a whole
    for frozen in partly_frozen(ctx, call, model):
        yield rule.finding(
            call,
            fix=[replace(apart, "True") if apart else edit_call(call, last=[("use_orig_params", "True")])],
            message=f"a part of `{ctx.written(model)}` is frozen, and the wrapper joins all of its parameters",
            evidence=[frozen.ctx.evidence(frozen.node, "frozen here")],
            is_bug=[parameters_surely_differ(ctx, call, frozen)],
        )
        return


@question
def parameters_surely_differ(ctx: PythonContext, call: ast.Call, frozen: Frozen) -> Answer:
    """Whether a part of a model surely is frozen and another is not, in one unit of the wrapper."""
    places = [] if frozen.is_sure else [frozen.ctx.evidence(frozen.node, "this may not be frozen")]
    for each in thawing(ctx):
        if not any(each.ctx.module.contains(node, each.node) for node in frozen.trained):
            places.append(each.evidence("the frozen part may require gradients from here on"))
    places += [each.evidence("a part may be wrapped apart") for each in mentions(ctx, "wrap", "auto_wrap")]
    for other in ctx.all(ast.Call):
        if other is not call and ctx.means(other.func, _WRAPPER) and _may_be_a_part(ctx, other, call):
            places.append(ctx.evidence(other, "a part may be wrapped apart"))
    return unless(places)


def _may_be_a_part(ctx: PythonContext, other: ast.Call, call: ast.Call) -> bool:
    """Whether another wrapper may hold a part of a model: one of its function, of an attribute or of an item."""
    module = argument(other, "module", 0)
    made, complete = made_of(ctx, module) if module is not None else ([], False)
    plain = complete and all(isinstance(each, ast.Name | ast.Call) for each in made)
    return ctx.scope(other) is ctx.scope(call) or not made or not plain
