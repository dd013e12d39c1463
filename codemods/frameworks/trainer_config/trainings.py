"""Which models a Trainer of Hugging Face or an optimizer is given, and where the training starts."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, given, keyword, named_calls
from codemods.analysis.optimizers import optimizes
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.control_flow import condition
from codemods.project.index import Ref
from codemods.syntax.module import is_none, own

_ITSELF = frozenset({"to", "cuda", "cpu", "train", "eval", "float", "half", "bfloat16", "requires_grad_"})
"""Methods of a module that return the module."""
_PREPARING = frozenset({"peft.prepare_model_for_kbit_training", "peft.utils.prepare_model_for_kbit_training"})


def trainings(ctx: PythonContext) -> list[tuple[ast.Call, list[ast.expr]]]:
    """The calls of a file that make a Trainer or an optimizer, with their models: found once, whoever asks."""
    key = (trainings,)
    if key not in ctx.memo:
        found = ((call, _models(ctx, call)) for call in ctx.all(ast.Call))
        ctx.memo[key] = [(call, models) for call, models in found if models]
    known: list[tuple[ast.Call, list[ast.expr]]] = ctx.memo[key]
    return known


def is_trainer(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call makes a Trainer of transformers or trl, or one of a class that extends it (`own_trainer`)."""
    origins = ctx.origin(call.func)
    return bool(origins) and all(_is_a_trainer(ctx, each) for each in origins)


def _is_a_trainer(ctx: PythonContext, origin: str) -> bool:
    if ":" not in origin:
        return origin.endswith("Trainer") and origin.startswith(("transformers.", "trl."))
    lineage = ctx.index.lineage(Ref.of(origin))
    own = any("__init__" in klass.methods for ref in lineage.refs if (klass := ctx.index.klass(ref)) is not None)
    return not own and any(_is_a_trainer(ctx, each) for each in lineage.external if ":" not in each)


def _models(ctx: PythonContext, call: ast.Call) -> list[ast.expr]:
    """What a Trainer or an optimizer is given to train, without adapters."""
    if is_trainer(ctx, call):
        adapters, model = keyword(call, "peft_config"), argument(call, "model", 0)
        return [model] if model is not None and (adapters is None or is_none(adapters)) else []
    if (first := argument(call, "params", 0)) is None:
        return []
    found = [
        node.func.value
        for node in (first, *own(first))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parameters"
    ]
    return found if found and optimizes(ctx, call) is True else []  # the dearer question second


def starts(ctx: PythonContext, training: ast.Call) -> Iterator[ast.Call]:
    """The places of a file where a training begins: `train()` of a Trainer; of an optimizer, where it is made."""
    if not is_trainer(ctx, training):
        yield training
        return
    for call in named_calls(ctx, "train"):
        if isinstance(call.func, ast.Attribute):
            found, _ = possible_values(ctx, call.func.value, ordered=True, returns=True, given=given)
            if any(each.node is training and not each.path for each in found):
                yield call


def made_of(ctx: PythonContext, model: ast.expr) -> tuple[list[ast.AST], bool]:
    """What makes a model where it is written, through `.to()` and its like; True: nothing is missing."""
    found, complete = possible_values(ctx, model, ordered=True, returns=True, given=given)
    makers: list[ast.AST] = []
    for each in found:
        match each.node:
            case ast.Call(func=ast.Attribute(value=held, attr=method)) if method in _ITSELF and not each.path:
                inner, whole = made_of(each.ctx, held)
                makers, complete = [*makers, *inner], complete and whole
            case ast.Call(func=func, args=[held, *_]) if each.ctx.means(func, _PREPARING) and not each.path:
                inner, whole = made_of(each.ctx, held)
                makers, complete = [*makers, *inner], complete and whole
            case node:
                makers.append(node)
                complete = complete and not each.path
    return makers, complete


def are_one_model(ctx: PythonContext, a: ast.expr, b: ast.expr) -> bool:
    """Whether two expressions of a function surely are one model, whatever is put around it in between."""
    mine, whole = made_of(ctx, a)
    others, complete = made_of(ctx, b)
    told = [each.id if isinstance(each, ast.Name) else each for each in mine]  # a parameter is known by its name
    same = told == [each.id if isinstance(each, ast.Name) else each for each in others]
    return ctx.scope(a) is ctx.scope(b) and whole and complete and same


def decided(ctx: PythonContext, node: ast.AST) -> dict[str, bool]:
    """The tests that were passed where a node runs, as text: those of conditional expressions around it, too."""
    found, inner = ctx.flow_of(ctx.scope(node)).tests(node), node
    for above in ctx.ancestors(node):
        if isinstance(above, ast.IfExp) and inner is not above.test:
            if (said := condition(above.test, inner is above.body)) is not None:
                found[said[0]] = said[1]
        inner = above
    return found


def are_parted(ctx: PythonContext, a: ast.AST, b: ast.AST) -> bool:
    """Whether no run passes two places of a function: they stand in different arms, or behind opposite tests."""
    here, there = decided(ctx, a), decided(ctx, b)
    return ctx.flow_of(ctx.scope(a)).apart(a, b) or any(there.get(test, holds) != holds for test, holds in here.items())
