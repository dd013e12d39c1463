"""Tokens are added to a tokenizer, and the adapter trains no embeddings.

## Why is this bad?
`resize_token_embeddings` gives new tokens random embeddings. An adapter freezes everything else, and by default, as
with `target_modules="all-linear"`, it holds no embeddings: after three steps no row of a new token had moved, neither
of the embeddings nor of the head (run with PEFT 0.21). Nothing raises and nothing warns.

## Fix safety
There is none that fits all: `trainable_token_indices` trains the rows of some tokens,
`modules_to_save=["embed_tokens", "lm_head"]` all of the embeddings and the head; their names differ by model.

## When it is not offered
Silent where the configuration names modules to save, tokens or embeddings, where its modules are not in sight, for
padding tokens, and where the tokens, the model and its adapter are not all in sight. Possible where the program makes
weights require gradients or reads embeddings, and where it is not in sight which tokens are added.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, keyword, named_calls
from codemods.analysis.mentions import mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks.trainer_config.adapters import adapted, holds_no_embeddings, texts, thawing
from codemods.frameworks.trainer_config.trainings import are_one_model, are_parted, trainings
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule

_KEYS = ("additional_special_tokens", "extra_special_tokens")
_PLACEHOLDERS = ("pad", "image", "video", "audio", "speech", "img")

rule = Rule(
    code="PFT005",
    name="new-token-embeddings-untrained",
    summary="tokens are added, and the adapter trains no embeddings",
    fix_title="Let the adapter train the embeddings of the new tokens",
    safety=Safety.DISPLAY,
    consequence=Consequence.SILENT,
    triggers=(("resize_token_embeddings",), ("LoraConfig",), ("add_tokens", "add_special_tokens")),
    references=("https://huggingface.co/docs/peft/developer_guides/lora#efficiently-train-tokens-alongside-lora",),
)


@rule.on(ast.Call)
def new_token_embeddings_untrained(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if not ctx.means(call.func, "peft.LoraConfig") or not holds_no_embeddings(ctx, call):
        return
    for adapting, model, config in adapted(ctx):
        found, complete = possible_values(ctx, config, ordered=True)
        if not complete or [each.node for each in found] != [call]:
            continue
        for resized in named_calls(ctx, "resize_token_embeddings"):
            added = _added(ctx, resized)
            if added is not None and _gets(ctx, resized, model) and not are_parted(ctx, resized, adapting):
                yield rule.finding(
                    call,
                    message="the adapter trains no embeddings: those of the added tokens stay as they were made",
                    evidence=[ctx.evidence(added, "tokens are added here")],
                    is_bug=[
                        tokens_surely_are_new(ctx, added),
                        adapter_surely_follows(ctx, resized, adapting),
                        embeddings_stay_frozen(ctx),
                    ],
                )
                return


def _added(ctx: PythonContext, resized: ast.Call) -> ast.Call | None:
    """The call before a change of the embeddings that adds tokens, other than those for padding."""
    flow = ctx.flow_of(ctx.scope(resized))
    for call in named_calls(ctx, "add_tokens", "add_special_tokens"):
        tokens = _tokens(call)
        if tokens is None or not flow.reaches(call, resized) or are_parted(ctx, call, resized):
            continue
        if not any(part in text.lower() for text in texts(tokens) for part in _PLACEHOLDERS):
            return call
    return None


def _tokens(call: ast.Call) -> ast.expr | None:
    """What a call adds to a tokenizer, special tokens only where they are additional ones."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "add_tokens":
        return argument(call, "new_tokens", 0)
    special = argument(call, "special_tokens_dict", 0)
    pairs = zip(special.keys, special.values, strict=True) if isinstance(special, ast.Dict) else ()
    return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value in _KEYS), None)


def _gets(ctx: PythonContext, resized: ast.Call, model: ast.expr) -> bool:
    """Whether the model with new embeddings surely is the one that gets an adapter, and is not trained before."""
    flow, owner = ctx.flow_of(ctx.scope(resized)), getattr(resized.func, "value", None)
    if owner is None or not are_one_model(ctx, owner, model):
        return False
    return not any(flow.reaches(resized, each) and flow.reaches(each, model) for each, _ in trainings(ctx))


@question
def tokens_surely_are_new(ctx: PythonContext, added: ast.Call) -> Answer:
    """Whether the tokens that are added are in sight, and none that something else stands in for (`in_a_list`)."""
    if texts(_tokens(added)):
        return yes()
    return unknown(ctx.evidence(added, "which tokens these are is not in sight"))


@question
def adapter_surely_follows(ctx: PythonContext, resized: ast.Call, adapting: ast.Call) -> Answer:
    """Whether a model that gets new embeddings surely gets the adapter, too, or the other way round."""
    flow = ctx.flow_of(ctx.scope(resized))
    if flow.dominates(resized, adapting) or flow.surely_follows(resized, [adapting]):
        return yes()
    return unknown(ctx.evidence(resized, "the model may have no adapter then"))


@question
def embeddings_stay_frozen(ctx: PythonContext) -> Answer:
    """Whether nothing in the program trains embeddings, writes them, or puts other vectors in their place."""
    places = [each.evidence("embeddings may be trained from here on") for each in thawing(ctx)]
    for each in mentions(ctx, "get_input_embeddings", "embed_tokens", "lm_head", "wte"):
        places.append(each.evidence("embeddings may be set here"))
    for each in stores(ctx, "modules_to_save", "trainable_token_indices", "target_modules"):
        places.append(each.evidence("the adapter may hold embeddings"))
    used = (call for call in ctx.all(ast.Call) if keyword(call, "inputs_embeds") is not None)
    return unless([*places, *(ctx.evidence(call, "other vectors may stand for the tokens") for call in used)])
