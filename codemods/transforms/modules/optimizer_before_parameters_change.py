"""An optimizer that is made before a part of the model is replaced: what is new never moves.

## Why is this bad?
An optimizer holds the parameters that the model had when it was made. After `model.fc = nn.Linear(…)`,
`load_state_dict(…, assign=True)`, `resize_token_embeddings` or `get_peft_model` the model has others: of four tensors
two moved after a new head, and none after `assign=True` (run with PyTorch 2.13); of twelve eleven after
`resize_token_embeddings` (Transformers 5.23); no adapter moved (PEFT 0.21). Nothing raises and nothing warns.

## Fix safety
Unsafe: the optimizer is made after the change, where both statements stand in one block and nothing in between reads
it. Other parameters are trained then, which is the point.

## When it is not offered
Silent for layers without weights, for what changes parameters in place (`load_state_dict`, `.to()`, `.data`), where the
optimizer is made anew afterwards, and where it is not used after the change. Possible where the program adds parameters
to an optimizer, freezes or reads the new layer, or replaces it under a condition.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, given_by, keyword, literal, values
from codemods.analysis.class_building import modules_keep
from codemods.analysis.instances import constructed
from codemods.analysis.mentions import mentions
from codemods.analysis.optimizers import optimizes
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values, returned
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Consequence, Safety
from codemods.model.names import TORCH_MODULE
from codemods.project.index import Ref
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import Function, own
from codemods.syntax.verbs import Verb, delete, insert_after

_WITH_WEIGHTS = frozenset(
    f"torch.nn.{name}"
    for name in (
        *("Linear", "Bilinear", "LazyLinear", "Embedding", "EmbeddingBag", "Conv1d", "Conv2d", "Conv3d", "PReLU"),
        *(
            "ConvTranspose1d",
            "ConvTranspose2d",
            "ConvTranspose3d",
            "LayerNorm",
            "BatchNorm1d",
            "BatchNorm2d",
            "RMSNorm",
        ),
        *("BatchNorm3d", "GroupNorm", "SyncBatchNorm", "LSTM", "GRU", "RNN", "MultiheadAttention", "Parameter"),
        *("TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer"),
    )
)
_GROUPS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})
_WRAPPING = frozenset({"peft.get_peft_model", "peft.mapping.get_peft_model", "peft.mapping_func.get_peft_model"})

rule = Rule(
    code="GRD026",
    name="optimizer-before-parameters-change",
    summary="the optimizer is made before a part of the model is replaced: what is new never moves",
    fix_title="Make the optimizer after the change",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    triggers=(("parameters", "named_parameters"), ("torch", "lightning", "pytorch_lightning")),
    references=("https://docs.pytorch.org/docs/stable/optim.html#constructing-it",),
)


@rule.on(ast.Assign)
def optimizer_before_parameters_change(made: ast.Assign, ctx: PythonContext) -> Iterator[Draft]:
    match made:
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=ast.Call() as call):
            name, model = ctx.name(target), _model(ctx, call)
        case _:
            return
    if name is None or model is None or optimizes(ctx, call) is not True:
        return
    scope = ctx.scope(made)
    flow = ctx.flow_of(scope)
    others = [each.node for each in ctx.bindings(scope).get(name, ()) if each.node is not made]
    if any(flow.reaches(made, each) and not _wraps(ctx, each, name) for each in others):
        return
    for change in own(scope):
        what = _changed(ctx, change, model)
        if what is None or not flow.dominates(made, change) or flow.comes_round(change, made):
            continue
        if not _is_used_after(ctx, name, change):
            continue
        yield rule.finding(
            made,
            fix=_moved(ctx, made, change, name),
            message=f"`{name}` is made before `{what}` has its new parameters: they never move",
            evidence=[ctx.evidence(change, "new parameters")] if isinstance(change, ast.stmt | ast.expr) else [],
            is_bug=[
                change_surely_happens(ctx, made, change),
                nobody_adds_parameters(ctx),
                what_is_new_trains(ctx, made),
                modules_keep(ctx, "__setattr__", "add_module", "register_module"),
            ],
        )
        return


def _is_used_after(ctx: PythonContext, name: str, change: ast.AST) -> bool:
    """Whether an optimizer is used behind a change; one that an object keeps, in another method.

    Where another method binds it anew, what is used may be that one (`made_again`, `kept_by_a_trainer`).
    """
    scope, method = ctx.scope(change), ctx.method(change)
    flow = ctx.flow_of(scope)
    nodes = (each for each in ctx.all(ast.Name, ast.Attribute) if isinstance(each, ast.Name | ast.Attribute))
    named = [each for each in nodes if ctx.name(each) == name]
    loads = [each for each in named if isinstance(each.ctx, ast.Load)]
    if any(ctx.scope(each) is scope and flow.reaches(change, each) for each in loads):
        return True
    if method is None or method.name != "__init__" or not name.startswith(f"{method.self}."):
        return False
    if any(isinstance(each.ctx, ast.Store) and ctx.scope(each) is not scope for each in named):
        return False
    others = (ctx.method(each) for each in loads)
    return any(other is not None and other.klass is method.klass and other.name != "__init__" for other in others)


def _wraps(ctx: PythonContext, node: ast.AST, name: str) -> bool:
    """Whether an assignment gives a name what is made of what it had: `prepare(model, optimizer)` (`prepared`)."""
    value = node.value if isinstance(node, ast.Assign) else None
    return isinstance(value, ast.Call) and any(ctx.name(each) == name for each in values(value))


def _model(ctx: PythonContext, call: ast.Call) -> str | None:
    """The name of the one model whose parameters an optimizer is given."""
    if (target := ctx.callee(call)) is not None:
        return _given_to(ctx, call, *target)
    first = argument(call, "params", 0)
    groups = [each.node for each in possible_values(ctx, first)[0] if each.ctx is ctx] if first is not None else []
    owners = {
        ctx.name(node.func.value)
        for given in groups  # (groups_with_a_name)
        for node in ast.walk(given)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in ("parameters", "named_parameters")
    }
    return owners.pop() if len(owners) == 1 else None


def _given_to(ctx: PythonContext, call: ast.Call, where: PythonContext, function: Function) -> str | None:
    """The model of a function that makes the optimizer, as it is named where it is called (`made_by_a_function`)."""
    found = set()
    for each in returned(function):
        inner = _model(where, each) if isinstance(each, ast.Call) and where.callee(each) is None else None
        head = (inner or "").partition(".")[0]
        method = where.method(function)
        if inner is not None and method is not None and head == method.self:
            here = ctx.method(call)
            found.add(inner if here is not None and here.klass is method.klass else None)
        elif inner is not None and inner in where.parameter_names(function):
            handed = given_by(where, call, function, inner)
            found.add(ctx.name(handed) if handed is not None else None)
        else:
            found.add(None)
    return found.pop() if len(found) == 1 else None


def _changed(ctx: PythonContext, node: ast.AST, model: str) -> str | None:
    """What of a model a node gives new parameters; None: it does not."""
    match node:
        case ast.Assign(targets=[target], value=ast.Call() as value):
            held = target.value if isinstance(target, ast.Subscript) else target
            name = ctx.name(held) or ""
            if name.startswith(f"{model}.") or (name == model and isinstance(target, ast.Subscript)):
                return ctx.written(target) if _has_weights(ctx, value) else None
            wraps = ctx.means(value.func, _WRAPPING)
            return model if name == model and wraps and ctx.name(argument(value, "model", 0)) == model else None
        case ast.Call(func=ast.Attribute(value=owner, attr="load_state_dict")) if ctx.name(owner) == model:
            assign = keyword(node, "assign")
            return model if assign is not None and literal(assign) is True else None
        case ast.Call(func=ast.Attribute(value=owner, attr="resize_token_embeddings"), args=[_, *_]):
            return model if ctx.name(owner) == model else None
    return None


def _has_weights(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call surely makes a module with weights, or a parameter."""
    call = constructed(call)
    if ctx.means(call.func, _WITH_WEIGHTS):
        return True
    if ctx.means(call.func, _GROUPS):
        return any(_has_weights(ctx, node) for node in own(call) if isinstance(node, ast.Call))
    refs = [Ref.of(each) for each in ctx.origin(call.func) if ":" in each]
    if len(refs) != 1 or ctx.index.descends(refs[0], TORCH_MODULE) is not True:
        return False
    there = ctx.other(refs[0].path)
    inside = [node for klass in (there.classes(refs[0].name) if there else ()) for node in ast.walk(klass)]
    return there is not None and any(isinstance(n, ast.Call) and there.means(n.func, _WITH_WEIGHTS) for n in inside)


def _moved(ctx: PythonContext, made: ast.Assign, change: ast.AST, name: str) -> list[Verb] | None:
    """The optimizer is made after the change, where nothing between them speaks of it."""
    after = ctx.statement(change)
    if after is None or ctx.module.block(after) != ctx.module.block(made):
        return None
    above, field = ctx.module.block(made)
    block: list[ast.stmt] = getattr(above, field)
    between = block[block.index(made) + 1 : block.index(after) + 1]
    if any(ctx.name(node) == name for each in between for node in ast.walk(each)):
        return None
    return [delete(made), insert_after(after, ctx.source(made))]


@question
def change_surely_happens(ctx: PythonContext, made: ast.Assign, change: ast.AST) -> Answer:
    """Whether no test decides about a change after the optimizer was made (`under_a_test`)."""
    around = {id(each) for each in ctx.ancestors(made)}
    tests = [a for a in ctx.ancestors(change) if isinstance(a, ast.If | ast.For | ast.While | ast.Try)]
    places = [ctx.evidence(a, "the change may not happen") for a in tests if id(a) not in around]
    if isinstance(change, ast.Call) and (ctx.name(change.func) or "").endswith(".resize_token_embeddings"):
        places.append(ctx.evidence(change, "a size that stays changes nothing"))
    return unless(places)


@question
def nobody_adds_parameters(ctx: PythonContext) -> Answer:
    """Whether nothing in the program gives an optimizer more parameters."""
    places = mentions(ctx, "add_param_group", "param_groups")
    return unless(each.evidence("the new parameters may be added here") for each in places)


@question
def what_is_new_trains(ctx: PythonContext, made: ast.Assign) -> Answer:
    """Whether nothing in the function freezes parameters, which may be the new ones."""
    frozen = [
        node
        for node in own(ctx.scope(made))
        if isinstance(node, ast.Attribute) and node.attr in ("requires_grad", "requires_grad_")
        if not isinstance(node.ctx, ast.Load) or isinstance(ctx.parent(node), ast.Call)
    ]
    return unless(ctx.evidence(each, "this may freeze what is new") for each in frozen)
