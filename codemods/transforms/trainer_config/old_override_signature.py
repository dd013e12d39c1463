"""Methods of a Trainer's subclass with the parameters of an older Transformers: `compute_loss` without
`num_items_in_batch`.

## Why is this bad?
The Trainer gives the method an argument that it does not take, and the run ends with the first step:

    TypeError: CustomTrainer.compute_loss() got an unexpected keyword argument 'num_items_in_batch'

A parameter alone would turn that error into a wrong loss: under gradient accumulation the Trainer expects a loss that
is divided by this number, and the gradient becomes as many times too large as there are steps.

## Fix safety
Offered where the method gets its loss from `super()`: the parameter is added, and handed on. Safe where a person
names a release that gives it (`--target`, or `target` in the configuration). Unsafe where only a requirement says so:
the run ends there as the code is, so the requirement may not be what is installed.

## When it is not offered
Where the method computes its loss itself, on one way at least: a person divides by `num_items_in_batch`, or sets
`model_accepts_loss_kwargs = False`. For methods with `**kwargs`, and where the code tests the version.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.methods import missing, overridden_with, signature_finding
from codemods.frameworks.trainer_config.overrides import (
    calls_of_super,
    inputs_are_as_counted,
    is_between,
    is_only_way,
    loss_is_handed_back,
)
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import edit_call, edit_parameters

rule = Rule(
    code="HF014",
    name="old-override-signature",
    summary="a newer Trainer gives this method an argument that it does not take",
    fix_title="Take the argument, and hand it on",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.EQUAL,
    triggers=(tables.words("HF014", "signature"),),
    imports=("transformers", "trl"),
    subclasses=tables.classes("HF014"),
    errors=(
        "compute_loss() got an unexpected keyword argument 'num_items_in_batch'",
        "training_step() takes 3 positional arguments but 4 were given",
    ),
    references=("https://github.com/huggingface/transformers/issues/36331",),
)


@rule.on(ast.FunctionDef)
def old_signature(function: ast.FunctionDef, ctx: PythonContext) -> Iterator[Draft]:
    found = overridden_with(rule, function, ctx)
    new = missing(found[0], function) if found is not None else []
    if found is None or not new:
        return
    row, _ = found
    above = calls_of_super(ctx, function)
    verbs, is_right = [], []
    # where another way gives a loss of its own, the Trainer would no longer divide it (another_loss)
    whole = "num_items_in_batch" not in new or (bool(above) and is_only_way(function, above[0], ctx))
    # a class of the project in between takes what it took, and no more (`below_another`)
    own_base = is_between(ctx, function)
    given = any(k.arg in (None, *new) for each in above for k in each.keywords)
    if len(above) == 1 and whole and not given and not own_base:
        handed = [(name, name) for name in new]
        verbs = [
            edit_parameters(function, last=new),
            edit_call(above[0], last=handed),
        ]
        is_right = [loss_is_handed_back(function, above[0], ctx), inputs_are_as_counted(function, above[0], ctx)]
    names = ", ".join(f"`{name}`" for name in new)
    yield from signature_finding(
        rule, row, function, ctx, message=f"`{function.name}` does not take {names}", verbs=verbs, is_right=is_right
    )
