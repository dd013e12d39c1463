"""`nn.Parameter(…) * 0.1`: the attribute of the module is computed from a parameter, and is none.

## Why is this bad?
What is computed from a parameter is a tensor with a graph. As an attribute of a module it is not registered: it is
not in `parameters()`, no optimizer trains it, and it is not in `state_dict()`. Of `nn.Parameter(x) * 0.1`,
`.unsqueeze(0)`, `.clone()` and `.to(torch.float64)` none was in `named_parameters()` (run with PyTorch 2.13). Nothing
raises and nothing warns. An optimizer that is given one refuses it:

    ValueError: can't optimize a non-leaf Tensor

## Fix safety
Unsafe: `nn.Parameter(… * 0.1)` is registered. The model has one more parameter, and checkpoints that were written
before do not hold it.

## When it is not offered
Silent for calls that return the parameter itself (`.cpu()`, `.float()`, `.contiguous()`), for what is detached, for
parameters with `requires_grad=False`, and outside of modules. Possible for `.to(device)`, which is the parameter itself
where it is on that device already, and where the attribute is given something else, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.mentions import Occurrence, stores
from codemods.analysis.python_context import Method, PythonContext
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.model.edits import Consequence, Safety
from codemods.model.names import PARAMETER, TORCH_MODULE
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import replace

_COMPUTING = frozenset(
    {"unsqueeze", "squeeze", "reshape", "view", "clone", "t", "transpose", "permute", "expand", "repeat", "cuda"}
    | {"mul", "div", "add", "sub", "exp", "log", "sqrt", "abs", "neg", "pow"}
)
"""Methods whose result is another tensor than what they are called on, with a graph."""

rule = Rule(
    code="GRD010",
    name="non-leaf-parameter",
    summary="what is computed from an `nn.Parameter` is no parameter: it is not registered and not trained",
    fix_title="Make the parameter of the computed value",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    triggers=(("Parameter",),),
    imports=("torch",),
    subclasses=TORCH_MODULE,
    errors=("can't optimize a non-leaf Tensor",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html",),
)


@rule.on(ast.Assign)
def non_leaf_parameter(statement: ast.Assign, ctx: PythonContext) -> Iterator[Draft]:
    method = ctx.method(statement)
    match statement.targets:
        case [ast.Attribute(value=ast.Name(id=owner), attr=name)] if method is not None and owner == method.self:
            pass
        case _:
            return
    value = statement.value
    if any(ctx.index.method(method.owner, each) is not None for each in (name, "__setattr__")):
        return  # a property, or `__setattr__`, may keep a parameter (`a_property`, `kept_by_a_base`)
    if (made := _computed_from(ctx, value)) is None or ctx.index.descends(method.owner, TORCH_MODULE) is not True:
        return
    inner, written = made.args[0], ctx.source(value)
    start = ctx.module.span(made)[0] - ctx.module.span(value)[0]
    computed = f"{written[:start]}{ctx.operand(inner)}{written[start + len(ctx.source(made)) :]}"
    yield rule.finding(
        statement,
        fix=[replace(value, f"{ctx.source(made.func)}({computed})")],
        message=f"`{ctx.written(statement.targets[0])}` is computed from a parameter and is none: nothing trains it",
        is_bug=[is_another_tensor(ctx, value), is_given_nothing_else(ctx, method, statement, name)],
    )


_EINOPS = frozenset(f"einops.{name}" for name in ("rearrange", "repeat", "reduce"))


def _computed_from(ctx: PythonContext, node: ast.expr) -> ast.Call | None:
    """The call that makes the parameter which a value is computed from."""
    match node:
        case ast.BinOp(left=left, right=right):
            found = [each for each in (_made(ctx, left), _made(ctx, right)) if each is not None]
            return found[0] if len(found) == 1 else None
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _made(ctx, operand)
        case ast.Call(func=func, args=[inner, *_]) if ctx.means(func, _EINOPS):
            return _made(ctx, inner) or _computed_from(ctx, inner)
        case ast.Call(func=ast.Attribute(value=inner, attr=attr)) if attr in _COMPUTING | {"to"}:
            return _made(ctx, inner) or _computed_from(ctx, inner)
    return None


def _made(ctx: PythonContext, node: ast.expr) -> ast.Call | None:
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords and ctx.means(node.func, PARAMETER):
        return None if isinstance(node.args[0], ast.Starred) else node
    return None


@question
def is_another_tensor(ctx: PythonContext, value: ast.expr) -> Answer:
    """Whether a value is another tensor than the parameter: `.to(device)` may be the parameter itself."""
    node = value
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _COMPUTING:
            return yes()
        node = node.func.value
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        return yes()
    return unknown(ctx.evidence(value, "on that device, and of that type, this is the parameter itself"))


@question
def is_given_nothing_else(ctx: PythonContext, method: Method, statement: ast.Assign, name: str) -> Answer:
    """Whether nothing else gives an attribute a value, which may be registered (`given_again`)."""
    others = [each for each in stores(ctx, name) if each.word == name and each.node not in statement.targets]
    mine = (each for each in others if each.ctx.method(each.node) is None or _is_of(each, method))
    return unless(each.evidence("this gives the attribute another value") for each in mine)


def _is_of(store: Occurrence, method: Method) -> bool:
    """Whether a place sets an attribute of the class of a method, or of something else than `self`."""
    own = store.ctx.method(store.node)
    of_self = own is not None and store.receiver is not None and store.ctx.name(store.receiver) == own.self
    return not of_self or own is None or own.owner == method.owner
