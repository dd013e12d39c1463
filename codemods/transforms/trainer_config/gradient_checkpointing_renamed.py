"""`gradient_checkpointing` and its relatives, which Transformers calls `activation_checkpointing` since 5.23.

## Why is this bad?
The old names still work, with a warning, and go with Transformers 6:

    FutureWarning: `gradient_checkpointing` is deprecated and will be removed in v6. Use `activation_checkpointing`

Where both are given and differ, the new one wins in silence.

## Fix safety
Safe where a person names a release that has the new names (`--target`, or `target` in the configuration), else unsafe:
older releases refuse them. A call and its argument are renamed together. Unsafe in a configuration file, which somebody
else may read.

## When it is not offered
For TRL's and PEFT's own uses of the old names, for models that are not surely those of Transformers, for calls that
give the new name as well, and in code that tests the version.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.config_owners import TRAINING_ARGUMENTS, owner
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.arguments import old_arguments
from codemods.frameworks.removed_names.config_keys import old_keys
from codemods.frameworks.removed_names.names import old_attributes
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.config import Config, Table

rule = Rule(
    code="HF017",
    name="gradient-checkpointing-renamed",
    summary="`gradient_checkpointing` is called `activation_checkpointing` since Transformers 5.23",
    fix_title="Use the name of Transformers 5.23",
    safety=Safety.SAFE,
    consequence=Consequence.DEPRECATED,
    effect=Effect.EQUAL,
    triggers=(
        tables.words("HF017", "argument", "attribute"),
        (*tables.owners("HF017", "argument"), *tables.words("HF017", "attribute")),
    ),
    imports=("transformers",),
    elsewhere=(b"gradient_checkpointing",),
    errors=(
        "`gradient_checkpointing` is deprecated and will be removed in v6",
        "`gradient_checkpointing_kwargs` is deprecated and will be removed in v6",
        "`gradient_checkpointing_enable` is deprecated and will be removed in v6",
    ),
    references=("https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments",),
)


@rule.on(ast.Call)
def old_argument(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in tables.of_rule("HF017", "attribute"):
        yield from old_arguments(rule, call, ctx)


@rule.on(ast.Attribute)
def old_method(node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_attributes(rule, node, ctx)


@rule.on(Config)
def old_key(config: Config, ctx: FileContext) -> Iterator[Draft]:
    if owner(config, ctx.index) == TRAINING_ARGUMENTS:
        for table in config.roots:
            if isinstance(table, Table):
                yield from old_keys(rule, table, ("transformers.TrainingArguments",), ctx)
