"""Arguments of `TrainingArguments`, `Trainer`, `Accelerator`, `load_dataset` and PEFT that releases renamed or removed.

## Why is this bad?
The call fails before anything trains, on whatever machine installs a newer release than the author's:

    TypeError: TrainingArguments.__init__() got an unexpected keyword argument 'evaluation_strategy'

Transformers 5 removed more than thirty such arguments and `Trainer.tokenizer`; the table of this page's library says
which, since when, and what replaces them. Found in calls, also of classes of the project that inherit the constructor,
in dictionaries that `**` spreads into one, in configuration files that become these arguments, in flags that
shell scripts give to a program with an `HfArgumentParser`, and where code reads or sets them as attributes of the
arguments (`training_args.evaluation_strategy`, `self.args.no_cuda`).

## Fix safety
Renames that keep the value and its meaning, and arguments that say nothing because they hold the old default: safe
where a person names a release that knows the new name (`--target`, or `target` in the configuration). Unsafe where only
a requirement says so: code with an argument that is refused fails there whenever it runs, so the requirement may not be
what is installed. Where the requirements can be edited, the same fix raises their floor. Unsafe too where a dictionary
of arguments is used in a second place, and for a share of the steps that cannot be read: `warmup_steps=x` means steps
from 1 on. Unsafe in a configuration file, which somebody else may read.

## When it is not offered
Where a person has to decide, which the message says; for values that cannot be read where the value changes with the
name; for calls that have the new name already; for flags of shell scripts; for a key of a file that code of the project
reads itself, or that goes here and stands in another file, too; for attributes that a configuration file or an option
gives their value; where the project holds a copy of the library. Nothing is said where the project allows older
releases only, where code tests the version or catches the error, where an attribute is a field of the project's own
class, of a file in a project whose code makes no training arguments, about `**` of unknown content, and about classes
of the project with a constructor of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.config_owners import TRAINING_ARGUMENTS, owner
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.arguments import old_arguments, old_values
from codemods.frameworks.removed_names.command_lines import old_flags
from codemods.frameworks.removed_names.config_keys import old_keys
from codemods.frameworks.removed_names.names import old_attributes
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.config import Config, Table
from codemods.sources.shell import Command

_PLACES = ("argument", "value", "attribute")
_ARGUMENTS = "transformers.TrainingArguments"

rule = Rule(
    code="HF007",
    name="renamed-training-argument",
    summary="a newer release of the library refuses this argument",
    fix_title="Use the name of the newer release",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.EQUAL,
    triggers=(
        (*tables.owners("HF007", *_PLACES), "train"),
        tables.words("HF007", *_PLACES),
        tables.classes_or_words("HF007", *_PLACES),
    ),
    imports=("transformers", "accelerate", "datasets", "peft"),
    elsewhere=tuple(word.encode() for word in tables.words("HF007", "argument")),
    references=("https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md",),
)


@rule.on(ast.Call)
def renamed_argument(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_arguments(rule, call, ctx)
    yield from old_values(rule, call, ctx)


@rule.on(ast.Attribute)
def renamed_attribute(node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_attributes(rule, node, ctx)


@rule.on(Config)
def renamed_key(config: Config, ctx: FileContext) -> Iterator[Draft]:
    if owner(config, ctx.index) == TRAINING_ARGUMENTS:
        for table in config.roots:
            if isinstance(table, Table):
                yield from old_keys(rule, table, (_ARGUMENTS,), ctx)


@rule.on(Command)
def old_flag(command: Command, ctx: FileContext) -> Iterator[Draft]:
    yield from old_flags(rule, command, ctx)
