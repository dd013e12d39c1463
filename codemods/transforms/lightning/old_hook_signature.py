"""Hooks with parameters that Lightning 2 no longer gives them, or without those that it gives them since.

## Why is this bad?
Lightning calls the hook without the argument, and the run ends there:

    TypeError: on_train_epoch_end() missing 1 required positional argument: 'outputs'

## Fix safety
A parameter that the method does not use goes: safe where a person names a release that does not give it (`--target`, or
`target` in the configuration), else unsafe, because older ones still do. A requirement alone may not be what is
installed: the run ends there as the code is.

## When it is not offered
For a parameter that is missing: a person hands it on. For parameters that the body uses, which are reported with what
replaces them, for parameters with a default, which nobody misses, for methods that other code calls, and where the code
tests the version.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.methods import missing, nobody_calls_it, overridden_with, signature_finding
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import edit_parameters

rule = Rule(
    code="PL105",
    name="old-hook-signature",
    summary="a newer release of Lightning gives this method other parameters",
    fix_title="Drop the parameter",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.EQUAL,
    triggers=(tables.words("PL105", "signature"), tables.parameters_of("PL105")),
    imports=("lightning", "pytorch_lightning"),
    references=("https://lightning.ai/docs/pytorch/stable/upgrade/from_1_9.html",),
)
_READING = frozenset({"locals", "vars", "eval", "exec"})
"""Functions that read local names which are not written there."""


@rule.on(ast.FunctionDef)
def old_signature(function: ast.FunctionDef, ctx: PythonContext) -> Iterator[Draft]:
    found = overridden_with(rule, function, ctx)
    if found is None:
        return
    row, old = found
    if new := missing(row, function):
        text = f"`{function.name}` does not take {', '.join(f'`{name}`' for name in new)}"
        yield from signature_finding(rule, row, function, ctx, message=text)
    required = [each for each in old if not has_default(function, each)]
    if not required:
        return
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    # what reads names by their texts may read any (by_a_template)
    spared = used.isdisjoint({*(each.arg for each in old), *_READING}) and not _is_overridden_again(function, ctx)
    names = ", ".join(f"`{each.arg}`" for each in required)
    yield from signature_finding(
        rule,
        row,
        function,
        ctx,
        message=f"{names} of `{function.name}`",
        verbs=[edit_parameters(function, drop=old)] if spared and row.kind == "delete" else [],
        is_right=[nobody_calls_it(ctx, function)],
    )


def has_default(function: ast.FunctionDef, parameter: ast.arg) -> bool:
    """Whether a parameter may be left out by who calls the function."""
    given = [*function.args.posonlyargs, *function.args.args]
    if parameter in given:
        return given.index(parameter) >= len(given) - len(function.args.defaults)
    pairs = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return any(each is parameter and default is not None for each, default in pairs)


def _is_overridden_again(function: ast.FunctionDef, ctx: PythonContext) -> bool:
    """Whether a subclass in the project has the same method, which may call this one."""
    klass = ctx.klass(function)
    return klass is not None and any(
        function.name in (k.methods if (k := ctx.index.klass(each)) else ()) for each in ctx.index.subclasses(klass)
    )
