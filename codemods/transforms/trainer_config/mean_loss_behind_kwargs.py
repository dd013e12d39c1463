"""A model of the project whose `forward` takes `**kwargs` and returns a mean loss, in a Trainer that accumulates.

## Why is this bad?
The Trainer takes `**kwargs` in `forward` for a promise: the model divides its loss by `num_items_in_batch`. It does
not divide by the accumulated batches then, and four of them have four times the gradient (21.4 for 5.3, run with
Transformers 4.46, 4.57 and 5.23). Nothing raises and nothing warns.

## Fix safety
Unsafe: `accepts_loss_kwargs = False` in the class says that it does not. Losses and gradients shrink by the number of
batches, which is the point; a learning rate that was tuned on the large ones may have to be raised. Before Transformers
4.48 nobody asks for the attribute: leave `**kwargs` out there.

## When it is not offered
Silent where `forward` reads or hands on its keywords, where the class says `accepts_loss_kwargs` itself, and where no
Trainer in sight is given the model. Possible where it is not in sight whether batches are accumulated, which model a
Trainer is given, and where that is a Trainer of the project.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import takewhile

from codemods.analysis.calls import argument, given
from codemods.analysis.class_building import extending
from codemods.analysis.mentions import mentions
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, unknown, yes
from codemods.frameworks.gradients.differentiated import HF_TRAINER
from codemods.frameworks.trainer_config.overrides import accumulates_batches
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.model.names import TORCH_MODULE
from codemods.project.index import Ref
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own
from codemods.syntax.verbs import Verb, insert_after, insert_before

rule = Rule(
    code="HF018",
    name="mean-loss-behind-kwargs",
    summary="`forward` takes `**kwargs` and ignores them: the Trainer does not average accumulated batches",
    fix_title="Say that the model takes no arguments of a loss",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    effect=Effect.FACTOR,
    triggers=(("forward",),),
    somewhere=(b"Trainer",),
    imports=("transformers",),
    subclasses=TORCH_MODULE,
    bites={"transformers": ">=4.46"},
    references=("https://github.com/huggingface/transformers/blob/main/src/transformers/trainer.py",),
)

_MODELS = re.compile(r"transformers\.\w*(?:PreTrainedModel|ForCausalLM|For\w*Classification|Model)")
"""Classes of Transformers that are modules."""


@rule.on(ast.FunctionDef)
def mean_loss(function: ast.FunctionDef, ctx: PythonContext) -> Iterator[Draft]:
    owner, klass = ctx.klass(function), ctx.parent(function)
    if (
        function.name != "forward"
        or function.args.kwarg is None
        or owner is None
        or not isinstance(klass, ast.ClassDef)
    ):
        return
    if not _returns_a_loss(function) or not _is_a_model(ctx, owner):
        return
    named = (getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(klass))
    if "accepts_loss_kwargs" in named or _is_used(function, function.args.kwarg.arg):
        return
    if (trainer := _trainer_of(ctx, owner)) is None:
        return
    where, call, surely = trainer
    yield rule.finding(
        function,
        fix=[_declared(klass)],
        message=f"`{klass.name}.forward` ignores `**{function.args.kwarg.arg}`: accumulated batches are not averaged",
        evidence=[where.evidence(call, "this Trainer leaves the division to the model")],
        is_bug=[surely, accumulates_batches(ctx, function)],
    )


def _declared(klass: ast.ClassDef) -> Verb:
    """The attribute, behind the docstring and the attributes that a class begins with."""
    said = "accepts_loss_kwargs = False"
    leading = [*takewhile(lambda each: isinstance(each, ast.Expr | ast.Assign | ast.AnnAssign), klass.body)]
    return insert_after(leading[-1], said) if leading else insert_before(klass.body[0], said)


def _is_used(function: ast.FunctionDef, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for statement in function.body for n in ast.walk(statement))


def _returns_a_loss(function: ast.FunctionDef) -> bool:
    """Whether a method returns what a Trainer takes for its loss: the item of that name, or the first of several."""
    for node in own(function):
        match node:
            case ast.Return(value=ast.Dict(keys=keys)) if any(
                isinstance(k, ast.Constant) and k.value == "loss" for k in keys
            ):
                return True
            case ast.Return(value=ast.Call(keywords=keywords)) if any(k.arg == "loss" for k in keywords):
                return True
            case ast.Return(value=ast.Tuple(elts=[_, _, *_])):
                return True
    return False


def _is_a_model(ctx: PythonContext, owner: Ref) -> bool:
    """Whether a class is a module of torch, or extends a model of Transformers (`trainer_of_its_own`)."""
    bases = ctx.index.lineage(owner).external
    return ctx.index.descends(owner, TORCH_MODULE) is True or any(_MODELS.fullmatch(base) for base in bases)


def _trainer_of(ctx: PythonContext, owner: Ref) -> tuple[PythonContext, ast.Call, Answer] | None:
    """The call that gives a model of a class to a Trainer, which makes the loss of it, and whether it surely does."""
    perhaps: tuple[PythonContext, ast.Call, Answer] | None = None
    heirs = {each.name: each for each in extending(ctx, HF_TRAINER) if ctx.index.method(each, "compute_loss") is None}
    for mention in mentions(ctx, *(each.rpartition(".")[2] for each in HF_TRAINER), *heirs):
        call, there = mention.call, mention.ctx
        model = argument(call, "model", 0) if call is not None else None
        made_here = there.origin(call.func) if call is not None else frozenset()
        known_trainers = HF_TRAINER | {str(each) for each in heirs.values()}
        if call is None or model is None or not made_here or not made_here <= known_trainers:
            continue
        found, complete = possible_values(there, model, returns=True, given=given)
        made = [each.ctx.origin(each.node.func) for each in found if isinstance(each.node, ast.Call) and not each.path]
        known = complete and bool(made) and len(made) == len(found) and all(made)
        if known and made_here <= HF_TRAINER and all(each == {str(owner)} for each in made):
            return there, call, yes()
        if any(str(owner) in each for each in made) or (not known and not _is_made_in_sight(ctx, owner)):
            perhaps = there, call, unknown(there.evidence(call, "this may train another model, or in its own way"))
    return perhaps


def _is_made_in_sight(ctx: PythonContext, owner: Ref) -> bool:
    """Whether a call makes a model of a class: where that goes was looked at."""
    calls = (each for each in mentions(ctx, owner.name.rpartition(".")[2]) if each.call is not None)
    return any(each.ctx.origin(each.node) == {str(owner)} for each in calls)
