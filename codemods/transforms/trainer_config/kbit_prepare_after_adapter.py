"""`prepare_model_for_kbit_training` after `get_peft_model`: it freezes the adapter.

## Why is this bad?
The function freezes every parameter of what it is given, and an adapter that is there already with it. With activation
checkpointing, its default, the backward pass runs and no adapter gets a gradient, silently (0 of 2; PEFT 0.21).
Without it the first `backward` raises:

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

## Fix safety
Unsafe: the two statements change places, where they follow each other. The adapter is trained then, which is the point.

## When it is not offered
Reported where something stands between them. Silent where one of them is given another model. Possible where the
program makes parameters require gradients afterwards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, keyword, literal
from codemods.analysis.mentions import mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own
from codemods.syntax.verbs import Verb, delete, insert_before

_ADAPTING = frozenset({"peft.get_peft_model", "peft.mapping.get_peft_model", "peft.mapping_func.get_peft_model"})
_PREPARING = frozenset({"peft.prepare_model_for_kbit_training", "peft.utils.prepare_model_for_kbit_training"})

rule = Rule(
    code="PFT002",
    name="kbit-prepare-after-adapter",
    summary="`prepare_model_for_kbit_training` after `get_peft_model` freezes the adapter",
    fix_title="Prepare the model before it gets its adapter",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    triggers=(("prepare_model_for_kbit_training",), ("get_peft_model",)),
    references=("https://huggingface.co/docs/peft/developer_guides/quantization",),
)


@rule.on(ast.Assign)
def kbit_prepare_after_adapter(prepared: ast.Assign, ctx: PythonContext) -> Iterator[Draft]:
    call, scope = prepared.value, ctx.scope(prepared)
    if not isinstance(call, ast.Call) or not ctx.means(call.func, _PREPARING):
        return
    name = ctx.name(argument(call, "model", 0))
    adapted = [
        each.node
        for each in ctx.bindings(scope).get(name or "", ())
        if isinstance(each.value, ast.Call) and ctx.means(each.value.func, _ADAPTING)
    ]
    flow = ctx.flow_of(scope)
    for first in adapted:
        others = [each.node for each in ctx.bindings(scope).get(name or "", ()) if each.node not in (first, prepared)]
        if not flow.dominates(first, prepared) or any(
            flow.reaches(first, each) and flow.reaches(each, prepared) for each in others
        ):
            continue
        checkpointing = keyword(call, "use_gradient_checkpointing")
        raises = checkpointing is not None and literal(checkpointing) is False
        yield rule.finding(
            call,
            fix=_swapped(ctx, first, prepared, name or ""),
            message=f"`prepare_model_for_kbit_training` freezes the adapter that `{name}` has already",
            consequence=Consequence.RAISES if raises else Consequence.SILENT,
            evidence=[ctx.evidence(first, "the adapter")] if isinstance(first, ast.stmt) else [],
            is_bug=[nobody_thaws(ctx)],
        )
        return


def _swapped(ctx: PythonContext, first: ast.AST, second: ast.Assign, name: str) -> list[Verb] | None:
    """The two statements in the other order, where they follow each other and bind one name."""
    if not isinstance(first, ast.Assign) or ctx.module.block(first) != ctx.module.block(second):
        return None
    above, field = ctx.module.block(first)
    block: list[ast.stmt] = getattr(above, field)
    if block.index(second) != block.index(first) + 1 or [*map(ctx.name, second.targets)] != [name]:
        return None
    model = argument(first.value, "model", 0) if isinstance(first.value, ast.Call) else None
    if ctx.name(model) != name or any(isinstance(n, ast.NamedExpr) for n in own(first)):
        return None
    return [insert_before(first, ctx.source(second)), delete(second)]


@question
def nobody_thaws(ctx: PythonContext) -> Answer:
    """Whether nothing in the program makes parameters require gradients again (`thawed`)."""
    places = [each for each in stores(ctx, "requires_grad") if each.word == "requires_grad"]
    places += mentions(ctx, "requires_grad_", "set_adapter")
    return unless(each.evidence("the adapter may be trained again from here on") for each in places)
