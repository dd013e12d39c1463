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

import ast
import dataclasses
from collections.abc import Iterator

from codemods.analysis.calls import argument, keyword, literal
from codemods.analysis.instances import called, may_be_a_parameter
from codemods.analysis.python_context import PythonContext
from codemods.analysis.sources import sources
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks.checkpointing.closures import late_bound
from codemods.frameworks.checkpointing.cut_off import trl_leaves_the_inputs
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
    inputs_get_no_gradients,
    no_hook_sees_the_inputs,
    unsloth,
)
from codemods.frameworks.trainer_arguments import TRAINER_ARGUMENTS, arguments_class
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.effect import Effect
from codemods.model.names import CHECKPOINT, CHECKPOINT_SEQUENTIAL
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.syntax.module import is_none, own
from codemods.syntax.verbs import replace

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
    effect=Effect.NEW_GRADIENTS,
    follows=True,
    knows=("requires_grad", "requires_grad_"),
    triggers=(("use_reentrant",),),
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
INPUT_GRADS = "Call `model.enable_input_require_grads()`"


@rule.on(ast.Call)
def reentrant_call(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """`checkpoint(block, x, use_reentrant=True)`."""
    given = keyword(call, "use_reentrant")
    if given is None or literal(given) is not True or any(k.arg is None for k in call.keywords):
        return
    function = called(ctx, call)
    if not function or not function <= CHECKPOINT:
        return
    why, shown = None if CHECKPOINT_SEQUENTIAL in function else _missing_input(call), None
    is_bug: list[Answer] = []
    if why is None and (below := _frozen_below(call, ctx)) is not None:
        shown, why = below[0], below[0].why
        is_bug = [
            inputs_get_no_gradients(ctx, call),
            no_hook_sees_the_inputs(ctx),
            is_of_this_model(ctx, call, *below),
            no_parameter_joins_the_inputs(ctx, call),
        ]
    if why is None:
        return
    remedies: dict[str, Remedy] = {}
    late = late_bound(ctx, call.args[0]) if call.args else None
    if late is not None:
        why += f"; pass `{late}` as an input, for it has another value when it is recomputed"
    elif not forbids_non_reentrant(ctx, partly_frozen=True):
        remedies["non-reentrant"] = Remedy([replace(given, "False")])
    if shown is not None and (insertion := input_grads(ctx, call)) is not None:
        remedies["input-grads"] = Remedy(insertion, INPUT_GRADS)
    message = f"`checkpoint` with `use_reentrant=True`: {why}"
    yield rule.offer(call, remedies, message=message, is_bug=is_bug, evidence=[shown] if shown else [])


@rule.on(ast.Call)
def reentrant_kwargs(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """`{"use_reentrant": True}` for a model whose adapters are already on, or for its Trainer."""
    match call.func:
        case ast.Attribute(value=model, attr=method) if method in ENABLERS:
            value = reentrant_item(argument(call, ENABLERS[method], 0))
            if value is None or becomes_peft_model(ctx, call, model):
                return
        case _:
            value = reentrant_item(keyword(call, "gradient_checkpointing_kwargs"))
            if value is None or literal(keyword(call, "gradient_checkpointing")) is not True:
                return
            if not arguments_class(ctx, call) & TRAINER_ARGUMENTS:
                return
    if gives_inputs_gradients(ctx) or not allows(ctx, "transformers", "<5") or unsloth(ctx):
        return
    if (trained := adapters(ctx)) is None:
        return
    remedies: dict[str, Remedy] = {}
    if not forbids_non_reentrant(ctx, partly_frozen=True):
        remedies["non-reentrant"] = Remedy([replace(value, "False")])
    if (insertion := input_grads(ctx, call)) is not None:
        remedies["input-grads"] = Remedy(insertion, INPUT_GRADS)
    is_bug = [inputs_get_no_gradients(ctx, call), is_of_this_model(ctx, call, trained, None)]
    is_bug.append(trl_leaves_the_inputs(ctx))
    message = f"`{ctx.written(call.func)}` with `use_reentrant: True`, and adapters are trained: they get no gradient"
    yield rule.offer(call, remedies, message=message, is_bug=is_bug, bites={"transformers": "<5"}, evidence=[trained])


def _missing_input(call: ast.Call) -> str | None:
    """Why the call itself shows that no input can require a gradient."""
    others = [k.arg for k in call.keywords if k.arg not in OPTIONS]
    if others and "function" not in others:
        return f"it refuses keyword inputs, as `{others[0]}=` here"
    if not call.args or "function" in others or any(isinstance(a, ast.Starred) for a in call.args):
        return None  # without any input, it is a decorator
    inputs = call.args[1:]
    if not inputs:
        return "it has no input, so that no gradient reaches the parameters inside"
    given = [each for each in inputs if not is_none(each)]
    if given and all(isinstance(each, (ast.Dict, ast.List, ast.Tuple)) for each in given):
        return "its inputs are packed, so that no gradient reaches the parameters inside"
    return None


def _frozen_below(call: ast.Call, ctx: PythonContext) -> tuple[Evidence, str | None] | None:
    """What shows that nothing below the block requires a gradient, with the attribute that is frozen."""
    if gives_inputs_gradients(ctx) or _sets_requires_grad(call, ctx):
        return None
    if _is_hugging_face(call, ctx) and (trained := adapters(ctx)) is not None:
        why = "adapters are trained, and no gradient reaches them if the embeddings are frozen"
        return dataclasses.replace(trained, why=why), None
    if (found := frozen_embeddings(ctx)) is not None:
        why = "embeddings are frozen, so that no gradient reaches the blocks above them"
        return dataclasses.replace(found[0], why=why), found[1].rpartition(".")[2]
    return None


@question
def is_of_this_model(ctx: PythonContext, call: ast.Call, shown: Evidence, attribute: str | None) -> Answer:
    """Whether what is frozen, or gets adapters, belongs to the model that the checkpoint is part of."""
    klass = ctx.klass(call)
    if attribute is not None and klass is not None and next(ctx.index.assigned(klass, attribute), None) is not None:
        return yes()
    function = ctx.enclosing(call, ast.FunctionDef)
    if klass is None and shown.path == ctx.path and function is not None and shown.line in _lines(function):
        return yes()
    what = "the adapters may be on" if attribute is None else f"`{attribute}` may be a part of"
    return unknown(dataclasses.replace(shown, why=f"{what} another model"))


@question
def no_parameter_joins_the_inputs(ctx: PythonContext, call: ast.Call) -> Answer:
    """Whether no parameter of the module is a part of what a block is given: prompts are trained (`a_prompt`)."""
    joined = [node for value in call.args[1:] for node in sources(ctx, ctx.scope(call), value)]
    return unless(
        ctx.evidence(node, f"`{ctx.written(node)}` may get a gradient")
        for node in joined
        if isinstance(node, ast.Attribute) and may_be_a_parameter(ctx, node)
    )


def _lines(node: ast.FunctionDef) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_hugging_face(call: ast.Call, ctx: PythonContext) -> bool:
    """Whether the call stands in a model of Hugging Face's kind, which adapters are put on."""
    klass = ctx.klass(call)
    bases = ctx.index.lineage(klass).external if klass is not None else frozenset[str]()
    return any(base.startswith("transformers.") for base in bases)


def _sets_requires_grad(call: ast.Call, ctx: PythonContext) -> bool:
    """Whether the function around makes a tensor require gradients."""
    function = ctx.function(call)
    for node in own(function) if function is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(attr="requires_grad_")):
                if literal(argument(node, "requires_grad", 0)) is not False:
                    return True
            case ast.Assign(targets=[ast.Attribute(attr="requires_grad")], value=value):
                if literal(value) is not False:
                    return True
    return False
