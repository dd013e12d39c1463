"""`x = x.to(torch.float32)`, then `x.requires_grad_()`: a remedy that does harm.

## Why is this bad?
A cast never drops a gradient: `x.to(torch.float32)` requires one whenever `x` does, on every version of torch, also
under autocast. Whoever prints `requires_grad` inside a checkpointed layer sees `False` in the first of two passes,
which reentrant checkpointing runs under `no_grad`; the second pass, which builds the graph, says `True`.

In grad mode `requires_grad_()` after the cast changes nothing. Without it (under `no_grad`, or above a cut graph) the
cast made a new tensor, which now becomes a leaf of its own: the backward stops there without an error. The message that
led here

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

is gone, and everything below stays untrained. What helps is `use_reentrant=False` (see `implicit-reentrant` and
`hf-training-arguments`), or removing the cut.

## Fix safety
Reported by default. Removing the call is unsafe: the error that it hid may come back. That is the point.

## When it is not offered
Where the project differentiates with respect to an input (`torch.autograd.grad`, `create_graph`, `torch.func`), there
is no finding: forces and physics-informed losses need exactly this. Where it reads `.grad` or registers hooks, the
finding has no fix. Outside of the `forward` of a class nothing is looked at, nor are tensors that are no cast of an
activation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import keyword, literal, values
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import unknown
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import FUNCTIONS, Module
from codemods.syntax.verbs import Verb, delete, replace

CASTS = frozenset({"float", "half", "bfloat16", "double"})
FLOATING = frozenset(
    f"torch.{n}" for n in ("float16", "bfloat16", "float32", "float64", "half", "float", "double", "bfloat")
)
DIFFERENTIATION = ("torch.autograd.grad", "torch.autograd.functional", "torch.func", "functorch")
"""What differentiates with respect to inputs, by how its name begins."""
DIFFERENTIATING = ("create_graph", "retain_grad", "jacobian", "jacrev", "jacfwd")
"""What it is asked by, wherever it comes from: keywords and names."""

rule = Rule(
    code="CKP007",
    name="requires-grad-after-cast",
    summary="`requires_grad_()` after a cast hides a cut graph: everything below it stays untrained",
    fix_title="Remove `requires_grad_()`",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    knows=("requires_grad", "requires_grad_"),
    triggers=(("requires_grad_", "requires_grad"),),
    errors=("element 0 of tensors does not require grad and does not have a grad_fn",),
    references=(
        "https://github.com/hiyouga/LlamaFactory/issues/6675",
        "https://docs.pytorch.org/docs/stable/checkpoint.html",
    ),
)


@rule.on(ast.Call)
def call_after_cast(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """`x.requires_grad_()` on a line of its own, or at the end of the cast: `x.float().requires_grad_()`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "requires_grad_":
        return
    tensor, given = call.func.value, values(call)
    if given and literal(given[0]) is not True:
        return
    if not _in_forward(call, ctx):
        return
    if isinstance(tensor, ast.Name):
        statement = ctx.parent(call)
        if isinstance(statement, ast.Expr) and _was_cast(tensor, ctx) and not _differentiates(ctx):
            yield _draft(ctx, call, tensor, delete(statement))
    elif _is_cast(tensor, ctx) and not _differentiates(ctx):
        yield _draft(ctx, call, tensor, replace(call, tensor))


@rule.on(ast.Assign)
def flag_after_cast(assign: ast.Assign, ctx: PythonContext) -> Iterator[Draft]:
    """`x.requires_grad = True`."""
    match assign:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name() as tensor, attr="requires_grad")]) if (
            literal(assign.value) is True
        ):
            pass
        case _:
            return
    if _in_forward(assign, ctx) and _was_cast(tensor, ctx) and not _differentiates(ctx):
        yield _draft(ctx, assign, tensor, delete(assign))


def _draft(ctx: PythonContext, node: ast.Call | ast.Assign, tensor: ast.expr, fix: Verb) -> Draft:
    name = ctx.written(tensor)
    message = f"`{name}` is made to require a gradient after its cast, which drops none: this hides a cut below"
    # no line shows the cut: where what is cast is an input without a graph, there is none (deepspeed_pipeline)
    is_bug = [unknown(ctx.evidence(node, f"`{name}` may be an input that has no graph"))]
    if _reads_gradients(ctx):
        return rule.finding(node, message=message, is_bug=is_bug)
    return rule.finding(node, fix=[fix], message=message, is_bug=is_bug)


def _in_forward(node: ast.AST, ctx: PythonContext) -> bool:
    method = ctx.method(node)
    return method is not None and method.name in ("forward", "_forward", "_norm")


def _differentiates(ctx: PythonContext) -> bool:
    """Whether the project differentiates with respect to an input; also where a file cannot be read."""
    root = ctx.index.root(ctx.path)
    return ctx.index.recall((_differentiates, root), lambda: any(map(_asks_for_derivatives, _suspects(ctx))))


def _suspects(ctx: PythonContext) -> Iterator[PythonContext | None]:
    """The files that hold a word of differentiation."""
    words = {name.rpartition(".")[2] for name in DIFFERENTIATION} | {*DIFFERENTIATING, "functorch"}
    for path in ctx.index.search(ctx.path, tuple(word.encode() for word in sorted(words))):
        yield ctx.other(path)


def _asks_for_derivatives(ctx: PythonContext | None) -> bool:
    if ctx is None:
        return True
    imported = (name for i in ctx.facts.imports for name in (i.target, i.path))
    if any(_is_differentiation(name) for name in imported) or not ctx.facts.called.isdisjoint(DIFFERENTIATING):
        return True
    if any(each.arg in DIFFERENTIATING for each in ctx.all(ast.keyword)):
        return True
    return any(_is_differentiation(origin) for each in ctx.all(ast.Attribute) for origin in ctx.origin(each))


def _is_differentiation(name: str) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in DIFFERENTIATION)


def _reads_gradients(ctx: PythonContext) -> bool:
    """Whether the project reads `.grad` or registers hooks; also where a file cannot be read."""
    paths = ctx.index.search(ctx.path, (b"grad", b"hook"))
    index = ctx.index
    return index.recall((_reads_gradients, paths), lambda: any(_names_gradients(index.syntax(p)) for p in paths))


def _names_gradients(module: Module | None) -> bool:
    return module is None or any(a.attr == "grad" or _is_hook(a.attr) for a in module.all(ast.Attribute))


def _is_hook(name: str) -> bool:
    return name.startswith("register_") and name.endswith("hook")


def _is_cast(node: ast.expr | None, ctx: PythonContext) -> bool:
    """`x.float()`, `x.to(torch.float32)`, `x.to(dtype=…)`, of something that is a plain name."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr=name), args=args):
            if name in CASTS:
                return not args and not node.keywords
            given = keyword(node, "dtype") or next((a for a in args if not isinstance(a, ast.Starred)), None)
            return name in ("to", "type") and given is not None and _is_floating(given, ctx)
        case _:
            return False


def _is_floating(dtype: ast.expr, ctx: PythonContext) -> bool:
    """`torch.float32`, or the dtype of a tensor or weight."""
    if ctx.means(dtype, FLOATING):
        return True
    return isinstance(dtype, ast.Attribute) and dtype.attr == "dtype" and not ctx.origin(dtype)


def _was_cast(tensor: ast.Name, ctx: PythonContext) -> bool:
    """Whether the last thing that happened to a tensor before `tensor` is a cast of an activation."""
    scope = ctx.scope(tensor)
    if not isinstance(scope, FUNCTIONS):
        return False
    flow = ctx.flow_of(scope)
    before = [b for b in ctx.bindings(scope).get(tensor.id, ()) if flow.stands_before(b.node, tensor)]
    if not before or not _is_cast(before[-1].value, ctx):
        return False
    value = before[-1].value
    assert isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
    source = value.func.value
    known_here = ctx.parameter_names(scope) | set(ctx.bindings(scope))
    return isinstance(source, ast.Name) and source.id in known_here
