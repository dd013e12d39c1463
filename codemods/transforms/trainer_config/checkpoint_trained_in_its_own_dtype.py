"""A causal language model is loaded without a dtype, and all of its weights are trained.

## Why is this bad?
Since Transformers 5 `from_pretrained` keeps the dtype of the checkpoint, which is bfloat16 for most of these models;
before, it was float32. Small steps round away in 16 bits: of 160 weights of norms none moved in 20 steps of AdamW with
a rate of 2e-5, where all moved in float32, and the weights changed by 38 % of what they should (run with Transformers
5.23). It is so in mixed precision, too, which wants weights in float32. Nothing raises and nothing warns.

## Fix safety
Unsafe: with `dtype=torch.float32` the weights take twice the memory, and so do the states of the optimizer.

## When it is not offered
Possible at most: the dtype of a checkpoint is not in sight. Silent where a dtype is given, where the model is
quantized, gets adapters or is converted, where no Trainer and no optimizer in sight is given it, for checkpoints of
GPT-2, and where the requirements say Transformers 4.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, given, keyword, literal
from codemods.analysis.mentions import mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import unknown
from codemods.frameworks.trainer_config.trainings import trainings
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own
from codemods.syntax.verbs import edit_call

_CLASSES = (
    *("AutoModelForCausalLM", "AutoModelForImageTextToText", "LlamaForCausalLM", "MistralForCausalLM"),
    *("Qwen2ForCausalLM", "Qwen3ForCausalLM", "GemmaForCausalLM", "Gemma2ForCausalLM", "Phi3ForCausalLM"),
)
_TELLING = ("dtype", "torch_dtype", "quantization_config", "load_in_4bit", "load_in_8bit", "config")
_ADAPTING = frozenset({"get_peft_model", "add_adapter", "prepare_model_for_kbit_training", "inject_adapter_in_model"})

rule = Rule(
    code="HF016",
    name="checkpoint-trained-in-its-own-dtype",
    summary="a model is trained in the dtype of its checkpoint, which may be one of 16 bits",
    fix_title="Load the weights in float32",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    effect=Effect.NUMBERS,
    triggers=(("from_pretrained",), _CLASSES),
    imports=("transformers",),
    bites={"transformers": ">=5"},
    references=("https://github.com/huggingface/transformers/blob/main/MIGRATION_GUIDE_V5.md",),
)


@rule.on(ast.Call)
def in_its_own_dtype(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if not ctx.means(call.func, frozenset(f"transformers.{name}.from_pretrained" for name in _CLASSES)):
        return
    name = literal(argument(call, "pretrained_model_name_or_path", 0))
    spread = _spread(ctx, call)
    if spread is None or spread & {*_TELLING} or any(keyword(call, each) for each in _TELLING):
        return
    if isinstance(name, str) and "gpt2" in name:
        return
    trained = _trained(ctx, call)
    spelled = ctx.spell("torch.float32", at=call)
    if trained is None or _is_changed(ctx, call):
        return
    where, use = trained
    yield rule.finding(
        call,
        fix=[edit_call(call, last=[("dtype", spelled.code)])] if spelled is not None else None,
        needs=[spelled.need] if spelled is not None else [],
        message=f"`{(ctx.name(call.func) or '').rpartition('.')[0]}` keeps the dtype of the checkpoint, and all of its "
        "weights are trained",
        evidence=[where.evidence(use, "it is trained here")],
        is_bug=[unknown(ctx.evidence(call, "the checkpoint may be in 32 bits"))],
    )


def _spread(ctx: PythonContext, call: ast.Call) -> frozenset[str] | None:
    """The arguments that `**` gives a call out of dictionaries in sight (`shared_arguments`); None: others, too."""
    names: set[str] = set()
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    for held in (each.value for each in call.keywords if each.arg is None):
        uses = (n for n in own(ctx.scope(call)) if isinstance(n, ast.Name) and ctx.name(n) == ctx.name(held))
        for above in (ctx.parent(each) for each in uses):
            if isinstance(above, ast.Subscript) and isinstance(literal(above.slice), str):
                names.add(str(literal(above.slice)))
            elif isinstance(above, (ast.Subscript, ast.Attribute)):
                return None  # something may be put into it
        found, complete = possible_values(ctx, held)
        for each in found:
            match each.node:
                case ast.Dict(keys=keys) if all(isinstance(literal(key), str) for key in keys):
                    names |= {str(literal(key)) for key in keys}
                case ast.Call(func=func, args=[], keywords=words) if each.ctx.name(func) == "dict":
                    if any(word.arg is None for word in words):
                        return None
                    names |= {word.arg for word in words if word.arg}
                case _:
                    return None
        if not complete or not found:
            return None
    return frozenset(names)


def _is_it(ctx: PythonContext, node: ast.expr, call: ast.Call) -> bool:
    """Whether an expression may be what a call loads."""
    return any(each.node is call and not each.path for each in possible_values(ctx, node, returns=True, given=given)[0])


def _trained(ctx: PythonContext, call: ast.Call) -> tuple[PythonContext, ast.Call] | None:
    """The call that gives a model to a Trainer, or its parameters to an optimizer."""
    return next(((ctx, training) for training, makers in _makers(ctx) if call in makers), None)


def _makers(ctx: PythonContext) -> list[tuple[ast.Call, frozenset[ast.AST]]]:
    """The trainings of a file, each with what may make its models: found once, whatever number is loaded."""
    if (_makers,) not in ctx.memo:
        ends = (
            (training, [possible_values(ctx, model, returns=True, given=given)[0] for model in models])
            for training, models in trainings(ctx)
        )
        ctx.memo[_makers,] = [
            (training, frozenset(each.node for found in several for each in found if not each.path))
            for training, several in ends
        ]
    known: list[tuple[ast.Call, frozenset[ast.AST]]] = ctx.memo[_makers,]
    return known


def _is_changed(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether the program puts adapters on a model, freezes parts of it, or converts what is loaded."""
    if any(True for _ in mentions(ctx, *_ADAPTING)) or any(
        each.word == "requires_grad" for each in stores(ctx, "requires_grad")
    ):
        return True
    for mention in mentions(ctx, "float", "to", "requires_grad_"):
        used = mention.call
        if used is None or mention.receiver is None or not _is_it(mention.ctx, mention.receiver, call):
            continue
        if mention.word != "to" or any(mention.ctx.means(each, "torch.float32", "torch.float") for each in used.args):
            return True
    return False
