"""`with torch.no_grad:` without a call: `with` enters the class, which is no context manager.

## Why is this bad?
No statement of the block runs, in any version of PyTorch (run on 2.4.1, 2.10 and 2.13). Python 3.11 and later raise

    TypeError: 'type' object does not support the context manager protocol

and Python 3.10 raises

    AttributeError: __enter__

The mistake is easy to make because the decorator works both ways: `@torch.no_grad` is as good as `@torch.no_grad()`,
and so are `@torch.inference_mode` and `@torch.enable_grad` (run on the same versions).

## Fix safety
Safe: the class is called without arguments, as its documentation shows; before, the statement could only raise. Unsafe
where a function outside of the block is given what is made in it, and where `inference_mode` makes something that
is bound, returned or kept: autograd refuses to save such tensors.

## When it is not offered
Where the call needs an argument that only the author knows, the statement is reported: `torch.set_grad_enabled`,
`torch.autograd.set_detect_anomaly` and `torch.autocast`.

Silent for decorators, for `async with`, for a name that may stand for something else (`ctx = torch.no_grad if flag
else nullcontext`), and where the code around expects the error (`pytest.raises`).
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from typing import TypeGuard

from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless, yes
from codemods.model.edits import Consequence, Safety
from codemods.model.names import NO_GRAD
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own
from codemods.syntax.verbs import replace

CALLED_WITHOUT = frozenset(
    {
        *("torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.autograd.detect_anomaly"),
        *("torch.cuda.amp.autocast", "torch.cpu.amp.autocast"),
    }
)
"""Context managers that are called without arguments."""
CALLED_WITH = {
    "torch.set_grad_enabled": "whether gradients are on",
    "torch.autograd.set_detect_anomaly": "whether anomalies are looked for",
    "torch.autocast": "the type of the device",
}
"""Context managers that need an argument, and which."""

rule = Rule(
    code="GRD008",
    name="uncalled-context-manager",
    summary="`with torch.no_grad:` enters the class itself, which raises",
    fix_title="Call the context manager",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    follows=True,
    triggers=(
        (
            "no_grad",
            "inference_mode",
            "enable_grad",
            "detect_anomaly",
            "set_grad_enabled",
            "set_detect_anomaly",
            "autocast",
        ),
    ),
    errors=("'type' object does not support the context manager protocol", "AttributeError: __enter__"),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html",),
)


@rule.on(ast.With)
def uncalled_context_manager(block: ast.With, ctx: PythonContext) -> Iterator[Draft]:
    for item in block.items:
        manager = item.context_expr
        name = ctx.name(manager)
        message = f"`with {name}:` enters the class itself, which raises"
        if ctx.means(manager, CALLED_WITHOUT):
            is_right = [nothing_is_saved(ctx, manager, block)]
            yield rule.finding(manager, message=message, fix=[replace(manager, f"{name}()")], is_right=is_right)
        for known, argument in CALLED_WITH.items():
            if ctx.means(manager, known):
                yield rule.finding(manager, message=f"{message}; call it with {argument}")


@question
def nothing_is_saved(ctx: PythonContext, manager: ast.expr, block: ast.With) -> Answer:
    """Whether what is made in a block stays there.

    Without gradients it has no graph, which who gets it may want; and autograd refuses to save an inference tensor.
    """
    if not ctx.means(manager, NO_GRAD):
        return yes()
    inference = ctx.means(manager, "torch.inference_mode")
    inside = {*own(block)}
    made = {each.id for node in inside for each in ast.walk(node) if _is_bound(each)}
    made |= _renamed(ctx, block, made)
    taken = (node for node in own(ctx.scope(block)) if node not in inside and _is_given_away(ctx, node, made))
    kept = (node for node in own(block) if isinstance(node, (ast.Return, ast.Assign, ast.AnnAssign)) or _keeps(node))
    return unless(
        ctx.evidence(node, "what is made here may be differentiated elsewhere")
        for node in (*taken, *(kept if inference else ()))
        if isinstance(node, (ast.expr, ast.stmt))
    )


def _renamed(ctx: PythonContext, block: ast.With, names: Collection[str]) -> set[str]:
    """The other names that the function of a block gives what goes by some names, without computing anything.

    Built-in functions hand on what they are given: `sum(losses)` (`read_by_builtins`).
    """
    known, before = set(names), -1
    while len(known) != before:
        before = len(known)
        for target, given in _given_names(ctx.scope(block)):
            nodes = [*ast.walk(given)]
            if not any(isinstance(each, ast.Call) and not _is_built_in(ctx, each) for each in nodes):
                if any(isinstance(each, ast.Name) and each.id in known for each in nodes):
                    known |= {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
    return known - set(names)


def _is_built_in(ctx: PythonContext, call: ast.Call) -> bool:
    return hasattr(builtins, ctx.name(call.func) or "")


def _given_names(scope: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a function binds, each with what it is given: also by a loop, and by `+=` (`under_another_name`)."""
    for node in own(scope):
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from ((target, value) for target in targets)
            case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
                yield target, value
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield target, value
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                yield target, value


def _is_bound(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _keeps(node: ast.AST) -> bool:
    """`features.append(model(x))`"""
    match node:
        case ast.Call(func=ast.Attribute(attr="append" | "extend" | "add" | "update" | "put")):
            return True
    return False


def _is_given_away(ctx: PythonContext, node: ast.AST, names: Collection[str]) -> bool:
    """Whether a call takes one of some names, and may compute with it: Python's own functions make numbers.

    So does a product or a sum (`student_too`), and `loss.backward()` differentiates it (`loss_in_the_block`), which
    `getattr` may read (`read_by_builtins`).
    """
    if isinstance(node, ast.Attribute) and node.attr == "backward":
        return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node.value))
    if isinstance(node, ast.BinOp):
        return any(isinstance(each, ast.Name) and each.id in names for each in (node.left, node.right))
    if not isinstance(node, ast.Call) or (_is_built_in(ctx, node) and ctx.name(node.func) != "getattr"):
        return False
    given = (each for value in (*node.args, *(k.value for k in node.keywords)) for each in ast.walk(value))
    return any(isinstance(each, ast.Name) and each.id in names for each in given)
