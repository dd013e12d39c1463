"""Adapters of PEFT: who puts one on a model, and what makes weights trainable beside it."""

from __future__ import annotations

import ast

from codemods.analysis.calls import argument, has_splat, keyword, literal
from codemods.analysis.mentions import Occurrence, mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import elements
from codemods.frameworks.trainer_config.trainings import is_trainer
from codemods.syntax.module import is_none

ADAPTING = frozenset({"peft.get_peft_model", "peft.mapping.get_peft_model", "peft.mapping_func.get_peft_model"})
_NAMING = ("modules_to_save", "trainable_token_indices")
_EMBEDDINGS = ("emb", "wte", "wpe", "head", "token", "word", "shared")


def thawing(ctx: PythonContext, *methods: str) -> list[Occurrence]:
    """The places of the program that may make weights require gradients: by `requires_grad`, or by some methods."""
    found = [*mentions(ctx, "requires_grad_", *methods), *stores(ctx, "requires_grad")]
    return [each for each in found if each.word != "setattr" and not _freezes(each)]


def _freezes(place: Occurrence) -> bool:
    """Whether a place surely takes gradients away: `requires_grad_(False)`, `p.requires_grad = False`."""
    if place.word == "requires_grad_":
        return place.call is not None and literal(argument(place.call, "requires_grad", 0)) is False
    above = place.ctx.parent(place.node)
    return isinstance(above, ast.Assign) and literal(above.value) is False


def adapted(ctx: PythonContext) -> list[tuple[ast.Call, ast.expr, ast.expr]]:
    """The calls of a file that put a new adapter on a model, each with the model and the configuration."""
    found: list[tuple[ast.Call, ast.expr | None, ast.expr | None]] = []
    for call in ctx.all(ast.Call):
        if ctx.means(call.func, ADAPTING):
            found.append((call, argument(call, "model", 0), argument(call, "peft_config", 1)))
        elif (config := keyword(call, "peft_config")) is not None and is_trainer(ctx, call):
            found.append((call, argument(call, "model", 0), config))
    return [(call, model, config) for call, model, config in found if model is not None and config is not None]


def holds_no_embeddings(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a configuration surely holds no embeddings."""
    if has_splat(call) or any((given := keyword(call, each)) and not is_none(given) for each in _NAMING):
        return False
    if (targets := keyword(call, "target_modules")) is None or is_none(targets):
        return True
    found = [targets] if isinstance(targets, ast.Constant) else elements(ctx, targets) or [targets]
    names = [each.value if isinstance(each, ast.Constant) else None for each in found]
    return all(isinstance(name, str) and (name == "all-linear" or _is_a_layer(name)) for name in names)


def _is_a_layer(name: str) -> bool:
    """Whether the name of a module is plain, and none of embeddings or of a head."""
    return name.replace(".", "").isidentifier() and not any(part in name.lower() for part in _EMBEDDINGS)


def texts(node: ast.AST | None) -> list[str]:
    """The texts that an expression is or holds; none where something else is in it."""
    items = node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else [node]
    found = [each.value for each in items if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return found if len(found) == len(items) else []
