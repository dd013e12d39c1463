"""A call that relies on a default, or on a result, which the release that `fixer upgrade` carries a project to changed.

## Why is this bad?
Nothing raises and nothing warns, and the program does something else: `from_pretrained` without `dtype` made a model of
32-bit weights before Transformers 5, and makes one of the checkpoint's type since; `SFTConfig` without `learning_rate`
trained with 5e-5 before TRL 0.12, and trains with 2e-5 since. `Trainer(strategy="ddp")` searched for parameters without
a gradient before Lightning 2, and stops at the first one since.

Found by `fixer upgrade` only: these are decisions, and each is told with the old meaning and the new one. What a
model returns is told where it is unpacked. Several
defaults of one call are told together, and those of a dataclass where a parser is given it.

## Fix safety
There is none: both meanings may be wanted.

## When it is not offered
Where the call gives the argument (None for a `dtype` asks for the default), where `**` may give it, and where the
project asked for such a release before. Of an object that nobody knows, a method is told whose result changed, as
possible, unless the project has one of that name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codemods.analysis.calls import has_splat, keyword, literal
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import unknown
from codemods.frameworks.removed_names import tables
from codemods.frameworks.removed_names.owners import dataclasses_of, instance_of, made, own_classes, owners_of
from codemods.frameworks.removed_names.tables import RemovedName
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.project import ranges
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import is_none

_MODEL = "transformers.PreTrainedModel"
_INPUTS = frozenset({"attention_mask", "decoder_input_ids", "input_ids", "labels", "start_positions", "token_type_ids"})
"""Arguments of models of Transformers that speak for one."""

rule = Rule(
    code="VER008",
    name="changed-default",
    summary="this call relies on a default or a result that the newer release has changed",
    fix_title="Say what is meant",
    safety=Safety.DISPLAY,
    consequence=Consequence.STYLE,
    effect=Effect.NUMBERS,
    triggers=((*tables.with_defaults(), "HfArgumentParser", "TrlParser", *sorted(_INPUTS)),),
    imports=tuple(sorted({row.library for row in tables.rows_of_defaults()} | {"pytorch_lightning"})),
    upgrading=True,
    references=("https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md",),
)


@rule.on(ast.Call)
def changed_default(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if has_splat(call) or _is_a_state(ctx, call):
        return
    yield from _of_owners(ctx, call, owners_of(ctx, call))
    for klass in dataclasses_of(ctx, call):
        for name in sorted(ctx.origin(klass)):
            yield from _of_owners(ctx, klass, made(ctx, name))
    if (row := _result_of_unknown(ctx, call)) is not None:
        doubt = unknown(ctx.evidence(call, f"what has `{row.owner.rpartition('.')[2]}` here is not known"))
        yield rule.finding(call, message=f"{_said(row)}: {row.decide}", is_bug=(doubt,))


def _is_a_state(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether what is loaded is taken for a state, which holds tensors and plain values (`loaded_states`)."""
    match ctx.parent(call):
        case ast.Call(func=ast.Attribute(attr="load_state_dict"), args=[first, *_]):
            return first is call
    return False


def _of_owners(ctx: PythonContext, node: ast.expr, owners: Sequence[str]) -> Iterator[Draft]:
    """The changed defaults that a call relies on, or a parser that fills the fields of a class."""
    told: set[str] = set()
    for owner in owners:
        changes = {old: rows for old, rows in tables.defaults_of().get(owner, {}).items() if old not in told}
        told |= changes.keys()  # a subclass has a default of its own
        changed = [row for rows in changes.values() if (row := _crossed(ctx, node, rows))]
        changed = [row for row in changed if not _has_its_own(ctx, node, row.old)]
        for row in changed:
            if row.decide:
                yield rule.finding(node, message=f"{_said(row)}: {row.decide}")
        listed = [row for row in changed if not row.decide]
        if listed:
            name = owner.rpartition(".")[2]
            each = ", ".join(f"`{row.old}` {row.was} → {row.new} ({row.library} {row.gone})" for row in listed)
            yield rule.finding(node, message=f"defaults of `{name}` changed: {each}")


def _has_its_own(ctx: PythonContext, node: ast.expr, name: str) -> bool:
    """Whether a class of the project that is called has a field with a default of its own (`default_of_a_subclass`)."""
    for ref in own_classes(ctx, node) if isinstance(node, ast.Call) else ():
        there = ctx.other(ref.path)
        for klass in there.classes(ref.name) if there is not None else ():
            if any(isinstance(each, ast.AnnAssign) and ast.unparse(each.target) == name for each in klass.body):
                return True
    return False


def _said(row: RemovedName) -> str:
    what = f"the result of `{row.owner.rpartition('.')[2]}`" if row.old == tables.RESULT else f"`{row.old}`"
    return f"{what} was {row.was} before {row.library} {row.gone}, and is {row.new} since"


def _crossed(ctx: PythonContext, node: ast.expr, changes: Sequence[RemovedName]) -> RemovedName | None:
    """What changed of one default between the releases that the project asks for and the one it is carried to."""
    if isinstance(node, ast.Call) and not _relies(ctx, node, changes[0]):
        return None
    if "=" in changes[0].old and not isinstance(node, ast.Call):
        return None
    release = ctx.upgrade(changes[0].library)
    asked = [each.specs for _, each in ctx.requirements(changes[0].library)]
    crossed = [
        row
        for row in changes
        if release is not None
        and ranges.every((f"=={release}",), row.removed)
        and not (asked and all(ranges.every(specs, row.removed) for specs in asked))
    ]
    return replace(crossed[-1], was=crossed[0].was) if crossed and crossed[0].was != crossed[-1].new else None


def _relies(ctx: PythonContext, call: ast.Call, row: RemovedName) -> bool:
    """Whether a call leaves an argument out, or gives it the value that a row is about."""
    if row.old == tables.RESULT:
        return not isinstance(ctx.parent(call), ast.Expr)  # nobody takes it (dropped)
    name, _, value = row.old.partition("=")
    given = next((told for each in (name, *_older(row)) if (told := keyword(call, each)) is not None), None)
    if value:
        return given is not None and literal(given) == value
    if (len(call.args) > 1 and not row.given) or any(_says(call, each) for each in row.unless):
        return False
    if any(keyword(call, each) is None for each in row.given):
        return False
    return given is None or (name == "dtype" and _may_be_none(ctx, given))


def _older(row: RemovedName) -> tuple[str, ...]:
    """The names that an argument had, which some release takes, too: `torch_dtype` (`by_its_older_name`)."""
    renamed = (each for rows in tables.rows_of("argument").values() for each in rows if each.kind == "rename")
    return tuple(each.old for each in renamed if (each.owner, each.new) == (row.owner, row.old))


def _says(call: ast.Call, word: str) -> bool:
    """Whether a call says `name`, or `name=False`, or with `name=…` anything but None."""
    name, _, value = word.partition("=")
    said = keyword(call, name)
    if said is None or value == "…":
        return said is not None and not is_none(said)
    return literal(said) is (value != "False")


def _may_be_none(ctx: PythonContext, given: ast.expr) -> bool:
    """Whether an argument is given None on some way, which asks for the default as well (`none_of_a_choice`)."""
    found = [value.node for value in possible_values(ctx, given)[0] if not value.path]
    return any(
        is_none(each)
        for node in found
        for each in (ast.walk(node) if isinstance(node, ast.IfExp) else [node])
        if isinstance(each, ast.expr)
    )


@rule.on(ast.Assign)
def unpacked(statement: ast.Assign, ctx: PythonContext) -> Iterator[Draft]:
    """`loss, logits = model(input_ids=…)`: an object that is unpacked gives the names of its fields."""
    call = statement.value
    if not isinstance(call, ast.Call) or not any(isinstance(each, ast.Tuple) for each in statement.targets):
        return
    speaks = bool(_INPUTS.intersection(each.arg for each in call.keywords))
    known = _MODEL in instance_of(ctx, call.func)[0]
    if not known and (ctx.origin(call.func) or not speaks or _is_a_method(ctx, call.func)):
        return
    row = _crossed(ctx, call, tables.defaults_of()[f"{_MODEL}.forward"]["return_dict"])
    if row is not None and any(ctx.index.using(ctx.path, (row.library,))):
        doubt = [] if known else [unknown(ctx.evidence(call, "what is called here is not known"))]
        yield rule.finding(call, message=f"{_said(row)}: {row.decide}", is_bug=doubt)


def _is_a_method(ctx: PythonContext, func: ast.expr) -> bool:
    """Whether what is called is no object but a method: of the project, or by a private name (`a_helper_unpacked`)."""
    name = func.attr if isinstance(func, ast.Attribute) else ""
    return name.startswith("_") or bool(name and ctx.index.search(ctx.path, (f"def {name}(".encode(),)))


def _result_of_unknown(ctx: PythonContext, call: ast.Call) -> RemovedName | None:
    """The row of a method whose result changed, of an object that nobody knows.

    A processor's method of the same name is another one (`of_a_processor`).
    """
    if not isinstance(call.func, ast.Attribute) or ctx.origin(call.func) or owners_of(ctx, call):
        return None
    method = call.func.attr
    if any(name.rpartition(".")[2].endswith("Processor") for name in instance_of(ctx, call.func.value)[0]):
        return None
    for owner, changes in tables.defaults_of().items():
        rows = changes.get(tables.RESULT) or (changes.get("return_dict") if method != "forward" else None)
        if owner.rpartition(".")[2] == method and rows:
            if (row := _crossed(ctx, call, rows)) and not ctx.index.search(ctx.path, (f"def {method}".encode(),)):
                return row
    return None
