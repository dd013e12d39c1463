"""`compute_loss` that takes `num_items_in_batch` and does nothing with it.

## Why is this bad?
Since Transformers 4.46 the Trainer leaves the division by the accumulated batches to the loss, where the model takes
`num_items_in_batch`: as many causal language models do. A method that ignores it, or calls `super().compute_loss`
without it, gives the mean of its batch, and four accumulated batches have four times the gradient (4.503 for 1.126, run
with Transformers 4.46, 4.57 and 5.23). Nothing raises and nothing warns.

## Fix safety
Safe where the method gets its loss from `super()` and hands it back: the number is handed on.

## When it is not offered
Where the method computes its loss itself: divide a sum by `num_items_in_batch`, or set
`self.model_accepts_loss_kwargs = False` after `super().__init__`. Silent where the class sets that already. Possible
where the model, or whether batches are accumulated, is not in sight.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from codemods.analysis.gradient_use import ReachedCode
from codemods.analysis.mentions import Occurrence, definers, mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks.gradients.differentiated import HF_TRAINER
from codemods.frameworks.trainer_config.overrides import (
    accumulates_batches,
    calls_of_super,
    inputs_are_as_counted,
    is_between,
    is_only_way,
    loss_is_handed_back,
    model_divides_its_loss,
)
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.effect import Effect
from codemods.model.names import LIGHTNING_MODULE
from codemods.project.index import Ref
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import parameters
from codemods.syntax.verbs import edit_call

_NUMBER = "num_items_in_batch"
_DECLARING = frozenset({"model_accepts_loss_kwargs", "loss_is_scaled_for_ga"})

rule = Rule(
    code="HF011",
    name="ignored-num-items-in-batch",
    summary="a loss that ignores `num_items_in_batch` is not divided by the accumulated batches",
    fix_title="Hand the number on",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    effect=Effect.FACTOR,
    triggers=(("compute_loss",),),
    imports=("transformers",),
    subclasses=HF_TRAINER,
    bites={"transformers": ">=4.46"},
    references=("https://github.com/huggingface/transformers/issues/34263",),
)


@rule.on(ast.FunctionDef)
def ignored_number(function: ast.FunctionDef, ctx: PythonContext) -> Iterator[Draft]:
    owner = ctx.klass(function)
    if function.name != "compute_loss" or owner is None or not isinstance(ctx.parent(function), ast.ClassDef):
        return
    if ctx.index.descends(owner, HF_TRAINER) is not True or _declares(ctx, owner):
        return
    named = _NUMBER in {each.arg for each in parameters(function)}
    rest = function.args.kwarg.arg if function.args.kwarg is not None else ""
    if (not named and not rest) or _reads(function, _NUMBER if named else rest):
        return
    above = calls_of_super(ctx, function)
    handed = _NUMBER if named else f'{rest}.get("{_NUMBER}")'
    mends = len(above) == 1 and is_only_way(function, above[0], ctx) and len(above[0].args) < 4
    mends = mends and not is_between(ctx, function)
    yield rule.finding(
        function,
        fix=[edit_call(above[0], last=[(_NUMBER, handed)])] if mends else None,
        message=f"`{function.name}` ignores `{_NUMBER}`: accumulated batches are not averaged",
        is_bug=[
            accumulates_batches(ctx, function),
            model_divides_its_loss(ctx, owner),
            nobody_declares(ctx),
            no_base_of_the_project_divides(ctx, function),
            nothing_divides_by_a_number(ctx, function),
            no_gradient_is_divided(ctx),
            *(
                [loss_is_handed_back(function, above[0], ctx)] if mends else []
            ),  # else it may be divided (`divided_later`)
        ],
        is_right=[loss_is_handed_back(function, above[0], ctx), inputs_are_as_counted(function, above[0], ctx)]
        if mends
        else [],
    )


def _declares(ctx: PythonContext, owner: Ref) -> bool:
    """Whether a class, or one that it inherits from, says itself who divides its loss (`declared_by_a_base`)."""
    for ref in ctx.index.lineage(owner).refs:
        there = ctx.other(ref.path)
        nodes = [node for each in (there.classes(ref.name) if there else ()) for node in ast.walk(each)]
        if any(getattr(node, "attr", getattr(node, "id", "")) in _DECLARING for node in nodes):
            return True
        if any(isinstance(node, ast.Call) and _sets_any(node) for node in nodes):
            return True
    return False


def _reads(function: ast.FunctionDef, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for statement in function.body for n in ast.walk(statement))


def _sets_any(call: ast.Call) -> bool:
    """Whether a call sets an attribute whose name only a run can tell (`declared_by_a_computed_name`)."""
    name = (
        call.args[1] if isinstance(call.func, ast.Name) and call.func.id == "setattr" and len(call.args) > 1 else None
    )
    return name is not None and (not isinstance(name, ast.Constant) or name.value in _DECLARING)


def _may_be_a_trainer(store: Occurrence) -> bool:
    """Whether what attributes are set of, by computed names, may be a Trainer or a model (`set_by_a_table`)."""
    owner = store.receiver
    origins = store.ctx.origin(owner) if owner is not None else frozenset()
    return not origins


@question
def no_base_of_the_project_divides(ctx: PythonContext, function: ast.FunctionDef) -> Answer:
    """Whether no class of the project stands between, whose `compute_loss` may divide (`divided_by_a_base`)."""
    return unknown(ctx.evidence(function, "a base of the project may divide")) if is_between(ctx, function) else yes()


@question
def nothing_divides_by_a_number(ctx: PythonContext, function: ast.FunctionDef) -> Answer:
    """Whether a method, and what it calls in the program, divides by nothing but what it measures on its batch.

    A number that goes by a name may be that of the accumulated batches (`divided_by_a_mixin`).
    """
    return unless(
        where.evidence(node, "this may divide by the accumulated batches")
        for where, node in ReachedCode([(ctx, function)]).nodes
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div)
        if isinstance(node.right if isinstance(node, ast.BinOp) else node.value, (ast.Name, ast.Attribute))
    )


@question
def no_gradient_is_divided(ctx: PythonContext) -> Answer:
    """Whether no code of the program changes the gradients of parameters (`divided_by_a_callback`)."""
    return unless(each.evidence("this may divide the gradients") for each in mentions(ctx, "grad") if each.call is None)


@question
def nobody_declares(ctx: PythonContext) -> Answer:
    """Whether nothing in the program tells a Trainer, or a model, who divides its loss (`declared_from_outside`).

    Nor counts in another way (`counts_nothing`, `step_of_a_mixin`), nor says so by a keyword (`declared_by_a_keyword`).
    """
    words = (*_DECLARING, "accepts_loss_kwargs")
    stored = (each for each in stores(ctx, *words) if each.word != "setattr" or _may_be_a_trainer(each))
    counting = (
        each
        for each in definers(ctx, "get_batch_samples", "_get_num_items_in_batch", "training_step")
        if ctx.index.descends(Ref(each[0], each[1].name), LIGHTNING_MODULE) is not True
    )
    return unless(
        [
            *(each.evidence("this tells who divides the loss") for each in stored),
            *(Evidence(path, klass.line, f"`{klass.name}` may count in another way") for path, klass, _ in counting),
            *_declared(ctx, words),
        ]
    )


def _declared(ctx: PythonContext, words: Collection[str]) -> Iterator[Evidence]:
    """The calls that are given one of some words, and the classes and modules that set one."""
    for path in ctx.index.search(ctx.path, tuple(f"{word}=".encode() for word in words)):
        module = ctx.index.syntax(path)
        for call in module.all(ast.Call) if module is not None else ():
            if any(each.arg in words for each in call.keywords):
                yield Evidence(path, call.lineno, "this may tell who divides the loss")
    for path in ctx.index.search(ctx.path, tuple(word.encode() for word in words)):
        module = ctx.index.syntax(path)
        for node in module.all(ast.Assign) if module is not None else ():  # of a class (declared_by_a_class)
            if any(isinstance(each, ast.Name) and each.id in words for each in node.targets):
                yield Evidence(path, node.lineno, "this may tell who divides the loss")
