"""`model.gradient_checkpointing_enable()` without saying which variant of checkpointing.

## Why is this bad?
Before version 5, Transformers fills the gap with `{"use_reentrant": True}`. Reentrant checkpointing passes gradients on
only if an input of the checkpointed layer requires one. With frozen embeddings or LoRA none does: either the backward
fails, or (a trainable head lies outside the layers) only what lies outside trains, and the one sign is a warning:

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
    UserWarning: None of the inputs have requires_grad=True. Gradients will be None

PEFT's `prepare_model_for_kbit_training(model)` switches checkpointing on with `{}`, which is reentrant with every
version, Transformers 5 included. It lets the inputs require gradients itself, as Transformers 5 does, so that the
layers do train; but torch warns, and under DistributedDataParallel it may fail with `Expected to mark a variable ready
only once`.

## Fix safety
Unsafe: `non-reentrant` (default) writes `{"use_reentrant": False}`, as Transformers 5 does; loss and gradients of what
trains already stay the same, but DeepSpeed ZeRO-3 over frozen weights, and models with code that reentrant
checkpointing alone can run, need the other one. `input-grads` keeps the variant and adds
`model.enable_input_require_grads()` (Transformers 4.27). `explicit` writes `{"use_reentrant": True}`: nothing changes
but the warning.

A Trainer whose own arguments switch checkpointing on does it once more, with *its* keyword arguments: they decide; a
later `gradient_checkpointing_enable()` does the same. So `prepare_model_for_kbit_training` is only changed together
with them; alone, the change would leave the layers without gradients.

## When it is not offered
For models with a method of that name of their own, where the keyword argument or Transformers (before 4.35) cannot
take it, where PEFT wraps the model afterwards or the project calls `enable_input_require_grads` (both let the inputs
require gradients), and in projects with flex attention or ZeRO-3 over frozen weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from codemods.frameworks.checkpointing.families import FROZEN_KEEPS_ALL, LORA_KEEPS_ALL, family
from codemods.frameworks.checkpointing.frames import written
from codemods.frameworks.checkpointing.hugging_face import (
    ENABLERS,
    FIRST_WITH_INPUT_GRADS,
    FIRST_WITH_KWARGS,
    INPUT_GRADS_GIVEN,
    KBIT,
    RENAMED,
    allows,
    becomes_peft_model,
    implicit_enablers,
    is_foreign_model,
    is_implicit,
    proves,
    with_kwargs,
)
from codemods.frameworks.checkpointing.project_traits import (
    adapters,
    forbids_non_reentrant,
    frozen,
    gives_inputs_gradients,
    unsloth,
)
from codemods.frameworks.trainer_arguments import arguments_class
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Rule
from codemods.syntax import rewrite
from codemods.syntax.rewrite import Replacement
from codemods.syntax.tree import parameter_names

OWN_METHODS = (b"def gradient_checkpointing_enable", b"def activation_checkpointing_enable")
PARSED = (b"HfArgumentParser", b"TrlParser", b"parse_args_into_dataclasses")
Changes = Mapping[cst.CSTNode, Replacement]

rule = Rule(
    code="CKP003",
    name="hf-checkpointing-enable",
    summary="checkpointing switched on without `use_reentrant` is reentrant, which LoRA and frozen inputs break",
    fix_title='Pass `gradient_checkpointing_kwargs={"use_reentrant": False}`',
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    triggers=((*sorted(ENABLERS), "prepare_model_for_kbit_training"),),
    together=((*sorted(ENABLERS), "prepare_model_for_kbit_training"),),
    errors=(
        "None of the inputs have requires_grad=True. Gradients will be None",
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "the use_reentrant parameter should be passed explicitly",
        "Expected to mark a variable ready only once",
    ),
    references=(
        "https://github.com/huggingface/transformers/pull/43203",
        "https://github.com/huggingface/transformers/issues/28536",
        "https://huggingface.co/docs/peft/package_reference/peft_model#peft.prepare_model_for_kbit_training",
    ),
    strategies=("non-reentrant", "input-grads", "explicit"),
)


@rule.on(cst.Call)
def enable(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in ENABLERS:
        return
    found = next((each for each in implicit_enablers(ctx) if each[0] is call), None)
    if found is None:
        return
    model, (_, name, arg) = call.func.value, found
    if not _is_ours(ctx, call, model, call.func.attr.value):
        return
    given = proves(ctx, "transformers", INPUT_GRADS_GIVEN)
    trained = adapters(ctx, near=call, model=ctx.name(model))
    shown = trained or frozen(ctx, ctx.name(model) or "", near=call)
    if (shown is None and not given) or unsloth(ctx) or _keeps_all(ctx, call, trained is not None):
        return
    bites = {} if arg is not None and rewrite.literal(arg.value) is not None else {"transformers": "<5"}
    changes: dict[str, Changes] = {}
    forbidden = forbids_non_reentrant(ctx, partly_frozen=shown is not None)
    if forbidden is None and allows(ctx, "transformers", FIRST_WITH_KWARGS):
        changes["non-reentrant"] = {call: with_kwargs(ctx, call, name, arg, reentrant=False)}
    holder, owner = ctx.statement(call), ctx.name(model)
    helps = not given and allows(ctx, "transformers", FIRST_WITH_INPUT_GRADS)
    if owner is not None and isinstance(holder, cst.Expr) and holder.value is call and helps:
        changes["input-grads"] = rewrite.insert(ctx, call, [f"{owner}.enable_input_require_grads()"], after=True)
    if allows(ctx, "transformers", FIRST_WITH_KWARGS):
        changes["explicit"] = {call: with_kwargs(ctx, call, name, arg, reentrant=True)}
    message = f"`{written(ctx, call.func)}` without `use_reentrant` is reentrant"
    if given:
        message += ", with Transformers 5 too: torch warns, and DistributedDataParallel may fail"
    elif trained is not None:
        message += ", and adapters are trained: no gradient reaches them"
    else:
        message += ", and weights are frozen: layers above frozen inputs get no gradient"
    cost = Consequence.WARNS if given else Consequence.RAISES if trained is not None else Consequence.SILENT
    if trained is not None and not given and (trained.path != ctx.path or _is_given(ctx, call, model)):
        message, cost = f"{message}, if they are on this model", Consequence.STYLE
        changes = changes if rule.code in ctx.strategies else {}
    evidence = [each for each in (shown, forbidden) if each is not None]
    yield _draft(ctx, call, changes, message, bites, evidence, cost)


@rule.on(cst.Call)
def prepare(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    if not ctx.means(call.func, KBIT) or rewrite.has_splat(call):
        return
    used = rewrite.argument(call, "use_gradient_checkpointing", 1)
    arg = rewrite.argument(call, "gradient_checkpointing_kwargs", 2)
    if (used is not None and rewrite.literal(used.value) is False) or not is_implicit(arg):
        return
    if (quantized := _quantized(ctx)) is None or unsloth(ctx):
        return  # of a model that is not quantized, it switches nothing on
    changes: dict[str, Changes] = {}
    beside = _switched_on_again(ctx)
    forbidden = forbids_non_reentrant(ctx, partly_frozen=True)
    if allows(ctx, "transformers", FIRST_WITH_KWARGS) and allows(ctx, "peft", ">=0.6"):
        name = "gradient_checkpointing_kwargs"
        if beside is not None and not forbidden:
            all_of_them = [(call, name, arg), *beside]
            changes["non-reentrant"] = {c: with_kwargs(ctx, c, n, a, reentrant=False) for c, n, a in all_of_them}
        changes["explicit"] = {call: with_kwargs(ctx, call, name, arg, reentrant=True)}
    message = "`prepare_model_for_kbit_training` without `use_reentrant` switches reentrant checkpointing on"
    if forbidden:
        message += f"; left so: {forbidden.why}"
    elif beside is None:
        message += "; set it here and where it is switched on again together, or no gradient reaches the layers"
    evidence = [each for each in (quantized, forbidden) if each is not None]
    yield _draft(ctx, call, changes, message, {}, evidence, Consequence.WARNS)


def _is_given(ctx: Context, call: cst.Call, model: cst.BaseExpression) -> bool:
    """Whether the model comes from the caller, who may have put adapters on it, or not."""
    function = ctx.function(call)
    return function is not None and isinstance(model, cst.Name) and model.value in parameter_names(function)


def _keeps_all(ctx: Context, call: cst.Call, lora: bool) -> bool:
    """Whether every model that this function loads is of a family that was run and loses nothing."""
    names = [model for each in ctx.all(cst.Call, "from_pretrained") if (model := _loaded(ctx, each)) is not None]
    return bool(names) and all(name in (LORA_KEEPS_ALL if lora else FROZEN_KEEPS_ALL) for name in names)


def _loaded(ctx: Context, call: cst.Call) -> str | None:
    """The family of the checkpoint that `AutoModel….from_pretrained("…")` loads; empty where it is unknown."""
    match call.func:
        case cst.Attribute(value=klass, attr=cst.Name("from_pretrained")) if any(
            origin.startswith("transformers.") and "Model" in origin for origin in ctx.origin(klass)
        ):
            given = rewrite.positional(call, 0)
            name = rewrite.literal(given.value) if given is not None else None
            return family(name) or "" if isinstance(name, str) else ""
    return None


def _quantized(ctx: Context) -> Evidence | None:
    """Where the file loads a quantized model, or one whose quantization is not in sight."""
    for call in ctx.all(cst.Call):
        for word in ("load_in_4bit", "load_in_8bit", "quantization_config"):
            given = rewrite.keyword(call, word)
            if given is not None and rewrite.literal(given.value) not in (False, None):
                return ctx.evidence(given, f"the model is quantized: `{word}`")
    return None


def _draft(
    ctx: Context,
    call: cst.Call,
    changes: Mapping[str, Changes],
    message: str,
    bites: Mapping[str, str],
    evidence: Sequence[Evidence],
    consequence: Consequence,
) -> Draft:
    available = tuple(name for name in rule.strategies if name in changes)
    strategy = ctx.choose(rule, available)
    if strategy == "explicit" and ctx.strategies.get(rule.code) is None:
        strategy = None  # it only ends the warning: for those who ask for it
    if strategy is None:
        return rule.finding(
            call, message=message, strategies=available, bites=bites, evidence=evidence, consequence=consequence
        )
    titles = {"input-grads": "Call `enable_input_require_grads()`", "explicit": "Pass `use_reentrant: True`"}
    return rule.finding(
        call,
        fix=changes[strategy],
        message=message,
        title=titles.get(strategy),
        strategy=strategy,
        strategies=available,
        bites=bites,
        evidence=evidence,
        consequence=consequence,
    )


def _is_ours(ctx: Context, call: cst.Call, model: cst.BaseExpression, method: str) -> bool:
    """Whether the method is Hugging Face's, and nobody lets the inputs require gradients."""
    if method == "activation_checkpointing_enable" and not proves(ctx, "transformers", RENAMED):
        return False
    foreign = is_foreign_model(ctx, model)
    if foreign or (foreign is None and ctx.index.search(ctx.path, OWN_METHODS)):
        return False
    here = ctx.method(call)
    if here is not None and ctx.name(model) in (here.self, "super"):
        return False
    if isinstance(model, cst.Call) and ctx.name(model.func) == "super":
        return False
    if foreign is None and not ctx.index.search(ctx.path, (b"transformers", b"peft")):
        return False
    return not gives_inputs_gradients(ctx) and not becomes_peft_model(ctx, call, model)


def _switched_on_again(ctx: Context) -> list[tuple[cst.Call, str, cst.Arg | None]] | None:
    """The calls of this file that switch checkpointing on once more, reentrant; None where there may be others."""
    if proves(ctx, "transformers", ">=5"):
        return []
    if ctx.index.search(ctx.path, PARSED):
        return None
    found = implicit_enablers(ctx)
    for path in ctx.index.search(ctx.path, (b"gradient_checkpointing",)):
        context = ctx.other(path)
        if context is None or (path != ctx.path and implicit_enablers(context)):
            return None
        for call in context.all(cst.Call):
            given = rewrite.keyword(call, "gradient_checkpointing")
            if not arguments_class(context, call) or (given is None and not rewrite.has_splat(call)):
                continue
            if given is None or rewrite.has_splat(call) or rewrite.literal(given.value) not in (True, False):
                return None
            kwargs = rewrite.keyword(call, "gradient_checkpointing_kwargs")
            if rewrite.literal(given.value) is True and is_implicit(kwargs):
                if path != ctx.path:
                    return None
                found.append((call, "gradient_checkpointing_kwargs", kwargs))
    return found
