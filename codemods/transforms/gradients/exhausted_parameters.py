"""`parameters()` kept in a variable and used twice: it is a generator, and the second use finds nothing.

## Why is this bad?
`params = model.parameters()` gives its parameters once. After an optimizer has read them, a clip finds none: its norm
is 0.0 instead of 400.0, nothing is clipped, and torch warns at most (`clip_grad_value_` raises). A loop over them does
nothing, silently; a second optimizer raises (run with PyTorch 2.13):

    UserWarning: `parameters` is an empty generator, no gradient clipping will occur.
    ValueError: optimizer got an empty parameter list

## Fix safety
Safe where the first use follows at once: `list(…)` holds the same parameters, and both uses find them. Unsafe where
something stands in between: a generator looks at the parameters when it is read, a list where it is made.

## When it is not offered
Silent where each use calls `parameters()` anew, where the variable is bound anew in between, and for what is no
generator in sight. Possible where the class of the model is not known, whose `parameters` may return a list.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import binder, given
from codemods.analysis.class_building import heirs_are_as_written
from codemods.analysis.definitions import reaching, uses_of
from codemods.analysis.instances import constructed, is_module_class
from codemods.analysis.mentions import definers
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, question, unknown, yes
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.model.names import CLIP_GRAD, OPTIMIZER
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import replace

_METHODS = ("parameters", "named_parameters")
_LAZY = frozenset({"filter", "map", "zip"})
_READING = frozenset({"list", "tuple", "set", "sum", "any", "all", "sorted", "max", "min"})

rule = Rule(
    code="GRD018",
    name="exhausted-parameters",
    summary="a generator of parameters is used twice: the second use finds none",
    fix_title="Keep the parameters in a list",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    follows=True,
    triggers=(_METHODS, ("torch", "lightning", "pytorch_lightning")),
    errors=(
        "`parameters` is an empty generator, no gradient clipping will occur",
        "optimizer got an empty parameter list",
    ),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.parameters",),
)


@rule.on(ast.Assign, ast.AnnAssign)
def exhausted_parameters(kept: ast.Assign | ast.AnnAssign, ctx: PythonContext) -> Iterator[Draft]:
    value = kept.value
    target = (
        kept.targets[0] if isinstance(kept, ast.Assign) and len(kept.targets) == 1 else getattr(kept, "target", None)
    )
    if value is None or not isinstance(target, ast.Name) or (source := _generator(ctx, value)) is None:
        return
    flow, written = ctx.flow_of(ctx.scope(kept)), ctx.source(value)
    reads = [use for use in uses_of(ctx, kept) if _reads_all(ctx, use) and _is_alone(ctx, use)]
    for first in reads:
        again = next((use for use in reads if use is not first and flow.reaches(first, use)), None)
        if again is None and flow.comes_round(first, first) and not flow.comes_round(kept, first):
            again = first  # a loop reads it again and again
        if again is None:
            continue
        yield rule.finding(
            again,
            fix=[replace(value, f"list{written}" if isinstance(value, ast.GeneratorExp) else f"list({written})")],
            message=f"`{target.id}` is a generator that is read before: nothing is left of it here",
            consequence=_cost(ctx, again),
            evidence=[ctx.evidence(kept, "a generator"), ctx.evidence(first, "read here")],
            is_bug=[is_a_generator(ctx, value, source), heirs_are_as_written(ctx, "torch.nn.Module")],
            is_right=[is_read_at_once(ctx, kept, first)],
        )
        return


def _generator(ctx: PythonContext, value: ast.expr) -> ast.Call | None:
    """The call of `parameters()` that an expression reads when it is read itself."""
    match value:
        case ast.Call(func=ast.Attribute(attr=method), args=[], keywords=_) if method in _METHODS:
            return value
        case ast.Call(func=ast.Name(id=name), args=[*_, inner]) if name in _LAZY and binder(ctx, name, value) is None:
            return _generator(ctx, inner)
        case ast.Call(func=func, args=[inner, *_], keywords=[]) if ctx.means(func, "itertools.chain"):
            return _generator(ctx, inner)
        case ast.GeneratorExp(generators=[first, *_]):
            return _generator(ctx, first.iter)
    return None


def _is_alone(ctx: PythonContext, use: ast.expr) -> bool:
    """Whether a name surely is what this assignment binds."""
    found, complete = reaching(ctx, use)
    return complete and len(found) == 1


def _reads_all(ctx: PythonContext, use: ast.expr) -> bool:
    """Whether a place reads a generator to its end."""
    match ctx.parent(use):
        case ast.For(iter=it) as loop:
            return it is use and not any(isinstance(node, (ast.Break, ast.Return)) for node in ast.walk(loop))
        case ast.comprehension(iter=it) as part:
            above = ctx.parent(part)
            if isinstance(above, ast.GeneratorExp):
                return it is use and _is_read(ctx, above)
            return it is use
        case ast.Call(func=func, args=[first, *_]) if first is use:
            return ctx.means(func, CLIP_GRAD | OPTIMIZER) or _is_a_reader(ctx, func)
        case ast.keyword(arg="params" | "parameters") as given:
            call = ctx.parent(given)
            return isinstance(call, ast.Call) and ctx.means(call.func, CLIP_GRAD | OPTIMIZER)
    return False


def _is_read(ctx: PythonContext, generator: ast.GeneratorExp) -> bool:
    above = ctx.parent(generator)
    return isinstance(above, ast.Call) and _is_a_reader(ctx, above.func) and ctx.name(above.func) not in ("any", "all")


def _is_a_reader(ctx: PythonContext, func: ast.expr) -> bool:
    return isinstance(func, ast.Name) and func.id in _READING and binder(ctx, func.id, func) is None


def _cost(ctx: PythonContext, use: ast.expr) -> Consequence:
    """What an empty generator costs: an optimizer raises, a clip warns or raises, a loop does nothing."""
    above = ctx.parent(use)
    call = ctx.parent(above) if isinstance(above, ast.keyword) else above
    if isinstance(call, ast.Call) and ctx.means(call.func, OPTIMIZER):
        return Consequence.RAISES
    return Consequence.SILENT


@question
def is_a_generator(ctx: PythonContext, value: ast.expr, call: ast.Call) -> Answer:
    """Whether an expression gives a generator: `parameters()` of a class may return a list (`its_own`)."""
    if value is not call:
        return yes()  # one that is made around it
    assert isinstance(call.func, ast.Attribute)
    found, complete = possible_values(ctx, call.func.value, ordered=True, returns=True, given=given)
    modules = all(
        isinstance(each.node, ast.Call) and not each.path and _is_a_module(each.ctx, each.node) for each in found
    )
    own = [
        Evidence(path, klass.methods[method].line, f"`{klass.name}.{method}` may return a list")
        for path, klass, method in definers(ctx, *_METHODS)
    ]
    if own:
        return unknown(*own)
    return yes() if complete and found and modules else unknown(ctx.evidence(call, "this may return a list"))


def _is_a_module(ctx: PythonContext, made: ast.AST) -> bool:
    """Whether a call makes a module of torch, of the project, or a model of a library."""
    if not isinstance(made, ast.Call):
        return False
    origins = ctx.origin(constructed(made).func)
    return bool(origins) and all(
        each.startswith("torchvision.models.") or each.endswith(".from_pretrained") or is_module_class(ctx, each)
        for each in origins
    )


@question
def is_read_at_once(ctx: PythonContext, kept: ast.stmt, first: ast.expr) -> Answer:
    """Whether nothing between a generator and its first use can change what it gives (`frozen_in_between`)."""
    above, field = ctx.module.block(kept)
    block: list[ast.stmt] = getattr(above, field)
    at = block.index(kept)
    following = block[at + 1] if at + 1 < len(block) else None
    if following is not None and following is ctx.statement(first):
        return yes()
    return unknown(ctx.evidence(first, "parameters may be changed before this"))
