"""Methods of a Trainer's subclass that make its loss, and the batches that this loss stands for."""

from __future__ import annotations

import ast

from codemods.analysis.calls import argument, given, has_splat, keyword, literal, super_method, values
from codemods.analysis.mentions import mentions
from codemods.analysis.places import where_defined
from codemods.analysis.python_context import PythonContext
from codemods.analysis.sources import sources
from codemods.analysis.values import PossibleValue, possible_values
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.model.edits import Evidence
from codemods.project.index import Ref
from codemods.syntax.module import own

_ARGUMENTS = ("TrainingArguments", "Seq2SeqTrainingArguments")
_STEPS = "gradient_accumulation_steps"


def calls_of_super(ctx: PythonContext, function: ast.FunctionDef) -> list[ast.Call]:
    """The calls of the method that a method overrides."""
    found = (node for node in ast.walk(function) if isinstance(node, ast.Call))
    return [call for call in found if super_method(call) == function.name]


def is_between(ctx: PythonContext, function: ast.FunctionDef) -> bool:
    """Whether a class of the project between a method's and the library's has the method, too."""
    owner = ctx.klass(function)
    above = ctx.index.lineage(owner).refs[1:] if owner is not None else ()
    return any(function.name in klass.methods for ref in above if (klass := ctx.index.klass(ref)) is not None)


def is_only_way(function: ast.FunctionDef, call: ast.Call, ctx: PythonContext) -> bool:
    """Whether whatever a method returns comes from this call, an error on the way apart."""
    chosen = (ast.If, ast.IfExp, ast.Match, ast.For, ast.While, ast.BoolOp)
    for above in ctx.ancestors(call):
        if above is function:
            break
        if isinstance(above, chosen):
            return False
    return all(node.lineno >= call.lineno for node in own(function) if isinstance(node, ast.Return))


@question
def loss_is_handed_back(function: ast.FunctionDef, call: ast.Call, ctx: PythonContext) -> Answer:
    """Whether a method adds nothing to the loss that it gets: what is added is divided by nothing (`a_penalty`)."""
    statement = ctx.statement(call)
    if not isinstance(statement, ast.Assign):
        return yes()
    bound = {node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    stores = (
        node
        for node in own(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in bound
    )
    anew = [node for node in stores if not ctx.module.contains(statement, node)]
    computed = [
        node
        for node in own(function)
        if isinstance(node, ast.BinOp) and any(each is call for each in sources(ctx, function, node))
    ]
    return unless(
        [
            *(ctx.evidence(node, f"`{node.id}` is another loss from here on") for node in anew),
            *(ctx.evidence(node, "this is another loss") for node in computed),  # under_another_name
        ]
    )


@question
def inputs_are_as_counted(function: ast.FunctionDef, call: ast.Call, ctx: PythonContext) -> Answer:
    """Whether a method hands on the inputs that it got: labels that it masks were counted before (`masked_labels`)."""
    given = {name for value in values(call) for node in ast.walk(value) if (name := ctx.name(node))}
    changed = [
        node
        for node in own(function)
        if isinstance(node, (ast.Name, ast.Subscript)) and not isinstance(node.ctx, ast.Load)
        if ctx.name(node.value if isinstance(node, ast.Subscript) else node) in given
    ]
    computed = [value for value in values(call) if isinstance(value, (ast.Dict, ast.Call, ast.DictComp))]
    return unless(ctx.evidence(node, "these inputs may have other labels") for node in (*changed, *computed))


@question
def accumulates_batches(ctx: PythonContext, function: ast.FunctionDef) -> Answer:
    """Whether a Trainer adds up the gradients of several batches: its arguments say so."""
    doubts: list[Evidence] = []
    told = False
    for mention in mentions(ctx, *_ARGUMENTS):
        call = mention.call
        if call is None:
            if not mention.ctx.annotates(mention.node):
                doubts.append(mention.evidence("these arguments may accumulate batches"))
            continue
        told = True
        steps = keyword(call, _STEPS)
        if steps is None:
            doubts += [mention.evidence("these arguments may accumulate batches")] if has_splat(call) else []
            continue
        found, complete = possible_values(mention.ctx, steps, given=given)
        numbers = [literal(each.node) for each in found if not each.path]
        if complete and all(isinstance(each, int) and each > 1 for each in numbers):
            return yes(mention.ctx.evidence(steps, "batches are accumulated"))
        if not complete or any(each != 1 for each in numbers):
            doubts.append(mention.ctx.evidence(steps, "this says how many batches are accumulated"))
    if not told and not doubts:
        doubts.append(ctx.evidence(function, "the arguments of the Trainer are not in sight"))
    return unknown(*doubts) if doubts else no()


@question
def model_divides_its_loss(ctx: PythonContext, owner: Ref) -> Answer:
    """Whether the model of a Trainer takes the number of items, and the Trainer therefore divides no loss itself."""
    found = False
    for mention in mentions(ctx, owner.name):
        call = mention.call
        if call is None or mention.ctx.origin(call.func) != {str(owner)}:
            continue
        if (taken := keyword(call, "compute_loss_func")) is not None:
            return unknown(where_defined(mention.ctx, taken, "this may divide the loss", at=taken))
        model = argument(call, "model", 0)
        made, complete = possible_values(mention.ctx, model, given=given) if model is not None else ([], False)
        if not complete or not made or not all(_is_causal(each) for each in made):
            return unknown(mention.ctx.evidence(call, "whether this model divides its loss is not known"))
        found = True
    at = next(iter(ctx.classes(owner.name)))
    return yes() if found else unknown(ctx.evidence(at, "the model of this Trainer is not in sight"))


def _is_causal(value: PossibleValue) -> bool:
    """Whether a value surely is a causal language model of Transformers, which takes the number of items."""
    origins = value.ctx.origin(value.node.func) if isinstance(value.node, ast.Call) and not value.path else frozenset()
    return bool(origins) and all(
        each.startswith("transformers.") and each.endswith("ForCausalLM.from_pretrained") for each in origins
    )
