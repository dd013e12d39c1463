"""`TrainingArguments(gradient_checkpointing=True)` without saying which variant of checkpointing.

## Why is this bad?
Before version 5, the Trainer of Transformers switches checkpointing on with `{"use_reentrant": True}`, and it does so
when training starts, over anything that was set on the model before: even after
`model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})` training is reentrant.
Reentrant checkpointing passes gradients on only if an input of the layer requires one. With LoRA or frozen embeddings
none does. `get_peft_model` followed by such a Trainer fails; a model with frozen embeddings and a head outside the
layers trains that head alone (2 of 26 parameters), with nothing but a warning:

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
    UserWarning: None of the inputs have requires_grad=True. Gradients will be None

Transformers 5 and TRL 0.27 default to the other variant.

## Fix safety
Unsafe: `non-reentrant` (default) adds `gradient_checkpointing_kwargs={"use_reentrant": False}`, as Transformers 5 does;
what trains already trains on with the same gradients, but models with code that reentrant checkpointing alone can run,
need the other one. `input-grads` keeps the variant and lets the embeddings' outputs require gradients, with
`model.enable_input_require_grads()` (Transformers 4.27) before PEFT gets the model, or after it is loaded. `explicit`
writes `{"use_reentrant": True}`: nothing changes but torch's warning, which Transformers before 4.45 lets through; with
version 5 it keeps the old variant.

Nothing is said where a trainer of TRL is given a `peft_config` and the project's TRL is 0.7.5 or newer, for that lets
the inputs require gradients; possible where its version is not known.

## When it is not offered
Where nothing shows adapters, or that the model which a Trainer of the same file gets is partly frozen: full training
loses nothing, in any of the architectures that were run (`docs/architectures.md`). Where Unsloth owns checkpointing,
for it requires the reentrant variant. Where `**kwargs` may hold the argument, where `gradient_checkpointing` is no
literal `True`, with Transformers before 4.35 (no such argument), beside a DeepSpeed configuration when weights are
frozen (under ZeRO-3 recomputed shapes are `[0]`), and with flex attention.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, keyword, literal
from codemods.analysis.python_context import PythonContext
from codemods.frameworks.checkpointing.cut_off import (
    family_passes_frozen_inputs_only,
    freezing_is_sure,
    trl_leaves_the_inputs,
)
from codemods.frameworks.checkpointing.hugging_face import (
    FIRST_WITH_KWARGS,
    allows,
    input_grads,
    is_implicit,
    with_kwargs,
)
from codemods.frameworks.checkpointing.project_traits import (
    adapters,
    adapters_train_no_embeddings,
    embeddings_are_frozen,
    forbids_non_reentrant,
    frozen,
    gives_inputs_gradients,
    inputs_get_no_gradients,
    may_forbid_non_reentrant,
    unsloth,
)
from codemods.frameworks.trainer_arguments import TRL_ARGUMENTS, arguments_class, arguments_stay
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Remedy, Rule

KWARGS = "gradient_checkpointing_kwargs"

rule = Rule(
    code="CKP004",
    name="hf-training-arguments",
    summary="the Trainer checkpoints reentrant by default: adapters and layers above frozen inputs get no gradient",
    fix_title='Pass `gradient_checkpointing_kwargs={"use_reentrant": False}`',
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    effect=Effect.NEW_GRADIENTS,
    follows=True,
    knows=("requires_grad", "requires_grad_"),
    triggers=(("gradient_checkpointing",),),
    errors=(
        "None of the inputs have requires_grad=True. Gradients will be None",
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "Expected to mark a variable ready only once",
    ),
    references=(
        "https://github.com/huggingface/transformers/pull/43203",
        "https://github.com/huggingface/trl/pull/4811",
        "https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments",
    ),
    strategies=("non-reentrant", "input-grads", "explicit"),
)


_FIRST_OF_TRL = {"trl.GRPOConfig": "<0.16"}
"""Trainers of TRL that let the inputs require gradients earlier than the others."""


@rule.on(ast.Call)
def training_arguments(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if literal(keyword(call, "gradient_checkpointing")) is not True or any(k.arg is None for k in call.keywords):
        return
    kwargs = keyword(call, KWARGS)
    if not is_implicit(kwargs) or keyword(call, "activation_checkpointing_kwargs"):
        return
    classes = arguments_class(ctx, call)
    if not classes:
        return
    bites = {
        "transformers": "<5",
        **({"trl": _FIRST_OF_TRL.get("".join(classes), "<0.27")} if classes <= TRL_ARGUMENTS else {}),
    }
    remedies: dict[str, Remedy] = {}
    new_enough = allows(ctx, "transformers", FIRST_WITH_KWARGS)
    trained = adapters(ctx, near=call)
    models = [] if trained else list(_trained_models(ctx))
    part, model = next(((found, each) for each in models if (found := frozen(ctx, each))), (None, ""))
    shown = trained or (part[0] if part is not None else None)
    is_bug = (
        []
        if shown is None
        else [inputs_get_no_gradients(ctx, call), arguments_stay(ctx, call, KWARGS, "gradient_checkpointing")]
    )
    if part is not None:
        is_bug += [embeddings_are_frozen(ctx, model, *part), freezing_is_sure(ctx, part[0], call)]
        is_bug.append(family_passes_frozen_inputs_only(ctx, call))
    if trained is not None:
        is_bug += [trl_leaves_the_inputs(ctx), adapters_train_no_embeddings(ctx)]
    if any(each.is_no for each in is_bug):
        shown, trained, is_bug = None, None, []
    if (shown is None and ctx.strategies.get(rule.code) != "explicit") or unsloth(ctx):
        return  # `explicit` ends a warning, for those who ask for it, whatever is trained
    forbidden = forbids_non_reentrant(ctx, partly_frozen=True)
    if forbidden is None and _under_deepspeed(call):
        forbidden = ctx.evidence(call, "DeepSpeed is used, and ZeRO-3 over frozen weights needs the reentrant variant")
    elif forbidden is None:
        forbidden = may_forbid_non_reentrant(ctx)
    if new_enough and forbidden is None:
        remedies["non-reentrant"] = Remedy([with_kwargs(ctx, call, KWARGS, kwargs, reentrant=False)])
    if not gives_inputs_gradients(ctx) and (insertion := input_grads(ctx, call)) is not None:
        title = "Call `model.enable_input_require_grads()`"
        remedies["input-grads"] = Remedy(insertion, title, on_request=new_enough)
    if new_enough:
        title = 'Pass `gradient_checkpointing_kwargs={"use_reentrant": True}`'
        explicit = [with_kwargs(ctx, call, KWARGS, kwargs, reentrant=True)]
        remedies["explicit"] = Remedy(explicit, title, on_request=True)
    message = _message(ctx, call, trained is not None, shown is not None, forbidden)
    evidence = [each for each in (shown, forbidden) if each is not None]
    consequence = Consequence.RAISES if trained is not None else Consequence.SILENT
    if shown is None:
        consequence = Consequence.WARNS
    yield rule.offer(
        call, remedies, message=message, is_bug=is_bug, bites=bites, evidence=evidence, consequence=consequence
    )


def _trained_models(ctx: PythonContext) -> Iterator[str]:
    """The names of the models that this file gives to a Trainer."""
    for call in ctx.all(ast.Call):
        if (ctx.name(call.func) or "").endswith("Trainer") and (name := ctx.name(argument(call, "model", 0))):
            yield name


def _message(ctx: PythonContext, call: ast.Call, lora: bool, shown: bool, forbidden: Evidence | None) -> str:
    name = (ctx.name(call.func) or "the arguments").rpartition(".")[2]
    message = f"`{name}(gradient_checkpointing=True)` is reentrant by default"
    if lora:
        message += ", and adapters are trained: no gradient reaches them"
    elif shown:
        message += ", and weights are frozen: layers above frozen inputs get no gradient"
    return f"{message}; left so: {forbidden.why}" if forbidden else message


def _under_deepspeed(call: ast.Call) -> bool:
    given = keyword(call, "deepspeed")
    return given is not None and literal(given) is not None
