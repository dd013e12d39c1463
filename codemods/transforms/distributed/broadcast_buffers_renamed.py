"""`broadcast_buffers=` of DistributedDataParallel, which torch 2.13 deprecates.

## Why is this bad?
Each run warns:

    FutureWarning: `broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead.

## Fix safety
There is none for `False`: `forward_sync_buffers=False` still sends the buffers of the first rank to the others when
the model is wrapped, so that a person decides.

## When it is not offered
For wrappers that are not surely torch's, and where the project allows only releases before 2.13.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.arguments import old_arguments
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule

rule = Rule(
    code="DST010",
    name="broadcast-buffers-renamed",
    summary="`broadcast_buffers` is deprecated since torch 2.13",
    fix_title="Choose `forward_sync_buffers`",
    safety=Safety.DISPLAY,
    consequence=Consequence.DEPRECATED,
    effect=Effect.EQUAL,
    triggers=(tables.words("DST010", "argument"), tables.owners("DST010", "argument")),
    errors=("`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead.",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",),
)


@rule.on(ast.Call)
def broadcast_buffers(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    yield from old_arguments(rule, call, ctx)
