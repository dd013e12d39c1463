"""Which calls make the arguments of a Hugging Face Trainer: `TrainingArguments`, TRL's classes, a project's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.mentions import mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Evidence
from codemods.project.index import Ref

TRAINER_ARGUMENTS = frozenset({"transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments"})
TRL_ARGUMENTS = frozenset(
    f"trl.{name}Config"
    for name in ("SFT", "DPO", "GRPO", "KTO", "ORPO", "CPO", "BCO", "Reward", "PPO", "RLOO", "OnlineDPO", "GKD", "PRM")
)


def arguments_class(ctx: PythonContext, call: ast.Call) -> frozenset[str]:
    """The library's arguments class that a call makes an object of, also through a dataclass of the project."""
    origins = ctx.origin(call.func)
    if origins and origins <= TRAINER_ARGUMENTS | TRL_ARGUMENTS:
        return origins
    found: set[str] = set()
    for origin in origins:
        if ":" not in origin or ctx.index.klass(ref := Ref.of(origin)) is None:
            return frozenset()
        lineage = ctx.index.lineage(ref)
        if any("__init__" in k.methods for r in lineage.refs if (k := ctx.index.klass(r)) is not None):
            return frozenset()
        if not (bases := lineage.external & (TRAINER_ARGUMENTS | TRL_ARGUMENTS)):
            return frozenset()
        found |= bases
    return frozenset(found)


@question
def arguments_stay(ctx: PythonContext, call: ast.Call, *names: str) -> Answer:
    """Whether the arguments that a call makes keep what they are given: nobody sets them later, nor their own class."""
    return unless(_changes(ctx, call, names))


def _changes(ctx: PythonContext, call: ast.Call, names: tuple[str, ...]) -> Iterator[Evidence]:
    for each in stores(ctx, *names):
        yield each.evidence(f"`{each.word}` may be set here" if each.word in names else "any argument may be set here")
    for each in mentions(ctx, "replace"):
        if each.call is not None and any(k.arg in (*names, None) for k in each.call.keywords):
            yield each.evidence("a copy may have other arguments")
    for origin in ctx.origin(call.func):
        ref = Ref.of(origin) if ":" in origin else None
        for base in ctx.index.lineage(ref).refs if ref is not None else ():
            klass = ctx.index.klass(base)
            for method in ("__post_init__", "__setattr__") if klass is not None else ():
                if klass is not None and method in klass.methods:
                    yield Evidence(base.path, klass.methods[method].line, f"`{base.name}` may change it")
