"""Questions about two runs of the same weights, one of them without gradients."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from codemods.analysis.instances import callee, may_be_a_parameter
from codemods.analysis.mentions import Occurrence, may_run_during, mentions, stores
from codemods.analysis.optimizers import optimizes, stepped
from codemods.analysis.other_files import is_taken_by
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import PossibleValue, possible_values
from codemods.flow.answers import Answer, in_turn, question, unknown, unless, yes
from codemods.frameworks.autocast.changes import modules_of
from codemods.frameworks.autocast.low_precision import something_is_on_its_gpu
from codemods.frameworks.autocast.modules import Path, overlap
from codemods.frameworks.autocast.openings import DEPTH, opening
from codemods.frameworks.autocast.passes import COMPILERS, COMPILING
from codemods.frameworks.autocast.regions import Region, unknown_managers
from codemods.model.edits import Evidence
from codemods.syntax.module import own

_REMAKING = ("requires_grad_", "weight_norm", "spectral_norm", "register_parametrization", "enable_grad")
"""What freezes weights, makes them of others, or gives a pass gradients of its own."""


def nothing_interferes(
    ctx: PythonContext,
    region: Region | None,
    first: ast.AST,
    later: ast.AST,
    inside: Iterable[Evidence],
    asked: Iterable[Answer] = (),
) -> tuple[Answer, ...]:
    """Whether two places of one function surely see the same cache of autocast: what both rules about it rest on.

    Args:
        inside: the context managers in called functions that may do anything.
        asked: what was asked before: beside an unknown nothing more is.
    """
    scope = ctx.scope(first)
    if any(each.is_unknown for each in asked):
        return ()
    return tuple(
        in_turn(
            lambda: region_keeps_a_cache(region),
            lambda: no_manager_is_unknown(ctx, first, later, inside=inside),
            lambda: forward_is_its_own(ctx),
            lambda: cache_is_left_alone(ctx, scope),
            lambda: nothing_is_compiled(ctx),
            lambda: weights_are_as_made(ctx),
            lambda: runs_under_autocast(ctx, scope),
            lambda: something_is_on_its_gpu(ctx, region) if region is not None else yes(),
        )
    )


_TAKING = frozenset({"split", "view", "narrow", "chunk", "unbind", "reshape", "as_strided", "unflatten", "expand"})
"""Methods that take a part of a tensor, or another view of it."""
_TENSOR = re.compile(r"torch\.(?:[a-z]\w*|nn\.Parameter)$")
"""What makes a tensor: a function of torch, or a parameter of its own."""


@question
def weights_are_as_made(ctx: PythonContext) -> Answer:
    """Whether no other file freezes weights, makes them of others, or runs a module with gradients of its own."""
    found = [*mentions(ctx, *_REMAKING), *(each for each in stores(ctx, "requires_grad") if each.word != "setattr")]
    remade = [
        each.evidence(f"`{each.word}` may change what autocast keeps of the weights")
        for each in found
        if (each.ctx is not ctx and not _is_of_its_own_part(ctx, each))
        or each.word in ("weight_norm", "spectral_norm", "register_parametrization")
    ]
    return unless([*remade, *_views(ctx)])


def _is_of_its_own_part(ctx: PythonContext, mention: Occurrence) -> bool:
    """Whether a class of another file, which the first does not use, freezes what it made itself.

    In `self.embed = nn.Embedding(…)` and `self.embed.weight.requires_grad_(False)` nothing of the first file is meant.
    """
    method, node = mention.ctx.method(mention.node), mention.node
    name = mention.ctx.name(node) or ""
    if method is None or not name.startswith(f"{method.self}.") or is_taken_by(ctx, mention.ctx.path):
        return False
    index, path = mention.ctx.index, mention.ctx.path
    made = [each.value for _, each in index.assigned(method.owner, name.split(".")[1])]
    origins = [index.resolve(path, each.dotted) if each.call and each.dotted else frozenset[str]() for each in made]
    return bool(origins) and all(found and all(o.startswith("torch.nn.") for o in found) for found in origins)


def _views(ctx: PythonContext) -> Iterator[Evidence]:
    """The places that take parts of a parameter, which are no leaves: autocast keeps no copies (`one_vector`)."""
    for call in ctx.all(ast.Call):
        match call.func:
            case ast.Attribute(value=ast.Attribute() as whole, attr=attr) if attr in _TAKING:
                if may_be_a_parameter(ctx, whole):
                    yield ctx.evidence(call, f"parts of `{ctx.written(whole)}` are no weights that autocast keeps")


@question
def no_manager_is_unknown(ctx: PythonContext, *nodes: ast.AST, inside: Iterable[Evidence] = ()) -> Answer:
    """Whether every context manager around some nodes is known to leave autocast and gradients alone.

    Args:
        inside: those that are not, in the functions that are called.
    """
    return unless([*inside, *(found for node in nodes for found in unknown_managers(ctx, node))])


@question
def cache_is_left_alone(ctx: PythonContext, scope: ast.AST) -> Answer:
    """Whether nothing else that runs with a function empties autocast's cache or switches it off."""
    return unless(
        each.evidence(f"`{each.word}` may run in between")
        for each in mentions(ctx, "clear_autocast_cache", "set_autocast_cache_enabled")
        if not (each.ctx is ctx and ctx.module.contains(scope, each.node))
    )


@question
def nothing_is_compiled(ctx: PythonContext) -> Answer:
    """Whether nothing in the program compiles a function or a model: `torch.compile` gives it a graph that keeps no
    copies, and so does TorchScript of a model (run with PyTorch 2.6; `compiled_model`).
    """
    return unless(
        each.evidence("compiled code keeps no copies of weights")
        for each in mentions(ctx, *COMPILING)
        if isinstance(each.node, ast.expr) and each.ctx.means(each.node, COMPILERS)
    )


@question
def gradients_are_used(ctx: PythonContext, later: ast.AST, path: Path) -> Answer:
    """Whether the optimizer that steps after some weights have run may hold them: else nobody wants their gradients.

    Where one optimizer is stepped, it is taken to hold what runs, unless what it holds is in sight
    (`prompt_is_trained`).
    """
    own_calls = [node for node in own(ctx.scope(later)) if isinstance(node, ast.Call)]
    steps = [(call, owner) for call in own_calls if (owner := stepped(ctx, call)) is not None]
    after = [each for each in steps if each[0].lineno > getattr(later, "lineno", 0)]
    of_tensors = [call for call in own_calls if optimizes(ctx, call) and _is_given_tensors(PossibleValue(ctx, call))]
    # which optimizer is stepped cannot be told: it may be one of tensors (the law of indirections)
    if of_tensors and not any(_is_made_in_sight(ctx, owner) for _, owner in after):
        return unknown(ctx.evidence(of_tensors[0], "this optimizer holds other weights"))
    if not after:
        return unless(())
    call, owner = min(after, key=lambda each: each[0].lineno)
    if not _holds_tensors(ctx, owner):
        held = modules_of(ctx, owner) if len({ast.dump(owner) for _, owner in steps}) > 1 else None
        if held is None or any(overlap(each, path) for each in held):
            return unless(())
    return unknown(ctx.evidence(call, f"`{ctx.written(owner)}` may step with other weights"))


def _is_made_in_sight(ctx: PythonContext, optimizer: ast.expr) -> bool:
    """Whether each value that an optimizer may be is a call that makes one."""
    values, complete = possible_values(ctx, optimizer)
    makers = [each.node for each in values if isinstance(each.node, ast.Call) and each.ctx is ctx and not each.path]
    known = complete and len(makers) == len(values) > 0 and all(optimizes(ctx, each) for each in makers)
    # a function of the project may hand one on that holds tensors (the law of indirections)
    return known and not any(callee(ctx, each) for each in makers)


def _holds_tensors(ctx: PythonContext, optimizer: ast.expr) -> bool:
    """Whether an optimizer surely was given nothing but tensors that the code makes itself: `Adam([prompt])`."""
    values, complete = possible_values(ctx, optimizer)
    return complete and bool(values) and all(_is_given_tensors(each) for each in values)


def _is_given_tensors(made: PossibleValue) -> bool:
    match made.node:
        case ast.Call(func=func, args=[ast.List(elts=given) | ast.Tuple(elts=given), *_]) if not made.path:
            return bool(made.ctx.origin(func)) and all(_is_a_tensor(made.ctx, each) for each in given)
    return False


def _is_a_tensor(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether something surely is made by a function of torch, or is a parameter of its own."""
    values, complete = possible_values(ctx, node)
    calls = [(each.ctx, each.node.func) for each in values if isinstance(each.node, ast.Call) and not each.path]
    made = [where.origin(function) for where, function in calls]
    return complete and len(made) == len(values) > 0 and all(o and all(_TENSOR.match(n) for n in o) for o in made)


@question
def runs_under_autocast(ctx: PythonContext, scope: ast.AST) -> Answer:
    """Whether no code that may run with a function switches autocast off, or asks whether gradients are on."""
    found = [each for each in mentions(ctx, "autocast") if _switches_off(each)]
    found += mentions(ctx, "is_grad_enabled")
    return unless(
        each.evidence(f"`{each.ctx.written(each.node)}` may make it another pass")
        for each in found
        if not (each.ctx is ctx and ctx.scope(each.node) is scope)
        if may_run_during(each, {scope: ctx}) or isinstance(each.ctx.scope(each.node), ast.ClassDef)
    )


def _switches_off(mention: Occurrence) -> bool:
    opened = opening(mention.ctx, mention.call) if mention.call is not None else None
    return opened is not None and not opened.caches


@question
def forward_is_its_own(ctx: PythonContext) -> Answer:
    """Whether no code puts another function in the place of a module's `forward`."""
    return unless(
        each.evidence("another `forward` may be put in here")
        for each in stores(ctx, "forward")
        if each.word == "forward"
    )


@question
def region_keeps_a_cache(region: Region | None) -> Answer:
    """Whether nothing that is not in sight may switch the cache of a region off."""
    if region is None or not region.hides_options:
        return unless(())
    where = region.context
    return unless((where.evidence(region.holder, "options that are not in sight may switch the cache off"),))


def unseen_regions(ctx: PythonContext, node: ast.AST) -> Iterator[Evidence]:
    """The context managers, here and in callers, that may open a region."""
    return unknown_managers(ctx, node, DEPTH)
