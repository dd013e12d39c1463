"""Whether weights that are trained surely get no gradient through reentrant checkpointing: what stands against it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import keyword, literal, positional
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.frameworks.checkpointing.families import FROZEN_KEEPS_ALL, LORA_KEEPS_ALL, family
from codemods.model.edits import Evidence
from codemods.project import versions
from codemods.syntax.module import is_none

_GIVES_GRADIENTS = "0.7.5"
_CHOOSING = (ast.If, ast.IfExp, ast.Match, ast.While, ast.For)


@question
def trl_leaves_the_inputs(ctx: PythonContext) -> Answer:
    """Whether no trainer of TRL makes the adapters: since 0.7.5 it lets the inputs require gradients before it does."""
    makers = [
        call
        for call in ctx.all(ast.Call)
        if any(name.startswith("trl.") and name.endswith("Trainer") for name in ctx.origin(call.func))
        and (given := keyword(call, "peft_config")) is not None
        and not is_none(given)
    ]
    target = ctx.target("trl")
    if not makers or (target is not None and not versions.may(target, f">={_GIVES_GRADIENTS}")):
        return yes()
    shown = ctx.evidence(makers[0], f"TRL from {_GIVES_GRADIENTS} on lets the inputs require gradients")
    return no(shown) if versions.surely(target, f">={_GIVES_GRADIENTS}") else unknown(shown)


@question
def freezing_is_sure(ctx: PythonContext, shown: Evidence, near: ast.AST) -> Answer:
    """Whether what is frozen is frozen in every run: no test decides, but those around `near` (`frozen_by_setting`)."""
    around = set(ctx.ancestors(near))
    frozen = (each for each in ctx.all(ast.Expr, ast.Assign, ast.For) if each.lineno == shown.line)
    tests = (above for each in frozen for above in ctx.ancestors(each) if isinstance(above, _CHOOSING))
    return unless(ctx.evidence(test, "this decides whether weights are frozen") for test in tests if test not in around)


@question
def family_passes_frozen_inputs_only(ctx: PythonContext, at: ast.expr) -> Answer:
    """Whether the layers of all models that a file loads are known to be given nothing else that is trained.

    Those of DeBERTa are given the weights of relative positions, those of other families a mask that requires gradients
    (`frozen_by_setting`).
    """
    loaded = _loaded(ctx)
    if not loaded:
        return unknown(ctx.evidence(at, "what the layers are given here is not known"))
    return unless(
        ctx.evidence(call, "what the layers of this model are given is not known")
        for call, name in loaded
        if not name or name in FROZEN_KEEPS_ALL
    )


def keeps_all(ctx: PythonContext, lora: bool) -> bool:
    """Whether every model that a file loads is of a family that was run and loses nothing."""
    names = [name for _, name in _loaded(ctx)]
    return bool(names) and all(name in (LORA_KEEPS_ALL if lora else FROZEN_KEEPS_ALL) for name in names)


def _loaded(ctx: PythonContext) -> list[tuple[ast.Call, str]]:
    """The calls `AutoModel….from_pretrained("…")` of a file, with the family of the checkpoint; "" where unknown."""
    if (_loaded,) not in ctx.memo:
        ctx.memo[_loaded,] = list(_loads(ctx))
    found: list[tuple[ast.Call, str]] = ctx.memo[_loaded,]
    return found


def _loads(ctx: PythonContext) -> Iterator[tuple[ast.Call, str]]:
    for call in ctx.all(ast.Call):
        match call.func:
            case ast.Attribute(value=klass, attr="from_pretrained") if any(
                origin.startswith("transformers.") and "Model" in origin for origin in ctx.origin(klass)
            ):
                name = literal(positional(call, 0))
                yield call, family(name) or "" if isinstance(name, str) else ""
