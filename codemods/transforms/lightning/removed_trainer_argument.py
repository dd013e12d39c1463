"""Arguments of Lightning's `Trainer` and `Fabric` that a release renamed or removed, most of them 2.0.

## Why is this bad?
The Trainer is not even made:

    TypeError: Trainer.__init__() got an unexpected keyword argument 'gpus'

Found in calls, in `super().__init__(…)` of subclasses, in dictionaries that `**` spreads, and in configuration files
that surely become a Trainer's arguments (see PL101).

## Fix safety
Renames that keep the value, and arguments with a value that says nothing: safe where a person names a release that
knows the new name (`--target`, or `target` in the configuration). Unsafe where only a requirement says so, for code
with an argument that is refused fails there whenever it runs, and the requirement may not be what is installed; the
floor is raised where the requirements can be edited. In a configuration file unsafe: who else reads it is not in sight.

## When it is not offered
Where a person has to decide (`gpus=2` is `accelerator="gpu", devices=2`, but `gpus="0,1"` names two), which the message
says; for a key of a file that code of the project reads itself, or that goes here and stands in another file, where it
may set back what that says. Nothing is said where the project allows Lightning 1.x only, and where code tests the
version.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.config_owners import trainer_tables
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.arguments import old_arguments, old_values
from codemods.frameworks.removed_names.config_keys import old_keys
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.config import Config

rule = Rule(
    code="PL103",
    name="removed-trainer-argument",
    summary="a newer release of Lightning refuses this argument",
    fix_title="Use the name of the newer release",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.EQUAL,
    triggers=(tables.words("PL103", "argument", "value"),),
    imports=("lightning", "pytorch_lightning"),
    elsewhere=tuple(word.encode() for word in tables.words("PL103", "argument", "value")),
    references=("https://lightning.ai/docs/pytorch/stable/upgrade/from_1_9.html",),
)


@rule.on(ast.Call)
def removed_argument(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_arguments(rule, call, ctx)
    yield from old_values(rule, call, ctx)


@rule.on(Config)
def removed_key(config: Config, ctx: FileContext) -> Iterator[Draft]:
    for table in trainer_tables(config, ctx.index):
        yield from old_keys(rule, table, ("lightning.pytorch.Trainer",), ctx)
