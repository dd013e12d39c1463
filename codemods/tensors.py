"""Whether what somebody calls `.backward()` on is a tensor: by what made it, by its annotation, by its use, or by name.

Three answers: True, False (surely something else: an engine, a module, a class of the project), None (cannot be told).
"""

from __future__ import annotations

import re

import libcst as cst

from codemods import flow
from codemods.context import Context

_LOSS = re.compile(
    r"[Ll]oss|LOSS|[Cc]ost|[Oo]bjective|[Pp]enalty|elbo|ELBO|nll"
    r"|(?:^|_)(?:err|error|kl|kld|mse|bce|gp)(?=$|_|[A-Z0-9])"
)
_NOT_A_LOSS = re.compile(
    r"(?:fn|func|function|module|net|model|scaler|meter|handler|manager|computer|weight|engine|strategy|plugin|helper"
    r"|optimizer|trainer|accelerator|fabric|criterion)$",
    re.I,
)
_LOSS_MAKER = re.compile(r"loss|criterion|objective|elbo|cross_entropy|nll", re.I)

METHODS = frozenset(
    {"mean", "sum", "max", "min", "norm", "abs", "exp", "log", "sqrt", "pow", "square", "squeeze", "unsqueeze", "view"}
    | {"reshape", "flatten", "clone", "detach", "float", "double", "half", "bfloat16", "contiguous", "requires_grad_"}
    | {"matmul", "mul", "add", "sub", "div", "neg", "clamp", "logsumexp", "log_softmax", "softmax", "gather", "nanmean"}
)
"""Methods of a tensor that give a tensor."""
PROTOCOL = METHODS | {"item", "cpu", "numpy", "tolist", "requires_grad", "grad_fn", "backward_hooks", "dim", "ndim"}


def is_tensor(ctx: Context, node: cst.BaseExpression, depth: int = 4) -> bool | None:
    """Whether `node`, on which `.backward()` is called, is a tensor."""
    if depth == 0:
        return None
    match node:
        case cst.BinaryOperation() | cst.UnaryOperation(operator=cst.Minus()):
            return True
        case cst.NamedExpr(value=value) | cst.Await(expression=value):
            return is_tensor(ctx, value, depth - 1)
        case cst.IfExp(body=body, orelse=orelse):
            arms = {is_tensor(ctx, body, depth - 1), is_tensor(ctx, orelse, depth - 1)}
            return arms.pop() if len(arms) == 1 else None
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            named = isinstance(key, cst.SimpleString) and _named_like_a_loss(str(key.evaluated_value))
            return True if named or _named_like_a_loss(ctx.name(value) or "") else None
        case cst.Call():
            return _called(ctx, node, depth)
        case cst.Name() | cst.Attribute():
            return _named(ctx, node, depth)
    return None


def _called(ctx: Context, call: cst.Call, depth: int) -> bool | None:
    if origins := ctx.origin(call.func):
        if all(_makes_tensors(o) for o in origins):
            return True
        if any(_is_class(ctx, o) for o in origins):
            return False
    match call.func:
        case cst.Attribute(value=receiver, attr=cst.Name(value=name)) if name in METHODS and not ctx.origin(receiver):
            return True
        case cst.Call(func=maker):  # nn.CrossEntropyLoss()(logits, y)
            return True if any(o.startswith("torch.nn.") for o in ctx.origin(maker)) else None
    if ctx.calls(call, "builtins.sum") or ctx.name(call.func) == "sum":
        return True
    kind = ctx.kind(call.func)
    if kind and all(o.startswith("torch.nn.") for o in kind.names):
        return True
    last = (ctx.name(call.func) or "").rpartition(".")[2]
    return True if _LOSS_MAKER.search(last) and not _of_a_library(origins) else None


def _of_a_library(origins: frozenset[str]) -> bool:
    """Whether a name comes from a library (not from the project)."""
    return any(":" not in o for o in origins)


def _named(ctx: Context, node: cst.Name | cst.Attribute, depth: int) -> bool | None:
    if ctx.origin(node):
        return False
    kind = ctx.kind(node)
    if kind is not None:
        if all(_makes_tensors(o) for o in kind.names):
            return True
        if any(_is_class(ctx, o) for o in kind.names):
            return False
    bindings = ctx.assigned(node) or ()
    if bindings and all(isinstance(b.node, cst.AsName) for b in bindings):
        return False
    verdicts = [is_tensor(ctx, b.value, depth - 1) for b in bindings if b.value is not None and b.value is not node]
    if True in verdicts or any(isinstance(b.node, cst.AugAssign) for b in bindings):
        return True
    if False in verdicts:
        return False
    if isinstance(node, cst.Name):
        return True if _named_like_a_loss(node.value) or _used_as_a_tensor(ctx, node) else None
    return True if _named_like_a_loss(node.attr.value) else None


def _named_like_a_loss(name: str) -> bool:
    last = name.rpartition(".")[2]
    return bool(_LOSS.search(last)) and not _NOT_A_LOSS.search(last)


def _used_as_a_tensor(ctx: Context, name: cst.Name) -> bool:
    """Whether the function around uses the name in arithmetic, or as only a tensor can be used."""
    scope = ctx.scope(name)
    for node in flow.own(scope.body if isinstance(scope, cst.FunctionDef) else scope):
        match node:
            case cst.Attribute(value=cst.Name(value=used), attr=cst.Name(value=attribute)):
                if used == name.value and attribute in PROTOCOL:
                    return True
            case cst.BinaryOperation(left=left, right=right):
                if name.value in (ctx.name(left), ctx.name(right)):
                    return True
    return False


def _makes_tensors(origin: str) -> bool:
    """`torch.Tensor`, and the functions of torch."""
    last = origin.rpartition(".")[2]
    return origin == "torch.Tensor" or (origin.startswith("torch.") and last.islower())


def _is_class(ctx: Context, origin: str) -> bool:
    """A class, of the project or of a library."""
    if ":" not in origin:
        return origin.rpartition(".")[2][:1].isupper()
    path, name = origin.split(":", 1)
    facts = ctx.index.facts(path)
    return facts is not None and name in facts.classes
