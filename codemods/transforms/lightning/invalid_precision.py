"""A precision that no Lightning of this project accepts: `"16_mixed"`; `"16-mixed"` under Lightning 1.x.

## Why is this bad?
The Trainer, or Fabric, refuses it when it is made:

    ValueError: Precision 'bf16_mixed' is invalid. Allowed precision values: ('transformer-engine', …, '16-mixed', …)

LightningCLI says `Parser key "trainer.precision":` and lists what it expected; a float (`16.0`) ends in `RuntimeError:
No precision set`. Lightning 1.x raises a `MisconfigurationException` that begins alike, and it knows none of the names
with `-mixed` and `-true`: these came with 2.0 (`16-true`, `bf16-true` and `transformer-engine` with 2.1).

Found in calls, and in configuration files that surely become a Trainer's or Fabric's arguments (see PL101).

## Fix safety
Safe where the parts of the name leave no choice: `16_mixed`, `mixed-16` and `fp16-mixed` are `16-mixed`, `fp32` and
`float32` are `32-true`. Unsafe for `fp16`, which becomes `16-mixed` (what others call fp16 is mixed precision); where
the project allows Lightning 1.x too; for names of Lightning 2 in a project with 1.x only, which become those of 1.x
(`16-mixed` becomes `16`); and in a configuration file, which somebody else may read.

Other names are reported: `half`, `float16` and `bfloat16` may mean mixed or true half precision, and nobody can tell
what `mixed` mixes. Reported too are precisions in shell scripts and defaults of `add_argument("--precision")`, where
these surely reach a Trainer, and those that stand elsewhere in a file (YAML aliases).

## When it is not offered
Where any version that the project allows accepts the name, or no version is named and a newer one does. For objects
that are not surely Lightning's `Trainer` or `Fabric`, for precisions that come from somewhere else (`precision=args.p`,
`${trainer.precision}`), and where the code asks for a version before it chooses. `None` is left alone.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from codemods.analysis.python_context import PythonContext
from codemods.analysis.replacements import library_is_as_released
from codemods.flow.answers import Answer, unknown, yes
from codemods.frameworks.lightning.command_lines import defaults, flags
from codemods.frameworks.lightning.config_tables import (
    configured,
    nobody_knows_the_spelling,
    only_lightning_reads_it,
    saved_by,
    trainer_is_lightnings,
)
from codemods.frameworks.lightning.precisions import (
    BEFORE_2,
    SINCE,
    accepted,
    given,
    is_only_a_precision,
    meant,
    written,
)
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.effect import Effect
from codemods.project import versions
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.config import Config
from codemods.sources.shell import Command
from codemods.syntax.verbs import replace

rule = Rule(
    code="PL102",
    name="invalid-precision",
    summary="no Lightning that this project allows accepts this precision",
    fix_title="Use the name that Lightning gives this precision",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.NUMBERS,
    triggers=(("precision",),),
    somewhere=(b"Trainer", b"Fabric"),
    elsewhere=(b"precision",),
    errors=("is invalid. Allowed precision values:", 'Parser key "trainer.precision":', "No precision set"),
    references=("https://lightning.ai/docs/pytorch/stable/common/precision_basic.html",),
)

CHECKING = ("_AcceleratorConnector", "_Connector")
"""The classes that look at a precision for Lightning's Trainer and Fabric."""
LIKELY = {"fp16": "16-mixed", "bf16": "bf16-mixed"}
"""Spellings (in lower case) that others use for mixed precision."""


@rule.on(ast.Call)
def invalid_precision(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    for arm, value in given(call, ctx):
        if not accepted(value, ctx):
            found = renamed(value, ctx)
            fixed = found is not None and is_only_a_precision(ctx, arm, call)
            place = ctx.evidence(arm, "")
            yield rule.finding(
                arm,
                fix=[replace(arm, written(ctx, arm, found.name))] if found and fixed else None,
                message=said(ctx.source(arm), value, ctx),
                bites=refusing(value),
                is_bug=[library_is_as_released(ctx, *CHECKING)],
                is_right=[found.answer(place)] if found else (),
                requires=found.requires if found else None,
            )


@rule.on(Config)
def invalid_precision_in_a_configuration(config: Config, ctx: FileContext) -> Iterator[Draft]:
    if saved_by(config) is not None:
        return
    for each in configured(config, ctx):
        if not accepted(each.value, ctx):
            found = renamed(each.value, ctx)
            place = ctx.shown_at(each.node.start, "")
            yield rule.finding(
                each.node,
                fix={each.node: found.name} if found and not each.shared else None,
                message=said(each.written, each.value, ctx),
                bites=refusing(each.value),
                is_bug=[
                    trainer_is_lightnings(ctx),
                    only_lightning_reads_it(ctx),
                    nobody_knows_the_spelling(ctx, each.value),
                ],
                is_right=[found.answer(place)] if found else (),
                requires=found.requires if found else None,
            )


@rule.on(ast.Call)
def invalid_default(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    for default, value in defaults(call, ctx):
        if not accepted(value, ctx):
            message = said(ctx.source(default), value, ctx)
            yield rule.finding(default, message=message, bites=refusing(value))


@rule.on(Command)
def invalid_flag(command: Command, ctx: FileContext) -> Iterator[Draft]:
    for word, value in flags(command, ctx):
        if not accepted(value, ctx):
            yield rule.finding(word, message=said(value, value, ctx), bites=refusing(value))


@dataclass(frozen=True, slots=True)
class NewSpelling:
    """What a refused precision is to be called."""

    name: int | str
    doubt: str = ""
    """Why that may not be what was meant."""
    requires: Mapping[str, str] = field(default_factory=dict)

    def answer(self, place: Evidence) -> Answer:
        """Whether it is what was meant."""
        return unknown(dataclasses.replace(place, why=self.doubt)) if self.doubt else yes()


def renamed(value: object, ctx: FileContext) -> NewSpelling | None:
    """What a refused precision is to be called; None where that cannot be told."""
    names, doubt = meant(value), ""
    if isinstance(value, str) and (likely := LIKELY.get(value.strip().lower())):
        names, doubt = (likely,), f"`{value}` may stand for half precision throughout"
    if len(names) != 1:
        return None
    name, target = names[0], ctx.target("lightning")
    if versions.may(target, SINCE[name]):
        return NewSpelling(name, doubt, {"lightning": SINCE[name]})
    old = BEFORE_2.get(name)
    if old is None or (old == "bf16" and not versions.surely(target, ">=1.5")):
        return None
    return NewSpelling(old, doubt or f"`{old}` is mixed precision in Lightning 1.x")


def refusing(value: object) -> dict[str, str]:
    """The releases of Lightning that refuse a precision which others accept."""
    return {"lightning": SINCE[value].replace(">=", "<")} if isinstance(value, str) and value in SINCE else {}


def said(written: str, value: object, ctx: FileContext) -> str:
    """What is wrong with a refused precision."""
    target = ctx.target("lightning")
    if isinstance(value, str) and value in SINCE and target:
        since = SINCE[value].removeprefix(">=")
        return f"`{written}` came with Lightning {since}, and this project has {target.package}{target.spec}"
    names = meant(value)
    hint = f" ({' or '.join(names)}?)" if len(names) > 1 and str(value).strip().lower() not in LIKELY else ""
    return f"no Lightning accepts the precision `{written}`{hint}"
