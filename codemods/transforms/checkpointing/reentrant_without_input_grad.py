"""`use_reentrant=True` where no input of the checkpointed block requires a gradient.

## Why is this bad?
Reentrant checkpointing passes gradients on only if a *positional tensor* of the call requires one. Where the block gets
its input by closure or in a dict, where the embeddings below it are frozen, or where adapters train over frozen
weights, none does. The parameters inside then get no gradient. If anything outside the block still trains, that is
silent but for a warning; else the backward fails:

    UserWarning: None of the inputs have requires_grad=True. Gradients will be None
    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

Keyword inputs are refused outright: `ValueError: Unexpected keyword arguments: mask`.

## Fix safety
Unsafe: `non-reentrant` (default) writes `use_reentrant=False`, which needs no such input and takes keywords. A few
blocks run reentrant only (TorchScript, custom autograd functions, Python's random numbers, caches), and so does
DeepSpeed ZeRO-3 over frozen weights. `input-grads` keeps the variant where the model is a Hugging Face one:
`model.enable_input_require_grads()`, before PEFT gets it, or after it is loaded.

## When it is not offered
Without evidence: `use_reentrant=True` over trainable inputs is right. So is every project that calls
`enable_input_require_grads`, and every function that sets `requires_grad_()` on an input. With flex attention, or
ZeRO-3 over frozen weights, `non-reentrant` is not offered; nor where the block is a closure over a variable that gets
another value after the call (`x = x + checkpoint(lambda: f(x), …)`): the recomputation reads the new one, and gradients
would come, but wrong ones. Pass such a variable as an input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import libcst as cst

from codemods.frameworks.checkpointing.closures import late_bound
from codemods.frameworks.checkpointing.frames import written
from codemods.frameworks.checkpointing.hugging_face import (
    ENABLERS,
    allows,
    becomes_peft_model,
    input_grads,
    reentrant_item,
)
from codemods.frameworks.checkpointing.project_traits import (
    adapters,
    forbids_non_reentrant,
    frozen_embeddings,
    gives_inputs_gradients,
    unsloth,
)
from codemods.frameworks.trainer_arguments import TRAINER_ARGUMENTS, arguments_class
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.names import CHECKPOINT
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Rule
from codemods.syntax import flow, rewrite
from codemods.syntax.rewrite import Replacement

OPTIONS = frozenset(
    {"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop"}
    | {"respect_saved_tensors_hooks"}
)
"""Keywords of `checkpoint` itself."""

rule = Rule(
    code="CKP002",
    name="reentrant-without-input-grad",
    summary="reentrant checkpointing where no input requires a gradient: the parameters inside get none",
    fix_title="Pass `use_reentrant=False`",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    triggers=(("use_reentrant",),),
    together=(("use_reentrant",),),
    errors=(
        "None of the inputs have requires_grad=True. Gradients will be None",
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "Unexpected keyword arguments: ",
    ),
    references=(
        "https://docs.pytorch.org/docs/stable/checkpoint.html",
        "https://github.com/huggingface/peft/issues/137",
        "https://github.com/hiyouga/LlamaFactory/issues/6675",
    ),
    strategies=("non-reentrant", "input-grads"),
)


@rule.on(cst.Call)
def reentrant_call(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    """`checkpoint(block, x, use_reentrant=True)`."""
    if not ctx.means(call.func, CHECKPOINT):
        return
    given = rewrite.keyword(call, "use_reentrant")
    if given is None or rewrite.literal(given.value) is not True or any(a.star == "**" for a in call.args):
        return
    why, shown = _missing_input(call, ctx), None
    if why is None and (shown := _frozen_below(call, ctx)) is not None:
        why = shown.why
    if why is None:
        return
    changes: dict[str, Mapping[cst.CSTNode, Replacement]] = {}
    late = late_bound(ctx, call.args[0].value) if call.args else None
    if late is not None:
        why += f"; pass `{late}` as an input, for it has another value when it is recomputed"
    elif not forbids_non_reentrant(ctx, partly_frozen=True):
        changes["non-reentrant"] = {given: given.with_changes(value=cst.Name("False"))}
    if shown is not None and (insertion := input_grads(ctx, call)) is not None:
        changes["input-grads"] = insertion
    yield _draft(ctx, call, changes, f"`checkpoint` with `use_reentrant=True`: {why}", {}, [shown] if shown else [])


@rule.on(cst.Call)
def reentrant_kwargs(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    """`{"use_reentrant": True}` for a model whose adapters are already on, or for its Trainer."""
    match call.func:
        case cst.Attribute(value=model, attr=cst.Name(value=method)) if method in ENABLERS:
            arg = rewrite.argument(call, ENABLERS[method], 0)
            if becomes_peft_model(ctx, call, model):
                return
        case _ if arguments_class(ctx, call) & TRAINER_ARGUMENTS:
            arg = rewrite.keyword(call, "gradient_checkpointing_kwargs")
            on = rewrite.keyword(call, "gradient_checkpointing")
            if on is None or rewrite.literal(on.value) is not True:
                return
        case _:
            return
    value = reentrant_item(arg)
    if value is None or gives_inputs_gradients(ctx) or not allows(ctx, "transformers", "<5") or unsloth(ctx):
        return
    if (trained := adapters(ctx)) is None:
        return
    changes: dict[str, Mapping[cst.CSTNode, Replacement]] = {}
    if not forbids_non_reentrant(ctx, partly_frozen=True):
        changes["non-reentrant"] = {value: cst.Name("False")}
    if (insertion := input_grads(ctx, call)) is not None:
        changes["input-grads"] = insertion
    message = f"`{written(ctx, call.func)}` with `use_reentrant: True`, and adapters are trained: they get no gradient"
    yield _draft(ctx, call, changes, message, {"transformers": "<5"}, [trained])


def _draft(
    ctx: Context,
    call: cst.Call,
    changes: Mapping[str, Mapping[cst.CSTNode, Replacement]],
    message: str,
    bites: Mapping[str, str],
    evidence: Sequence[Evidence],
) -> Draft:
    available = tuple(name for name in rule.strategies if name in changes)
    strategy = ctx.choose(rule, available)
    if strategy is None:
        return rule.finding(call, message=message, strategies=available, bites=bites, evidence=evidence)
    title = "Call `model.enable_input_require_grads()`" if strategy == "input-grads" else None
    return rule.finding(
        call,
        fix=changes[strategy],
        message=message,
        title=title,
        strategy=strategy,
        strategies=available,
        bites=bites,
        evidence=evidence,
    )


def _missing_input(call: cst.Call, ctx: Context) -> str | None:
    """Why the call itself shows that no input can require a gradient."""
    others = [a.keyword.value for a in call.args if a.keyword is not None and a.keyword.value not in OPTIONS]
    if ctx.means(call.func, "torch.utils.checkpoint.checkpoint_sequential"):
        return None
    if others and "function" not in others:
        return f"it refuses keyword inputs, as `{others[0]}=` here"
    positional = [a for a in call.args if a.keyword is None]
    if not positional or "function" in others or any(a.star for a in call.args):  # without any, it is a decorator
        return None
    inputs = positional[1:]
    if not inputs:
        return "it has no input, so that no gradient reaches the parameters inside"
    packed = [a for a in inputs if isinstance(a.value, (cst.Dict, cst.List, cst.Tuple)) or ctx.name(a.value) == "None"]
    if len(packed) == len(inputs) and any(ctx.name(a.value) != "None" for a in packed):
        return "its inputs are packed, so that no gradient reaches the parameters inside"
    return None


def _frozen_below(call: cst.Call, ctx: Context) -> Evidence | None:
    """What shows that nothing below the block requires a gradient, by what the program does with the model."""
    if gives_inputs_gradients(ctx) or _sets_requires_grad(call, ctx):
        return None
    if _is_hugging_face(call, ctx) and (trained := adapters(ctx)) is not None:
        return replace(trained, why="adapters are trained, and no gradient reaches them if the embeddings are frozen")
    if (found := frozen_embeddings(ctx)) is not None:
        return replace(found, why="embeddings are frozen, so that no gradient reaches the blocks above them")
    return None


def _is_hugging_face(call: cst.Call, ctx: Context) -> bool:
    """Whether the call stands in a model of Hugging Face's kind, which adapters are put on."""
    klass = ctx.klass(call)
    bases = ctx.index.lineage(klass).external if klass is not None else frozenset[str]()
    return any(base.startswith("transformers.") for base in bases)


def _sets_requires_grad(call: cst.Call, ctx: Context) -> bool:
    """Whether the function around makes a tensor require gradients."""
    function = ctx.function(call)
    for node in flow.own(function.body) if function is not None else ():
        match node:
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="requires_grad_")), args=args):
                if not args or rewrite.literal(args[0].value) is not False:
                    return True
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value="requires_grad")))]):
                if rewrite.literal(node.value) is not False:
                    return True
    return False
