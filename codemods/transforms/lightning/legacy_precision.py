"""`precision=16` and `precision="bf16"`, as Lightning 1.x called mixed precision.

## Why is this bad?
Since Lightning 2.0 there are two low precisions for each type, mixed and true, and the old names do not say which:

    UserWarning: `precision=16` is supported for historical reasons but its usage is discouraged. Please set your
    precision to 16-mixed instead!

They still mean `16-mixed` and `bf16-mixed` (Lightning 2.0.3 and 2.6.6). The warning is easily lost, and readers take
`precision=16` for true half precision, which it is not.

Found in calls of `Trainer` and `Fabric` (also through a constant, and in `super().__init__(precision=16)`), and in
configuration files (YAML, JSON, TOML) that surely become their arguments: below `trainer:` of LightningCLI; where
Hydra's `_target_` says so, in the config group around that file and in overrides of it; and in a table of nothing but a
Trainer's arguments that the project hands over by name (`Trainer(**config.trainer)`).

## Fix safety
Safe where the project's requirements allow Lightning 2.0 or newer only: the new name means the same. Unsafe where they
allow 1.x too, which refuses the new names (`Precision '16-mixed' is invalid. Allowed precision values: …`), and where
no version is named. In a configuration file always unsafe: who else reads it is not in sight.

Reported only: values in shell scripts (`--trainer.precision 16`, `trainer.precision=16`) and defaults of
`add_argument("--precision", default=16)` that surely reach a Trainer, because a `type=int` would have to change with
them; values that a YAML alias shares; and constants (`PRECISION = 16`) that other code reads, too.

## When it is not offered
Where the requirements admit nothing but Lightning 1.x, there the old name is the right one. For objects that are not
surely Lightning's `Trainer` or `Fabric`, for precisions that come from somewhere else (`precision=args.precision`,
`precision: ${precision}`), for settings hidden in a dictionary (`Trainer(**{"precision": 16})`), and where the code
asks for a version before it chooses. For configurations that LightningCLI 1.x or Hydra saved beside a run, and those
that nobody can be shown to read. `32` and `64` are accepted without a warning.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.mentions import mentions
from codemods.analysis.python_context import PythonContext
from codemods.analysis.searched_texts import looked_for
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.lightning.command_lines import defaults, flags
from codemods.frameworks.lightning.config_tables import (
    configured,
    only_lightning_reads_it,
    saved_by,
    trainer_is_lightnings,
)
from codemods.frameworks.lightning.precisions import FIRST, given, is_only_a_precision, written
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.project import versions
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.config import Config
from codemods.sources.shell import Command
from codemods.syntax.verbs import replace

rule = Rule(
    code="PL101",
    name="legacy-precision",
    summary="this name of a precision dates from Lightning 1.x",
    fix_title="Use the name that Lightning 2 gives this precision",
    safety=Safety.SAFE,
    consequence=Consequence.DEPRECATED,
    effect=Effect.EQUAL,
    triggers=(("precision",),),
    somewhere=(b"Trainer", b"Fabric"),
    elsewhere=(b"precision",),
    errors=("is supported for historical reasons but its usage is discouraged",),
    references=("https://lightning.ai/docs/pytorch/stable/common/precision_basic.html",),
)

_SINCE = {"lightning": ">=2.0"}
"""The releases that have the new names."""


@rule.on(ast.Call)
def legacy_precision(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if not versions.may(ctx.target("lightning"), _SINCE["lightning"]):
        return
    for arm, value in given(call, ctx):
        if name := _new_name(value):
            yield rule.finding(
                arm,
                fix=[replace(arm, written(ctx, arm, name))] if is_only_a_precision(ctx, arm, call) else None,
                message=said(ctx.source(arm), name),
                bites=_SINCE,
                is_right=[no_file_names_it_too(ctx)],
                requires=_SINCE,
            )


@question
def no_file_names_it_too(ctx: PythonContext) -> Answer:
    """Whether no other file of the project says `precision`: a test that compares it, a script that writes another one.

    `assert made == [{"precision": 16}]` (`compared_by_a_test`), `sed -i s/precision=16/precision=32/ train.py`
    (`written_by_a_script`)
    """
    others = [path for path in ctx.index.search(ctx.path, (b"precision",)) if path != ctx.path]
    named = (each for each in mentions(ctx, "precision") if each.ctx.path == ctx.path)
    return unless(
        [
            *(each.evidence("this may mean the old name") for each in named if isinstance(each.node, ast.Attribute)),
            *(ctx.shown_in(path, "precision", "this may mean the old name") for path in others),
            *looked_for(ctx, "precision"),
        ]
    )


@rule.on(Config)
def legacy_precision_in_a_configuration(config: Config, ctx: FileContext) -> Iterator[Draft]:
    if saved_by(config) == 1 or not versions.may(ctx.target("lightning"), _SINCE["lightning"]):
        return
    for each in configured(config, ctx):
        if name := _new_name(each.value):
            yield rule.finding(
                each.node,
                fix=None if each.shared else {each.node: name},
                message=said(each.written, name),
                bites=_SINCE,
                is_bug=[trainer_is_lightnings(ctx)],
                is_right=[only_lightning_reads_it(ctx)],
                requires=_SINCE,
            )


@rule.on(ast.Call)
def legacy_default(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    for default, value in defaults(call, ctx):
        if (name := _new_name(value)) and versions.may(ctx.target("lightning"), _SINCE["lightning"]):
            yield rule.finding(default, message=said(ctx.source(default), name))


@rule.on(Command)
def legacy_flag(command: Command, ctx: FileContext) -> Iterator[Draft]:
    for word, value in flags(command, ctx):
        if (name := _new_name(value)) and versions.may(ctx.target("lightning"), _SINCE["lightning"]):
            yield rule.finding(word, message=said(value, name))


def _new_name(value: object) -> str | None:
    return FIRST.get(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else None


def said(old: str, new: str) -> str:
    """What is wrong with a name of 1.x."""
    return f"`{old}` is the name that Lightning 1.x gave to {new}"
