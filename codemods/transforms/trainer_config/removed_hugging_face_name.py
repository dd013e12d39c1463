"""Imports and methods that Transformers, Accelerate, Datasets or PEFT renamed, moved or removed.

## Why is this bad?
The import fails, and with it the program:

    ImportError: cannot import name 'is_torch_tpu_available' from 'transformers'

## Fix safety
Safe where a person names a release that has the new name (`--target`, or `target` in the configuration). Unsafe where
only a requirement says so: code with a name that is gone fails there whenever it runs, so the requirement may not be
what is installed. The import and its uses change together.
Unsafe for a class with another name that the project extends, and where the project names an argument or a member that
the new class does not have. Not offered where a call gives arguments that the new name does not take.

## When it is not offered
Where nothing replaces the name, or a person has to decide, which the message says. Imports under `try` or `if` are left
alone: they are there to make several versions work.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.methods import old_hooks
from codemods.frameworks.removed_names.names import old_attributes, old_imports, old_names
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule

_PACKAGES = ("transformers", "accelerate", "datasets", "peft", "huggingface_hub")

rule = Rule(
    code="HF022",
    name="removed-hugging-face-name",
    summary="a newer release of the library has no such name",
    fix_title="Use the name of the newer release",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.EQUAL,
    triggers=(
        tables.words("HF022", "name", "attribute", "hook"),
        (*_PACKAGES, *tables.words("HF022", "attribute", "hook")),
    ),
    imports=_PACKAGES,
    references=("https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md",),
)


@rule.on(ast.ImportFrom)
def removed_import(statement: ast.ImportFrom, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_imports(rule, statement, ctx)


@rule.on(ast.Attribute)
def removed_attribute(node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_attributes(rule, node, ctx)
    yield from old_names(rule, node, ctx)


@rule.on(ast.FunctionDef)
def removed_hook(function: ast.FunctionDef, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_hooks(rule, function, ctx)
