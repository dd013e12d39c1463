"""A call that relies on a default which the release that `fixer upgrade` carries a project to has changed.

## Why is this bad?
Nothing raises and nothing warns, and the program does something else: `from_pretrained` without `dtype` made a model of
32-bit weights before Transformers 5, and makes one of the checkpoint's type since.

Found by `fixer upgrade` only: these are decisions, and each is told with the old meaning and the new one.

## Fix safety
There is none: both meanings may be wanted.

## When it is not offered
Where the call gives the argument, where `**` may give it, and where the project asked for such a release before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import has_splat, keyword
from codemods.analysis.python_context import PythonContext
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.owners import owners_of
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.project import ranges
from codemods.rules.rule import Draft, Rule

rule = Rule(
    code="VER008",
    name="changed-default",
    summary="this call relies on a default that the newer release has changed",
    fix_title="Say what is meant",
    safety=Safety.DISPLAY,
    consequence=Consequence.STYLE,
    effect=Effect.NUMBERS,
    triggers=(tables.functions("default"),),
    imports=tuple(sorted({row.library for row in tables.rows() if row.place == "default"})),
    upgrading=True,
    references=("https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md",),
)


@rule.on(ast.Call)
def changed_default(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if has_splat(call):
        return
    method = call.func.attr if isinstance(call.func, ast.Attribute) and not ctx.origin(call.func) else None
    for row in tables.rows():
        # who owns a method is asked only of methods of that name: most calls are of others
        named = method is None or row.owner.rpartition(".")[2] == method
        release = ctx.upgrade(row.library) if row.place == "default" and named else None
        if release is None or not ranges.every((f"=={release}",), row.removed):
            continue
        if keyword(call, row.old) is not None or row.owner not in owners_of(ctx, call):
            continue
        asked = [each.specs for _, each in ctx.requirements(row.library)]
        if asked and all(ranges.every(specs, row.removed) for specs in asked):
            continue
        message = f"`{row.old}` was {row.was} before {row.library} {row.gone}, and is {row.new} since: {row.decide}"
        yield rule.finding(call, message=message)
