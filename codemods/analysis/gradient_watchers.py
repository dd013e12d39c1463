"""Code out of reach that sees gradients during a backward pass: hooks, and the `backward` of an `autograd.Function`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator

from codemods.analysis.gradient_use import ReachedCode, is_used, reads_gradients
from codemods.analysis.mentions import Occurrence, are_connected, may_run_during, mentions
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Evidence
from codemods.model.names import AUTOGRAD_FUNCTION
from codemods.project.index import Ref
from codemods.syntax.module import Function, own

HOOKS = (
    "register_hook",
    "register_backward_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
    "register_module_full_backward_hook",
    "register_post_accumulate_grad_hook",
    "register_multi_grad_hook",
    "register_optimizer_step_pre_hook",
    "register_step_pre_hook",
)
STEP_HOOKS = (
    "register_step_pre_hook",
    "register_step_post_hook",
    "register_optimizer_step_pre_hook",
    "register_optimizer_step_post_hook",
)
_LINEAR = frozenset(
    {
        "neg",
        "clone",
        "view",
        "reshape",
        "contiguous",
        "sum",
        "mean",
        "t",
        "transpose",
        "permute",
        "squeeze",
        "unsqueeze",
    }
    | {"expand", "expand_as", "view_as", "mul", "div", "matmul", "mm", "bmm", "to", "type_as", "flatten", "repeat"}
    | {"size", "dim", "new_zeros", "zeros_like", "einsum", "cat", "split", "chunk", "narrow", "index_select", "gather"}
)
"""What multiplies its result when a gradient is multiplied."""


@question
def no_hook_sees_gradients(ctx: PythonContext) -> Answer:
    """Whether no hook of the program is given gradients."""
    found = mentions(ctx, *HOOKS)
    return unless(each.evidence(f"`{each.word}` may give the gradients to a hook") for each in found)


@question
def no_hook_changes_a_step(ctx: PythonContext) -> Answer:
    """Whether no hook of the program runs before or after the step of an optimizer."""
    return unless(each.evidence(f"`{each.word}` may change the step") for each in mentions(ctx, *STEP_HOOKS))


@question
def functions_are_linear(ctx: PythonContext) -> Answer:
    """Whether every `autograd.Function` of the program hands on a multiplied gradient as it does a plain one."""
    return unless(_bent(ctx))


def _bent(ctx: PythonContext) -> Iterator[Evidence]:
    for path in dict.fromkeys((ctx.path, *ctx.index.search(ctx.path, (b"Function",)))):
        facts = ctx.index.facts(path)
        for name, klass in facts.classes.items() if facts is not None else ():
            if "backward" not in klass.methods or ctx.index.descends(Ref(path, name), AUTOGRAD_FUNCTION) is False:
                continue
            other = ctx.other(path) if are_connected(ctx.index, ctx.path, path) else None
            found = other.definition(f"{name}.backward") if other is not None else None
            if other is not None and (found is None or not _is_linear(found[1])):
                line = found[1].lineno if found is not None else klass.line
                yield Evidence(path, line, f"`{name}.backward` may bend the gradients")


def _is_linear(function: Function) -> bool:
    """Whether a `backward` does nothing to gradients but multiply, add and move them."""
    for node in own(function):
        match node:
            case ast.Compare() | ast.IfExp() | ast.Pow():
                return False
            case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
                if name not in _LINEAR:
                    return False
            case ast.Call():
                return False
    return True


@question
def every_backward_is_known(
    ctx: PythonContext, code: ReachedCode, known: Callable[[PythonContext, ast.Call], bool]
) -> Answer:
    """Whether no backward pass runs with some code but those that were looked at.

    Args:
        known: whether a call of it was looked at.
    """
    here = {node for _, node in code.nodes}
    return unless(
        each.evidence(f"`{each.ctx.written(each.node)}` may be another backward pass")
        for each in mentions(ctx, "backward")
        if not (each.node in here and each.call is not None and known(each.ctx, each.call))
        if each.node in here or may_run_during(each, code.scopes)
    )


@question
def no_other_code_reads_gradients(
    ctx: PythonContext,
    code: ReachedCode,
    known_to: Callable[[PythonContext, ast.AST], bool],
    looked_at: Collection[ast.AST] | None = None,
) -> Answer:
    """Whether no code but what was looked at reads gradients while this code runs.

    Args:
        known_to: whether a call may read them, because whoever multiplies them knows of it.
        looked_at: the nodes that were looked at; by default all of the code.
    """
    here = frozenset(node for _, node in code.nodes) if looked_at is None else frozenset(looked_at)
    return unless(_reading(ctx, code, known_to, here))


def _is_taken(mention: Occurrence) -> bool:
    """Whether a function of torch that reads gradients gets another name, or is called by a text.

    Fixture: `by_another_name`.
    """
    if mention.word == "grad":
        return False
    if isinstance(mention.node, ast.Constant):
        return True
    return mention.is_kept and any(origin.startswith("torch.") for origin in mention.ctx.origin(mention.node))


def _reading(
    ctx: PythonContext,
    code: ReachedCode,
    known_to: Callable[[PythonContext, ast.AST], bool],
    here: frozenset[ast.AST],
) -> Iterator[Evidence]:
    for each in mentions(ctx, "grad", *sorted(reads_gradients())):
        taken = _is_taken(each)
        if each.node in here and not taken:
            continue
        if each.word == "grad":
            if not isinstance(each.node, ast.Attribute) or not is_used(each.ctx, each.node):
                continue
        elif each.call is None and isinstance(each.node, ast.Attribute) and not taken:
            continue
        if each.call is not None and known_to(each.ctx, each.call) and not taken:
            continue
        if may_run_during(each, code.scopes):
            yield each.evidence(f"`{each.ctx.written(each.node)}` may read the gradients")
