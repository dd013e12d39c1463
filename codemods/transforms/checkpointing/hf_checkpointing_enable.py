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

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from codemods.analysis.calls import argument, has_splat, keyword, literal
from codemods.analysis.definitions import reaching
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unknown, yes
from codemods.frameworks.checkpointing.cut_off import (
    family_passes_frozen_inputs_only,
    freezing_is_sure,
    keeps_all,
    trl_leaves_the_inputs,
)
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
    ADAPTERS,
    adapters,
    adapters_train_no_embeddings,
    embeddings_are_frozen,
    forbids_non_reentrant,
    frozen,
    gives_inputs_gradients,
    unsloth,
)
from codemods.frameworks.trainer_arguments import arguments_class
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.syntax.verbs import insert_after

PARSERS = frozenset({"HfArgumentParser", "TrlParser", "parse_args_into_dataclasses"})
"""What makes arguments of the command line, or of a file."""

rule = Rule(
    code="CKP003",
    name="hf-checkpointing-enable",
    summary="checkpointing switched on without `use_reentrant` is reentrant, which LoRA and frozen inputs break",
    fix_title='Pass `gradient_checkpointing_kwargs={"use_reentrant": False}`',
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    effect=Effect.NEW_GRADIENTS,
    follows=True,
    knows=("requires_grad", "requires_grad_"),
    triggers=((*sorted(ENABLERS), "prepare_model_for_kbit_training"),),
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


@rule.on(ast.Call)
def enable(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if (found := implicit_enablers(ctx).get(call)) is None:
        return
    assert isinstance(call.func, ast.Attribute)
    model, (name, kwargs) = call.func.value, found
    if not _is_ours(ctx, call, model, call.func.attr):
        return
    given = proves(ctx, "transformers", INPUT_GRADS_GIVEN)
    trained = adapters(ctx, near=call, model=ctx.name(model))
    part = None if trained else frozen(ctx, ctx.name(model) or "", near=call)
    shown = trained or (part[0] if part is not None else None)
    if (shown is None and not given) or unsloth(ctx) or keeps_all(ctx, trained is not None):
        return
    is_bug: list[Answer] = []
    if part is not None and not given:
        is_bug += [embeddings_are_frozen(ctx, ctx.name(model) or "", *part), freezing_is_sure(ctx, part[0], call)]
        is_bug.append(family_passes_frozen_inputs_only(ctx, call))
    bites = {} if kwargs is not None and literal(kwargs) is not None else {"transformers": "<5"}
    remedies: dict[str, Remedy] = {}
    forbidden = forbids_non_reentrant(ctx, partly_frozen=shown is not None)
    if forbidden is None and allows(ctx, "transformers", FIRST_WITH_KWARGS):
        remedies["non-reentrant"] = Remedy([with_kwargs(ctx, call, name, kwargs, reentrant=False)])
    owner = ctx.name(model)
    helps = not given and allows(ctx, "transformers", FIRST_WITH_INPUT_GRADS)
    if owner is not None and isinstance(ctx.parent(call), ast.Expr) and helps:
        insertion = [insert_after(call, f"{owner}.enable_input_require_grads()")]
        remedies["input-grads"] = Remedy(insertion, "Call `enable_input_require_grads()`")
    if allows(ctx, "transformers", FIRST_WITH_KWARGS):
        remedies["explicit"] = _explicit(ctx, call, name, kwargs)
    message = f"`{ctx.written(call.func)}` without `use_reentrant` is reentrant"
    if given:
        message += ", with Transformers 5 too: torch warns, and DistributedDataParallel may fail"
    elif trained is not None:
        message += ", and adapters are trained: no gradient reaches them"
    else:
        message += ", and weights are frozen: layers above frozen inputs get no gradient"
    cost = Consequence.WARNS if given else Consequence.RAISES if trained is not None else Consequence.SILENT
    if trained is not None and not given:
        is_bug += [adapters_come_first(ctx, call, trained), trl_leaves_the_inputs(ctx)]
        is_bug.append(adapters_train_no_embeddings(ctx))
    if trained is not None and not given and (trained.path != ctx.path or _is_given(ctx, call, model)):
        is_bug.append(unknown(replace(trained, why="the adapters may be on another model")))
        remedies = {name: replace(remedy, on_request=True) for name, remedy in remedies.items()}
    evidence = [each for each in (shown, forbidden) if each is not None]
    yield rule.offer(call, remedies, message=message, is_bug=is_bug, bites=bites, evidence=evidence, consequence=cost)


@rule.on(ast.Call)
def prepare(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if not ctx.means(call.func, KBIT) or has_splat(call):
        return
    name = "gradient_checkpointing_kwargs"
    kwargs = argument(call, name, 2)
    if literal(argument(call, "use_gradient_checkpointing", 1)) is False or not is_implicit(kwargs):
        return
    if (quantized := _quantized(ctx)) is None or unsloth(ctx):
        return  # of a model that is not quantized, it switches nothing on
    remedies: dict[str, Remedy] = {}
    beside = _switched_on_again(ctx)
    forbidden = forbids_non_reentrant(ctx, partly_frozen=True)
    if allows(ctx, "transformers", FIRST_WITH_KWARGS) and allows(ctx, "peft", ">=0.6"):
        if beside is not None and not forbidden:
            all_of_them = {call: (name, kwargs), **beside}
            fix = [with_kwargs(ctx, c, *given, reentrant=False) for c, given in all_of_them.items()]
            remedies["non-reentrant"] = Remedy(fix)
        remedies["explicit"] = _explicit(ctx, call, name, kwargs)
    message = "`prepare_model_for_kbit_training` without `use_reentrant` switches reentrant checkpointing on"
    if forbidden:
        message += f"; left so: {forbidden.why}"
    elif beside is None:
        message += "; set it here and where it is switched on again together, or no gradient reaches the layers"
    evidence = [each for each in (quantized, forbidden) if each is not None]
    yield rule.offer(call, remedies, message=message, bites={}, evidence=evidence, consequence=Consequence.WARNS)


@question
def adapters_come_first(ctx: PythonContext, call: ast.Call, trained: Evidence) -> Answer:
    """Whether PEFT surely wraps the model before checkpointing is switched on.

    A model that checkpoints already lets its inputs require gradients when PEFT wraps it; adapters that are merged are
    none (`merged_before`).
    """
    assert isinstance(call.func, ast.Attribute)
    bound, complete = reaching(ctx, call.func.value)
    if bound and complete and all(_trains_adapters(ctx, each.value) for each in bound):
        return yes()
    wrapped = any(isinstance(each.value, ast.Call) and ctx.means(each.value.func, ADAPTERS) for each in bound)
    why = "PEFT may wrap the model after checkpointing is switched on"
    return unknown(replace(trained, why="the model may have no adapters that are trained" if wrapped else why))


def _trains_adapters(ctx: PythonContext, value: ast.expr | None) -> bool:
    """Whether a value is a model whose adapters are trained; those that are loaded are not, unless that is said."""
    if not isinstance(value, ast.Call) or not ctx.means(value.func, ADAPTERS):
        return False
    loaded = any(name.endswith(".from_pretrained") for name in ctx.origin(value.func))
    return not loaded or literal(keyword(value, "is_trainable")) is True


def _explicit(ctx: PythonContext, call: ast.Call, name: str, kwargs: ast.expr | None) -> Remedy:
    """`use_reentrant: True`: it only ends the warning, for those who ask for it."""
    fix = [with_kwargs(ctx, call, name, kwargs, reentrant=True)]
    return Remedy(fix, "Pass `use_reentrant: True`", on_request=True)


def _is_given(ctx: PythonContext, call: ast.Call, model: ast.expr) -> bool:
    """Whether the model comes from the caller, who may have put adapters on it, or not."""
    function = ctx.function(call)
    return function is not None and isinstance(model, ast.Name) and model.id in ctx.parameter_names(function)


def _quantized(ctx: PythonContext) -> Evidence | None:
    """Where the file loads a quantized model, or one whose quantization is not in sight."""
    for call in ctx.all(ast.Call):
        for word in ("load_in_4bit", "load_in_8bit", "quantization_config"):
            given = keyword(call, word)
            if given is not None and literal(given) not in (False, None):
                return ctx.evidence(given, f"the model is quantized: `{word}`")
    return None


def _is_ours(ctx: PythonContext, call: ast.Call, model: ast.expr, method: str) -> bool:
    """Whether the method is Hugging Face's, and nobody lets the inputs require gradients."""
    if method == "activation_checkpointing_enable" and not proves(ctx, "transformers", RENAMED):
        return False
    foreign = is_foreign_model(ctx, model)
    if foreign or (foreign is None and (_defines_enabler(ctx) or not _imports_transformers(ctx))):
        return False
    here = ctx.method(call)
    if here is not None and ctx.name(model) in (here.self, "super"):
        return False
    if isinstance(model, ast.Call) and ctx.name(model.func) == "super":
        return False
    return not gives_inputs_gradients(ctx) and not becomes_peft_model(ctx, call, model)


def _defines_enabler(ctx: PythonContext) -> bool:
    """Whether the project has a function or method of that name of its own."""
    for path in ctx.index.search(ctx.path, tuple(name.encode() for name in ENABLERS)):
        facts = ctx.index.facts(path)
        methods = (klass.methods for klass in facts.classes.values()) if facts else ()
        if facts is None or any(name in names for names in (facts.functions, *methods) for name in ENABLERS):
            return True
    return False


def _imports_transformers(ctx: PythonContext) -> bool:
    """Whether the project imports Transformers or PEFT."""
    for path in ctx.index.search(ctx.path, (b"transformers", b"peft")):
        facts = ctx.index.facts(path)
        for each in facts.imports if facts else ():
            if each.target.partition(".")[0] in ("transformers", "peft"):
                return True
    return False


def _switched_on_again(ctx: PythonContext) -> Mapping[ast.Call, tuple[str, ast.expr | None]] | None:
    """The calls of this file that switch checkpointing on once more, reentrant; None where there may be others."""
    if proves(ctx, "transformers", ">=5"):
        return {}
    for path in ctx.index.search(ctx.path, tuple(name.encode() for name in sorted(PARSERS))):
        facts = ctx.index.facts(path)
        if facts is None or not facts.called.isdisjoint(PARSERS):
            return None
    paths = ctx.index.search(ctx.path, (b"gradient_checkpointing",))
    if any(_switches_on(ctx, path) for path in paths if path != ctx.path):
        return None
    arguments = _implicit_arguments(ctx) if ctx.path in paths else {}
    return None if arguments is None else {**implicit_enablers(ctx), **arguments}


def _switches_on(ctx: PythonContext, path: str) -> bool:
    """Whether another file may switch checkpointing on, reentrant."""

    def found() -> bool:
        other = ctx.other(path)
        return other is None or bool(implicit_enablers(other)) or _implicit_arguments(other) != {}

    return ctx.index.recall((_switches_on, path), found)


def _implicit_arguments(ctx: PythonContext) -> Mapping[ast.Call, tuple[str, ast.expr | None]] | None:
    """The training arguments in this file with which the Trainer does; None where some cannot be told."""
    found: dict[ast.Call, tuple[str, ast.expr | None]] = {}
    for call in ctx.all(ast.Call):
        given, splat = keyword(call, "gradient_checkpointing"), has_splat(call)
        if (given is None and not splat) or not arguments_class(ctx, call):
            continue
        if splat or literal(given) not in (True, False):
            return None
        kwargs = keyword(call, "gradient_checkpointing_kwargs")
        if literal(given) is True and is_implicit(kwargs):
            found[call] = ("gradient_checkpointing_kwargs", kwargs)
    return found
