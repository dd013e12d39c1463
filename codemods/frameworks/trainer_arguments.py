"""Which calls make the arguments of a Hugging Face Trainer: `TrainingArguments`, TRL's classes, a project's own."""

from __future__ import annotations

import ast

from codemods.analysis.python_context import PythonContext
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
        if ":" not in origin or ctx.index.klass(ref := Ref(*origin.split(":", 1))) is None:
            return frozenset()
        lineage = ctx.index.lineage(ref)
        if any("__init__" in k.methods for r in lineage.refs if (k := ctx.index.klass(r)) is not None):
            return frozenset()
        if not (bases := lineage.external & (TRAINER_ARGUMENTS | TRL_ARGUMENTS)):
            return frozenset()
        found |= bases
    return frozenset(found)
