"""Arguments and names of TRL that a release renamed, moved to the configuration, or removed.

## Why is this bad?
TRL moved the arguments of its trainers to `SFTConfig`, `DPOConfig` and so on, and renamed some there:

    TypeError: SFTTrainer.__init__() got an unexpected keyword argument 'dataset_text_field'
    TypeError: SFTConfig.__init__() got an unexpected keyword argument 'max_seq_length'

Nothing trains until all of them are right.

## Fix safety
Unsafe: TRL changes defaults together with names (`SFTConfig` has a learning rate and a precision of its own), so that
a person reads what a run does now. Renames keep the value; what moves to another class is reported with the new place.

## When it is not offered
Where a person has to decide, which the message says; where the project allows older releases only; where code tests
the version or catches the error; for `**` of unknown content, for trainers of the project with a constructor of their
own, and for flags of shell scripts, which are reported only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.arguments import old_arguments, old_values
from codemods.frameworks.removed_names.command_lines import old_flags
from codemods.frameworks.removed_names.names import old_attributes, old_imports, old_names
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.shell import Command

_PLACES = ("argument", "value", "attribute", "name")

rule = Rule(
    code="HF015",
    name="sft-arguments-moved",
    summary="a newer release of TRL refuses this name",
    fix_title="Use the name of the newer release",
    safety=Safety.UNSAFE,
    consequence=Consequence.RAISES,
    effect=Effect.EQUAL,
    triggers=(tables.words("HF015", *_PLACES),),
    imports=("trl",),
    elsewhere=tuple(f"--{word}".encode() for word in tables.words("HF015", "argument")),
    references=("https://github.com/huggingface/trl/releases",),
)


@rule.on(ast.Call)
def moved_argument(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_arguments(rule, call, ctx)
    yield from old_values(rule, call, ctx)


@rule.on(ast.Attribute)
def moved_attribute(node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_attributes(rule, node, ctx)
    yield from old_names(rule, node, ctx)


@rule.on(ast.ImportFrom)
def moved_name(statement: ast.ImportFrom, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_imports(rule, statement, ctx)


@rule.on(Command)
def old_flag(command: Command, ctx: FileContext) -> Iterator[Draft]:
    yield from old_flags(rule, command, ctx)
