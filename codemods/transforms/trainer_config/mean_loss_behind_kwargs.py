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
Trainer in sight is given the model. Possible where it is not in sight whether batches are accumulated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from codemods.analysis.calls import argument, given
from codemods.analysis.mentions import mentions
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
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
    if not _returns_a_loss(function) or ctx.index.descends(owner, TORCH_MODULE) is not True:
        return
    named = (getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(klass))
    if "accepts_loss_kwargs" in named or _is_used(function, function.args.kwarg.arg):
        return
    if (trainer := _trainer_of(ctx, owner)) is None:
        return
    where, call = trainer
    yield rule.finding(
        function,
        fix=[_declared(klass)],
        message=f"`{klass.name}.forward` ignores `**{function.args.kwarg.arg}`: accumulated batches are not averaged",
        evidence=[where.evidence(call, "this Trainer leaves the division to the model")],
        is_bug=[accumulates_batches(ctx, function)],
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


def _trainer_of(ctx: PythonContext, owner: Ref) -> tuple[PythonContext, ast.Call] | None:
    """The call that gives a model of a class to a Trainer of a library, which makes the loss of it."""
    for mention in mentions(ctx, *(each.rpartition(".")[2] for each in HF_TRAINER)):
        call = mention.call
        model = argument(call, "model", 0) if call is not None and mention.ctx.means(call.func, HF_TRAINER) else None
        if call is None or model is None:
            continue
        found, complete = possible_values(mention.ctx, model, returns=True, given=given)
        made = [each.ctx.origin(each.node.func) for each in found if isinstance(each.node, ast.Call) and not each.path]
        if complete and made and len(made) == len(found) and all(each == {str(owner)} for each in made):
            return mention.ctx, call
    return None
