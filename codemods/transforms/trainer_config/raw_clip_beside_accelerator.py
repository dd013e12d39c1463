"""`clip_grad_norm_` of torch on gradients that an Accelerator has scaled.

## Why is this bad?
With `mixed_precision="fp16"` `accelerator.backward` multiplies the loss by the scale of its gradient scaler, and the
step divides again. A clip in between sees the scaled gradients: with a scale of 1024 it measured a norm of 2289.7 for
2.236, and the update was 0.00087 for 0.894 (run with Accelerate 1.15). Nothing raises and nothing warns. Without fp16
both calls do the same, but for DeepSpeed and FSDP, which need the method, too.

## Fix safety
Unsafe: `accelerator.clip_grad_norm_` divides the gradients of all prepared optimizers before it clips. A second clip
before the step, one in a round of `accumulate` that takes no step, or one of several optimizers then raises `unscale_()
has already been called on this optimizer`; put it under `if accelerator.sync_gradients:`.

## When it is not offered
Reported where an argument of torch is given that the method does not take. Silent with another precision, where
`accelerator.unscale_gradients` is called before, and where the parameters are not those of a prepared model. Possible
where the precision is not in sight: `accelerate launch` may set it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.calls import argument, has_splat
from codemods.analysis.mentions import called_by_text, mentions
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.accelerators import Keeping, keeper, prepared, scales_gradients
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.names import ACCELERATOR, CLIP_GRAD
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own
from codemods.syntax.verbs import edit_call

rule = Rule(
    code="HF002",
    name="raw-clip-beside-accelerator",
    summary="torch's `clip_grad_norm_` sees gradients that the Accelerator has scaled",
    fix_title="Call the clip of the Accelerator",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.SIZES,
    knows=AROUND_STEPS,
    triggers=(
        ("clip_grad_norm_", "clip_grad_value_"),
        ("backward",),
        ("Accelerator", "accelerator", "accelerate", "prepare"),
    ),
    references=("https://huggingface.co/docs/accelerate/package_reference/accelerator",),
)

_KEEPING = Keeping(ACCELERATOR, frozenset({"prepare", "prepare_model"}))
_TAKEN = {"parameters", "max_norm", "norm_type", "clip_value"}


@rule.on(ast.Call)
def raw_clip(clip: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if has_splat(clip) or not ctx.means(clip.func, CLIP_GRAD) or (name := _scaling(ctx, clip)) is None:
        return
    if not _is_of_prepared(ctx, clip):
        return
    method = f"{name}.{next(iter(ctx.origin(clip.func))).rpartition('.')[2]}"
    takes = len(clip.args) <= 3 and all(each.arg in _TAKEN for each in clip.keywords)
    yield rule.finding(
        clip,
        fix=[edit_call(clip, function=method)] if takes else None,
        message=f"this clip sees the gradients that `{name}` has scaled: `{method}` divides them first",
        is_bug=[scales_gradients(ctx, name), nobody_unscales(ctx, name)],
    )


def _is_of_prepared(ctx: PythonContext, clip: ast.Call) -> bool:
    """Whether what is clipped is of models that an Accelerator prepares, whole or in part (`a_part_in_a_list`)."""
    given = argument(clip, "parameters", 0)
    found = [each.node for each in possible_values(ctx, given)[0]] if given is not None else []
    lists = (ast.ListComp, ast.GeneratorExp)
    of = [node.generators[0].iter if isinstance(node, lists) else node for node in found]
    return bool(of) and all(_is_whole(ctx, each) for each in of)


def _is_whole(ctx: PythonContext, node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=model, attr="parameters")):
            return prepared(ctx, model, _KEEPING) is True
    return False


def _scaling(ctx: PythonContext, clip: ast.Call) -> str | None:
    """The Accelerator by which the function of a clip has computed gradients before it."""
    flow = ctx.flow_of(ctx.scope(clip))
    for call in own(ctx.scope(clip)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
            name = keeper(ctx, call, _KEEPING) if flow.reaches(call, clip) else None
            if name is not None and ctx.name(call.func.value) == name:
                return name
    return None


@question
def nobody_unscales(ctx: PythonContext, name: str) -> Answer:
    """Whether nothing divides the gradients before a clip, or multiplies its bound (`scaled_bound`).

    A method may be called by a name that only a run tells (`unscaled_by_text`).
    """
    may = f"`{name}` may divide the gradients here"
    named = (each.evidence(may) for each in mentions(ctx, "unscale_gradients", "get_scale", "scaler"))
    return unless([*named, *called_by_text(ctx)])
