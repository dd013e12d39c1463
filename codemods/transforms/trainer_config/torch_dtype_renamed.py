"""`torch_dtype=` of Transformers, which is called `dtype` since 4.56.

## Why is this bad?
The old name still works, with a line in the log for each run:

    `torch_dtype` is deprecated! Use `dtype` instead!

Where both are given, `dtype` wins in silence.

## Fix safety
Safe where every version that the project allows knows `dtype`, else unsafe: 4.55 refuses it with a `TypeError`. Where
the requirements can be edited, the same fix raises their floor.

## When it is not offered
For classes that are not surely those of Transformers (Diffusers and others have an argument of this name), for calls
that give `dtype` as well, for keys of configuration files, and where code tests the version.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.arguments import old_arguments
from codemods.frameworks.removed_names.names import old_attributes
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule

rule = Rule(
    code="HF009",
    name="torch-dtype-renamed",
    summary="`torch_dtype` is called `dtype` since Transformers 4.56",
    fix_title="Pass `dtype`",
    safety=Safety.SAFE,
    consequence=Consequence.DEPRECATED,
    effect=Effect.EQUAL,
    triggers=(tables.words("HF009", "argument"), ("from_pretrained", "from_config", "pipeline")),
    imports=("transformers",),
    errors=("`torch_dtype` is deprecated! Use `dtype` instead!",),
    references=("https://github.com/huggingface/transformers/pull/39782",),
)


@rule.on(ast.Call)
def torch_dtype(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_arguments(rule, call, ctx)


@rule.on(ast.Attribute)
def attribute_of_a_configuration(node: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_attributes(rule, node, ctx)
