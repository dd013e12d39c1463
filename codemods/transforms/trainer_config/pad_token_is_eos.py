"""The padding token is the token that ends a text, and the collator leaves padding out of the loss.

## Why is this bad?
`DataCollatorForLanguageModeling(mlm=False)` writes -100 into the labels wherever a token is the padding token. With
`pad_token = eos_token` that is the end of every text, too: of `a b <eos>` the labels are `a b -100` (run with
Transformers 5.23). The model never learns to stop, and generates up to the limit. Nothing raises and nothing warns.

## Fix safety
There is none that fits all: give the tokenizer a padding token of its own (`add_special_tokens({"pad_token": "[PAD]"})`
and `resize_token_embeddings`), take one that the vocabulary has and no text holds, or make the labels yourself.

## When it is not offered
Silent with `mlm=True`, for other collators, and where the tokenizer of the collator is surely another one. Possible
where a test decides whether the padding token is set, where it is set to something else, too, and where `mlm` is not in
sight.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, given, has_splat, literal
from codemods.analysis.mentions import Occurrence, mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule

_COLLATOR = frozenset(
    {
        "transformers.DataCollatorForLanguageModeling",
        "transformers.data.DataCollatorForLanguageModeling",
        "transformers.data.data_collator.DataCollatorForLanguageModeling",
    }
)
_END = {"pad_token": "eos_token", "pad_token_id": "eos_token_id"}

rule = Rule(
    code="HF020",
    name="pad-token-is-eos",
    summary="the padding token is the one that ends a text, and the collator leaves it out of the loss",
    fix_title="Give the tokenizer a padding token of its own",
    safety=Safety.DISPLAY,
    consequence=Consequence.SILENT,
    effect=Effect.NUMBERS,
    triggers=(tuple(_END), tuple(_END.values())),
    somewhere=(b"DataCollatorForLanguageModeling",),
    references=("https://huggingface.co/docs/transformers/main_classes/data_collator",),
)


@rule.on(ast.Assign)
def pad_token_is_eos(statement: ast.Assign, ctx: PythonContext) -> Iterator[Draft]:
    match statement:
        case ast.Assign(
            targets=[ast.Attribute(value=tokenizer, attr=pad)], value=ast.Attribute(value=same, attr=end)
        ) if _END.get(pad) == end and ctx.name(tokenizer) == ctx.name(same) is not None:
            pass
        case _:
            return
    for mention in mentions(ctx, "DataCollatorForLanguageModeling"):
        call = mention.call
        if call is None or not mention.ctx.means(call.func, _COLLATOR):
            continue
        used = argument(call, "tokenizer", 0)
        mlm = argument(call, "mlm", 1)
        if has_splat(call) or used is None or mlm is None or literal(mlm) is True:
            continue
        if not _is_the_same(ctx, tokenizer, mention.ctx, used):
            continue
        yield rule.finding(
            statement,
            message="padding is left out of the loss, and is the end of a text here: no text learns to end",
            evidence=[mention.ctx.evidence(call, "this leaves padding out")],
            is_bug=[
                masks_padding(mention.ctx, mlm),
                pads_with_the_end(ctx, statement),
                texts_end_with_it(ctx, statement),
            ],
        )
        return


def _is_the_same(ctx: PythonContext, tokenizer: ast.expr, where: PythonContext, used: ast.expr) -> bool:
    """Whether two expressions surely are one tokenizer."""
    if ctx is where and ctx.name(tokenizer) == ctx.name(used) and ctx.scope(tokenizer) is ctx.scope(used):
        return True
    mine, whole = possible_values(ctx, tokenizer, returns=True, given=given)
    others, complete = possible_values(where, used, returns=True, given=given)
    makers = {each.node for each in mine if isinstance(each.node, ast.Call)}
    return whole and complete and len(makers) == len(mine) == 1 and makers == {each.node for each in others}


@question
def masks_padding(ctx: PythonContext, mlm: ast.expr) -> Answer:
    """Whether a collator makes labels of the tokens themselves: `mlm` is false."""
    if literal(mlm) is False:
        return yes()
    return unknown(ctx.evidence(mlm, "with `mlm` other tokens are left out"))


@question
def pads_with_the_end(ctx: PythonContext, statement: ast.Assign) -> Answer:
    """Whether nothing decides against this padding token, or sets another one."""
    test = ctx.enclosing(statement, ast.If)
    places = [ctx.evidence(test.test, "this decides whether it is set")] if test is not None else []
    for store in stores(ctx, *_END):
        if store.word in _END and store.node not in statement.targets and not _is_the_end(store):
            places.append(store.evidence("another padding token"))
    for added in mentions(ctx, "add_special_tokens"):
        keys = (node.value for node in ast.walk(added.call or added.node) if isinstance(node, ast.Constant))
        if "pad_token" in keys:
            places.append(added.evidence("another padding token"))
    return unless(places)


@question
def texts_end_with_it(ctx: PythonContext, statement: ast.Assign) -> Answer:
    """Whether the program ends texts with this token, and with no other (`its_own_end`)."""
    used = [each for each in mentions(ctx, *_END.values()) if not ctx.module.contains(statement, each.node)]
    others = [each for each in stores(ctx, *_END.values()) if each.word in _END.values()]
    if others:
        return unless(each.evidence("texts may end with another token") for each in others)
    if not any(map(_is_put_at_the_end, used)):
        return unknown(ctx.evidence(statement, "whether texts end with this token is not in sight"))
    return yes()


def _is_put_at_the_end(mention: Occurrence) -> bool:
    """Whether a place adds the token to a text or to a list of tokens."""
    match mention.ctx.parent(mention.node):
        case ast.BinOp(op=ast.Add()) | ast.FormattedValue() | ast.List() | ast.AugAssign(op=ast.Add()):
            return True
        case ast.Call(func=ast.Attribute(attr="append" | "join" | "format")):
            return True
    return False


def _is_the_end(store: Occurrence) -> bool:
    """Whether a place gives a padding token the token that ends a text."""
    above = store.ctx.parent(store.node)
    return (
        isinstance(above, ast.Assign) and isinstance(above.value, ast.Attribute) and above.value.attr in _END.values()
    )
