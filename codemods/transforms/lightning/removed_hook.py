"""Hooks of a LightningModule or Callback that Lightning no longer calls, or refuses to find.

## Why is this bad?
Some raise when training begins:

    NotImplementedError: Support for `training_epoch_end` has been removed in v2.0.0.

The others are worse: the method stays in the class and nobody calls it. A loss that `training_step_end` computed, or a
metric that `on_epoch_end` logged, is gone without a word.

## Fix safety
There is none: what the hook was given (the outputs of all steps) is no longer collected, so that its body has to be
written anew.

## When it is not offered
Where the project allows only releases that call the hook, for classes that do not surely descend from Lightning's, and
where the code tests the version. Where the project calls the method itself, the finding is possible only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.methods import old_hooks
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule

rule = Rule(
    code="PL104",
    name="removed-hook",
    summary="a newer release of Lightning does not call this method",
    fix_title="Move the body to the hook that replaces it",
    safety=Safety.DISPLAY,
    consequence=Consequence.SILENT,
    effect=Effect.EQUAL,
    triggers=(tables.words("PL104", "hook"),),
    imports=("lightning", "pytorch_lightning"),
    errors=(
        "Support for `training_epoch_end` has been removed in v2.0.0",
        "Support for `validation_epoch_end` has been removed in v2.0.0",
        "Support for `test_epoch_end` has been removed in v2.0.0",
    ),
    references=("https://lightning.ai/docs/pytorch/stable/upgrade/from_1_9.html",),
)


@rule.on(ast.FunctionDef)
def removed_hook(function: ast.FunctionDef, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_hooks(rule, function, ctx)
