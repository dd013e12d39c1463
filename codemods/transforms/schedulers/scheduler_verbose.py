"""`verbose=` of torch's learning-rate schedulers, which is gone since torch 2.7.

## Why is this bad?
The scheduler is not made, also where the argument says `False`:

    TypeError: ReduceLROnPlateau.__init__() got an unexpected keyword argument 'verbose'

## Fix safety
Safe: the argument goes. What it printed, the learning rate after each change, is `scheduler.get_last_lr()`.

## When it is not offered
For a value that calls something, for an argument by position that others follow, for schedulers of the project with a
constructor of their own, and where the project allows only releases that take it without a warning.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from codemods.analysis.mentions import mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.arguments import old_arguments
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule

_TAKING = ("redirect_stdout", "capsys", "capfd", "capture_output")

rule = Rule(
    code="SCH004",
    name="scheduler-verbose",
    summary="torch 2.7 removed `verbose` from the learning-rate schedulers",
    fix_title="Delete `verbose`",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.EQUAL,
    triggers=(tables.owners("SCH004", "argument"),),
    references=("https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",),
)


@rule.on(ast.Call)
def verbose(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    for draft in old_arguments(rule, call, ctx):
        remedy = draft.remedy
        if remedy is not None:
            remedy = replace(remedy, is_right=[*remedy.is_right, nobody_reads_what_is_printed(ctx)])
        yield replace(draft, remedy=remedy)


@question
def nobody_reads_what_is_printed(ctx: PythonContext) -> Answer:
    """Whether nothing in the program takes what is printed, and may look for a new rate in it (`output_is_read`)."""
    taken = (*mentions(ctx, *_TAKING), *stores(ctx, "stdout"))
    return unless(each.evidence("what is printed may be read here") for each in taken)
