"""A frozen part is put into evaluation mode in `__init__`, and `train()` of the whole puts it back.

## Why is this bad?
`requires_grad = False` does not hold the running statistics of batch normalization, and `model.train()` switches every
part of the model. In five batches the running mean of a frozen part moved by 0.43, and the output of the evaluated
model changed, though none of its parameters had moved (run with PyTorch 2.13). Nothing raises and nothing warns.

## Fix safety
Unsafe: the class gets a `train` of its own that leaves the part in evaluation mode; losses change, which is the point.

## When it is not offered
Silent where the class has a `train` of its own or is trained by a framework, where something puts the part into
evaluation mode again, where it is never called, where what makes it is in sight and no batch normalization is seen
there, and where nobody wanted it in evaluation mode. Possible where the class is given the part, where the program
makes parameters require gradients, switches single layers, or where a test decides whether the part is frozen. Reported
where several parts are frozen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.mentions import mentions, stores
from codemods.analysis.python_context import Method, PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.frameworks.trainer_config.adapters import thawing
from codemods.frameworks.training.frozen_parts import chain_of, frozen_by, holds_batch_norm, is_trained
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import LOOPS, own
from codemods.syntax.verbs import insert_after

_CONVERTING = ("FrozenBatchNorm2d", "convert_frozen_batchnorm", "freeze_batch_norm_2d", "SyncBatchNorm")

_NORMALIZING = (b"BatchNorm", b"torchvision", b"timm")
"""Texts of code that has models with batch normalization."""

rule = Rule(
    code="MOD002",
    name="frozen-batchnorm-moves",
    summary="`train()` of the whole model puts a frozen part back into training mode: its statistics move",
    fix_title="Leave the frozen part in evaluation mode",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    effect=Effect.NUMBERS,
    triggers=(("requires_grad", "requires_grad_"), ("eval",), ("Module",)),
    somewhere=_NORMALIZING,
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.train",),
)


@rule.on(ast.Call)
def frozen_batchnorm_moves(quiet: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    method = ctx.method(quiet)
    part = _quieted(ctx, quiet, method)
    if method is None or part is None or method.name != "__init__" or not _keeps_no_mode(ctx, method):
        return
    frozen = next((node for node in own(method.node) if ctx.name(frozen_by(node)) == f"{method.self}.{part}"), None)
    used = any(
        isinstance(node, ast.Call) and (ctx.name(node.func) or "").partition(".")[2].split(".")[0] == part
        for node in ast.walk(method.klass)
        if not ctx.module.contains(method.node, node)
    )
    if not isinstance(frozen, ast.stmt) or not used or (held := part_holds_batch_norm(ctx, quiet)).is_no:
        return
    trained = next((each for each in mentions(ctx, "train") if is_trained(each, str(method.owner))), None)
    if trained is None:
        return
    parts = [node for node in own(method.node) if isinstance(node, ast.Call) and _quieted(ctx, node, method)]
    added = f"\ndef train(self, mode=True):\n    super().train(mode)\n    self.{part}.eval()\n    return self"
    yield rule.finding(
        quiet,
        fix=[insert_after(method.node, added)] if len(parts) == 1 else None,
        message=f"`train()` puts `{method.self}.{part}` back into training mode: its batch statistics move",
        evidence=[ctx.evidence(frozen, "it is frozen here"), trained.evidence("the whole is put into training mode")],
        is_bug=[held, part_stays_in_training(ctx, quiet, part), part_surely_is_frozen(ctx, quiet, frozen)],
    )


def _quieted(ctx: PythonContext, call: ast.Call, method: Method | None) -> str | None:
    """The attribute of `self` that a call puts into evaluation mode."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "eval" or method is None:
        return None
    head, _, part = (ctx.name(chain_of(call)[0]) or "").partition(".")
    return part if head == method.self and part.isidentifier() else None


def _keeps_no_mode(ctx: PythonContext, method: Method) -> bool:
    """Whether a class is a plain module of torch without a `train` of its own, and nobody descends from it."""
    lineage = ctx.index.lineage(method.owner)
    plain = lineage.complete and lineage.external <= {"torch.nn.Module"}
    return plain and not ctx.index.method(method.owner, "train") and not any(ctx.index.subclasses(method.owner))


@question
def part_holds_batch_norm(ctx: PythonContext, quiet: ast.Call) -> Answer:
    """Whether a part has batch normalization; one that a class is given may have, if the program has any.

    Fixture: `given_to_the_class`.
    """
    part = chain_of(quiet)[0]
    if holds_batch_norm(ctx, part):
        return yes()
    found, complete = possible_values(ctx, part, returns=True)
    made = [each for each in found if isinstance(each.node, ast.Call) and not each.path]
    known = complete and len(made) == len(found) > 0
    if known or not ctx.index.search(ctx.path, _NORMALIZING):
        return no()
    return unknown(ctx.evidence(quiet, f"`{ctx.written(part)}` may have no batch normalization"))


@question
def part_stays_in_training(ctx: PythonContext, quiet: ast.Call, part: str) -> Answer:
    """Whether nothing else in the program sets the mode of a part, or of single layers (`layer_by_layer`)."""
    places: list[Evidence] = []
    for each in stores(ctx, "train", "training"):
        if getattr(each.receiver, "attr", None) == part:
            return no(each.evidence("its mode is set here"))
        places.append(each.evidence("its mode may be set here"))
    places += [each.evidence("its statistics may stay") for each in stores(ctx, "momentum", "track_running_stats")]
    places += [each.evidence("batch normalization may be replaced") for each in mentions(ctx, *_CONVERTING)]
    taking = mentions(ctx, "apply", "register_forward_hook", "register_forward_pre_hook")  # (put_back_by_a_hook)
    applied = {each.ctx.name(arg) for each in taking if each.call for arg in each.call.args}
    for each in mentions(ctx, "eval", "train"):
        if each.call is quiet or each.receiver is None:
            continue
        found = [value.node for value in possible_values(each.ctx, each.receiver)[0] if not value.path]
        if any(getattr(node, "attr", None) == part for node in (chain_of(each.receiver)[0], *found)):
            return no(each.evidence("its mode is set here"))
        function = each.ctx.function(each.node)
        if not found or each.is_kept or (function is not None and function.name in applied):
            places.append(each.evidence("single layers may be switched here"))
    return unless(places)


@question
def part_surely_is_frozen(ctx: PythonContext, quiet: ast.Call, frozen: ast.stmt) -> Answer:
    """Whether no test decides on a frozen part, and nothing in the program trains it later."""
    tests = [a for node in (quiet, frozen) for a in ctx.ancestors(node) if isinstance(a, (ast.If, *LOOPS))]
    places = [ctx.evidence(each, "it may not be frozen") for each in tests]
    return unless([*places, *(each.evidence("it may be trained from here on") for each in thawing(ctx))])
