"""A model that is evaluated within its training loop, and trained on in evaluation mode.

## Why is this bad?
`model.eval()` stays in force. If `model.train()` stands before the loop only, every round after the first evaluation
trains without dropout, and batch normalization neither uses nor updates the statistics of batches. Nothing warns:
`model.training` in four epochs is True, False, False, False, and batch normalization has counted 5, 5, 5, 5 batches,
where 5, 10, 15, 20 are right.

## Fix safety
Unsafe: training takes another course. `model.train()` is put at the head of the loop. Where a round evaluates before it
trains, the finding is reported only.

## When it is not offered
Nothing is said where the mode is restored, where anything that may be this model is put into training mode on the way
to the next step, where the model was never seen in training mode (as it is when a class of torch or of the project
makes it), or where its parts have modes of their own. A model that is in evaluation mode when its training begins is
meant to be. Possible, where no layer is seen to which the mode matters.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.class_building import modules_keep
from codemods.analysis.python_context import PythonContext
from codemods.analysis.unfollowed import nothing_here_is_unfollowed
from codemods.frameworks.training import objects, questions, tables
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import insert_before

rule = Rule(
    code="GRD015",
    name="eval-left-on",
    summary="the model is trained on in evaluation mode",
    fix_title="Call `train()` at the head of the loop",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    triggers=(("step",), ("eval", "train")),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.eval",),
)


@rule.on(ast.Call)
def eval_left_on(step: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    cast = objects.cast_of(ctx, step)
    for stage in objects.stages(ctx, step, cast if "model" in cast else {}):
        if stage.ctx is not ctx:
            continue  # what leaves the mode stands in another file
        flow, model = ctx.flow_of(stage.scope), stage.cast["model"]
        # a further round hangs on the test that ends training (`ended_early`)
        ways_on = questions.ways_on(ctx, stage.scope)
        for violation in objects.course_of(ctx, stage.scope, stage.cast, tables.MODE).violations:
            left = violation.since
            if violation.node is not stage.node or not isinstance(left, ast.Call):
                continue
            if not violation.hangs_only_on([*ways_on, left]):
                continue
            loop = flow.loop(left, stage.node)
            if loop is not None and flow.comes_round(left, stage.node):
                early = flow.reaches(left, stage.node)
                yield rule.finding(
                    left,
                    fix=None if early else [insert_before(loop.body[0], f"{model}.train()")],
                    message=f"`{ctx.written(left)}` leaves `{model}` in evaluation mode for the rest of its training",
                    is_bug=[
                        questions.mode_matters(ctx, left),
                        questions.surely_leads_to_it(ctx, left, violation),
                        questions.nothing_unseen_acts(ctx, [violation]),
                        questions.mode_is_not_chosen(ctx, left),
                        nothing_here_is_unfollowed(ctx, step),
                        modules_keep(ctx, "eval", "train"),
                    ],
                )
