"""An adapter is loaded without `is_trainable=True`, and trained.

## Why is this bad?
`PeftModel.from_pretrained` loads an adapter for inference: none of its weights requires a gradient. The first
`backward` raises; where the inputs of the model require gradients, as with activation checkpointing in a Trainer,
training runs and no weight moves: the loss was 4.1723 before and after five steps, 4.1559 with `is_trainable=True`
(run with PEFT 0.21, Transformers 5.23):

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

## Fix safety
Unsafe: `is_trainable=True` is added, and the adapter is trained, which is the point. An adapter of prompt tuning cannot
be loaded so: PEFT raises a `ValueError`.

## When it is not offered
Silent where the model is merged, gets another adapter, or is given to no Trainer and no optimizer in sight; where a
Trainer only evaluates; where a test decides for loading and against training. Possible where the program makes
parameters require gradients, where training does not surely follow, and where the program makes no adapter that tells
that it is none of prompt tuning, which is trained all the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import has_splat, keyword
from codemods.analysis.mentions import mentions
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.frameworks.trainer_config.adapters import thawing
from codemods.frameworks.trainer_config.trainings import are_parted, decided, is_trainer, made_of, starts, trainings
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import edit_call

_CLASSES = ("PeftModel", "PeftModelForCausalLM", "PeftModelForSeq2SeqLM", "PeftModelForSequenceClassification")
_ALONE = ("AutoPeftModel", "AutoPeftModelForCausalLM", "AutoPeftModelForSeq2SeqLM")
_LOADING = frozenset(f"peft.{name}.from_pretrained" for name in (*_CLASSES, *_ALONE))
_WEIGHTS = ("LoraConfig", "AdaLoraConfig", "LoHaConfig", "LoKrConfig", "IA3Config", "VeraConfig", "OFTConfig")
_PROMPTS = ("PromptTuningConfig", "PrefixTuningConfig", "PromptEncoderConfig", "MultitaskPromptTuningConfig")
_THAWING = frozenset(
    {"set_requires_grad", "set_adapter", "load_adapter", "enable_adapter_layers", "enable_adapters"}
    | {"disable_adapter"}
)

rule = Rule(
    code="PFT001",
    name="adapter-loaded-frozen",
    summary="an adapter is loaded without `is_trainable=True`, and trained",
    fix_title="Load the adapter for training",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    triggers=(("from_pretrained",), (*_CLASSES, *_ALONE)),
    imports=("peft",),
    references=("https://huggingface.co/docs/peft/package_reference/peft_model#peft.PeftModel.from_pretrained",),
)


@rule.on(ast.Call)
def adapter_loaded_frozen(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if not ctx.means(call.func, _LOADING) or has_splat(call) or keyword(call, "is_trainable") or len(call.args) > 2:
        return
    for training, models in trainings(ctx):
        for model in models:
            makers, complete = made_of(ctx, model)
            for start in starts(ctx, training) if call in makers else ():
                follows = training_surely_follows(ctx, call, start, makers, complete)
                if follows.is_no:
                    continue
                yield rule.finding(
                    call,
                    fix=[edit_call(call, last=[("is_trainable", "True")])],
                    message="the adapter is loaded with frozen weights: training moves none of them",
                    evidence=[ctx.evidence(start, "it is trained here")],
                    is_bug=[follows, frozen_adapter_stays(ctx, training), adapter_has_no_prompts(ctx, call)],
                )
                return


@question
def training_surely_follows(
    ctx: PythonContext, call: ast.Call, start: ast.Call, makers: list[ast.AST], complete: bool
) -> Answer:
    """Whether what a call loads surely is trained where it is loaded, and nothing else in its place."""
    flow = ctx.flow_of(ctx.scope(call))
    if ctx.scope(call) is not ctx.scope(start):
        return no() if decided(ctx, call) else unknown(ctx.evidence(start, "another model may be trained here"))
    if are_parted(ctx, call, start):
        return no()
    alone = complete and all(each is call or flow.apart(call, each) for each in makers)
    if alone and (flow.surely_follows(call, [start]) or (len(makers) == 1 and flow.dominates(call, start))):
        return yes()
    return unknown(ctx.evidence(start, "another model may be trained here, or none"))


@question
def frozen_adapter_stays(ctx: PythonContext, training: ast.Call) -> Answer:
    """Whether nothing in the program makes the weights of an adapter require gradients."""
    found = thawing(ctx, *_THAWING)
    places = [each.evidence("weights may require gradients from here on") for each in found]
    if is_trainer(ctx, training) and not ctx.means(training.func, "trl.SFTTrainer", "transformers.Trainer"):
        places.append(ctx.evidence(training, "this Trainer may switch adapters"))
    return unless(places)


@question
def adapter_has_no_prompts(ctx: PythonContext, call: ast.Call) -> Answer:
    """Whether the adapters of the program are added to weights: those of prompt tuning are trained all the same."""
    if mentions(ctx, *_WEIGHTS) and not mentions(ctx, *_PROMPTS):
        return yes()
    return unknown(ctx.evidence(call, "an adapter of prompt tuning is trained all the same"))
