"""`AdamW` from Transformers, which is gone since 4.50.

## Why is this bad?
Deprecated since 4.16, the class has been removed:

    ImportError: cannot import name 'AdamW' from 'transformers'

Where the version is older it still works, with a warning, and with a `step` under `torch.no_grad()` that calls its
closure bare: below Lightning 2.0.7 everything then trains without a graph (`element 0 of tensors does not require
grad and does not have a grad_fn`).

## Fix safety
Unsafe: `torch.optim.AdamW` has other defaults (`eps` 1e-8 for 1e-6, `weight_decay` 0.01 for 0.0). Those of the old
class are written out where the call does not set them, so that a run goes on as before; but the two
implementations differ in rounding, checkpoints of the optimizer in layout, and `eps` enters the step at another
place: Transformers adds it before the bias correction, torch after it. `no_deprecation_warning` is dropped, and so is
`correct_bias=True`, which torch always does.

## When it is not offered
With `correct_bias=False` (torch has no such switch) or an unknown value of it; where `**kwargs` may hide arguments; in
subclasses and other uses that are no calls. Those are reported. Names bound under `try` or `if` are left alone: they
are there to make both versions work. An import that nothing reads is reported where 4.50 or newer may be installed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.analysis.calls import argument, has_splat, literal, values
from codemods.analysis.mentions import are_connected
from codemods.analysis.python_context import PythonContext
from codemods.analysis.replacements import library_is_as_released
from codemods.flow.answers import Answer, unless
from codemods.frameworks.removed_names.drafts import library_is_installed
from codemods.frameworks.removed_names.tables import RemovedName
from codemods.model.edits import Consequence, Need, Safety
from codemods.model.effect import Effect
from codemods.project import versions
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import Verb, edit_call, replace

rule = Rule(
    code="HF004",
    name="transformers-adamw",
    summary="`AdamW` was removed from Transformers in 4.50",
    fix_title="Use `torch.optim.AdamW` with the old defaults spelled out",
    safety=Safety.UNSAFE,
    consequence=Consequence.RAISES,
    effect=Effect.FACTOR,
    triggers=(("AdamW",),),
    bites={"transformers": ">=4.16"},
    errors=(
        "cannot import name 'AdamW' from 'transformers'",
        "module transformers has no attribute AdamW",
        "This implementation of AdamW is deprecated and will be removed in a future version.",
    ),
    references=(
        "https://github.com/huggingface/transformers/pull/36177",
        "https://pytorch.org/docs/stable/generated/torch.optim.AdamW.html",
    ),
)
OLD = "transformers.AdamW"
REMOVED = ">=4.50"
_ROW = RemovedName("transformers", "name", "", OLD, "decision", gone="4.50.0")
_ORDER = ("params", "lr", "betas", "eps", "weight_decay", "correct_bias", "no_deprecation_warning")
_DEFAULTS = (("eps", "1e-6"), ("weight_decay", "0.0"))


@rule.on(ast.Name, ast.Attribute)
def transformers_adamw(node: ast.Name | ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    if not isinstance(node.ctx, ast.Load) or not ctx.means(node, OLD) or not _bound_for_sure(node, ctx):
        return
    parent = ctx.parent(node)
    match parent:
        case ast.Call(func=func) if func is node:
            yield from _call(parent, ctx)
        case ast.ClassDef():
            yield _finding(node, ctx, message="a subclass of Transformers' `AdamW`, which was removed in 4.50")
        case _ if ctx.annotates(node):
            target = ctx.spell("torch.optim.AdamW", at=node)
            if target is not None:
                yield _finding(node, ctx, fix=[replace(node, target.code)], needs=[target.need])
        case _:
            yield _finding(node, ctx)


@rule.on(ast.ImportFrom)
def unused_import(statement: ast.ImportFrom, ctx: PythonContext) -> Iterator[Draft]:
    """An import that nothing reads still fails, where the class is gone."""
    for alias in statement.names:
        bound = alias.asname or alias.name
        name = ast.Name(bound, ast.Load())
        if alias.name == "AdamW" and ctx.means(name, OLD) and _bound_for_sure(name, ctx):
            if not ctx.facts.loads.get(bound) and bound not in ctx.facts.exports:
                message = f"`{bound}`, imported here and not used, was removed from Transformers in 4.50"
                is_bug = [library_is_as_released(ctx, "AdamW"), library_is_installed(ctx, _ROW)]
                yield rule.finding(alias, message=message, is_bug=is_bug, bites={"transformers": REMOVED})


def _finding(
    node: ast.expr,
    ctx: PythonContext,
    *,
    message: str = "",
    fix: Sequence[Verb] = (),
    needs: Sequence[Need | None] = (),
    is_right: Sequence[Answer] = (),
) -> Draft:
    installed = library_is_installed(ctx, _ROW)
    return rule.finding(
        node,
        fix=fix if installed.is_yes else (),
        needs=needs if installed.is_yes else (),
        message=message or _gone(ctx),
        is_bug=[library_is_as_released(ctx, "AdamW"), installed],
        is_right=is_right,
        bites=_affected(ctx),
        consequence=_cost(ctx),
    )


def _bound_for_sure(node: ast.Name | ast.Attribute, ctx: PythonContext) -> bool:
    """Whether the name comes from one unconditional import of Transformers itself."""
    head = (ctx.name(node) or "").partition(".")[0]
    found = list(ctx.facts.named(head))
    return bool(found) and all(
        i.target.partition(".")[0] == "transformers" and not i.conditional and not i.type_checking for i in found
    )


def _cost(ctx: PythonContext) -> Consequence:
    """What the class costs: an error only where the project allows a version without it."""
    return Consequence.RAISES if versions.may(ctx.target("transformers"), REMOVED) else Consequence.DEPRECATED


def _affected(ctx: PythonContext) -> dict[str, str]:
    """The releases in which the class costs that much."""
    return {"transformers": REMOVED if _cost(ctx) is Consequence.RAISES else ">=4.16"}


def _gone(ctx: PythonContext) -> str:
    """What became of the class, in the versions that the project allows."""
    target = ctx.target("transformers")
    if versions.surely(target, REMOVED):
        return f"{rule.summary}: the import fails"
    if not versions.may(target, REMOVED):
        return "`AdamW` of Transformers is deprecated, and removed in 4.50"
    return rule.summary


def _call(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if has_splat(call):
        yield _finding(
            call, ctx, message="what `*` and `**` pass to Transformers' `AdamW` cannot be seen; removed in 4.50"
        )
        return
    gone = [given for name in _ORDER[5:] if (given := argument(call, name, _ORDER.index(name))) is not None]
    corrected = argument(call, "correct_bias", 5)
    if corrected is not None and literal(corrected) is not True:
        text = "`correct_bias` of Transformers' `AdamW` (removed in 4.50) has no counterpart in torch"
        yield _finding(call, ctx, message=text)
        return
    if (
        len(call.args) > len(_ORDER)
        or len(values(call)) == len(gone)
        or any(k.arg not in _ORDER for k in call.keywords)
    ):
        return
    target = ctx.spell("torch.optim.AdamW", at=call)
    if target is None:
        yield _finding(call, ctx)
        return
    defaults = [(name, old) for name, old in _DEFAULTS if argument(call, name, _ORDER.index(name)) is None]
    drop = [next((k for k in call.keywords if k.value is each), each) for each in gone]
    fix = edit_call(call, function=target.code, last=defaults, drop=drop)
    yield _finding(call, ctx, fix=[fix], needs=[target.need], is_right=[no_group_says_it(ctx)])


def no_group_says_it(ctx: PythonContext) -> Answer:
    """Whether no group of parameters may say `correct_bias` for itself (`said_by_the_groups`)."""
    return unless(
        where.evidence(node, "a group of parameters may say `correct_bias`")
        for path in ctx.index.search(ctx.path, (b"correct_bias",))
        if are_connected(ctx.index, ctx.path, path) and (where := ctx.other(path)) is not None
        for node in where.all(ast.Constant, ast.Call)
        if isinstance(node, ast.Constant | ast.Call) and _says_it(where, node)
    )


def _says_it(ctx: PythonContext, node: ast.Constant | ast.Call) -> bool:
    if isinstance(node, ast.Constant):
        return node.value == "correct_bias"
    return ctx.name(node.func) == "dict" and any(each.arg == "correct_bias" for each in node.keywords)
