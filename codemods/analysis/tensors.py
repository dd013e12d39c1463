"""What somebody differentiates: whether it is a tensor, and with which arguments."""

from __future__ import annotations

import re

import libcst as cst

from codemods.model.names import LIGHTNING_SETUP
from codemods.rules.context import Context
from codemods.syntax import flow
from codemods.syntax.rewrite import argument, literal, make_argument, unparenthesized

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


PARAMETERS = ("gradient", "retain_graph", "create_graph", "inputs")
"""Of `Tensor.backward`."""


def backward_arguments(ctx: Context, call: cst.Call) -> list[cst.Arg] | None:
    """The loss and the arguments of `Tensor.backward`, of `x.backward(…)` or `torch.autograd.backward(x, …)`.

    None where they cannot be told apart, or where several tensors are differentiated at once.
    """
    if not ctx.means(call.func, "torch.autograd.backward"):
        return [make_argument(None, unparenthesized(call.func.value)), *call.args]  # type: ignore[attr-defined]
    tensors, gradient = argument(call, "tensors", 0), argument(call, "grad_tensors", 1)
    if tensors is None or any(a.star or (a.keyword and a.keyword.value == "grad_variables") for a in call.args):
        return None
    loss = _single(ctx, tensors.value)
    if loss is None or not is_tensor(ctx, loss) or sum(a.keyword is None for a in call.args) > len(PARAMETERS):
        return None
    rest = [a for a in call.args if a is not tensors]
    if gradient is not None:
        one = _single(ctx, gradient.value)
        if one is None:
            return None
        changed = gradient.with_changes(value=one, keyword=cst.Name("gradient") if gradient.keyword else None)
        rest = [changed if a is gradient else a for a in rest]
    return [tensors.with_changes(value=loss, keyword=None, equal=cst.MaybeSentinel.DEFAULT), *rest]


def _single(ctx: Context, value: cst.BaseExpression) -> cst.BaseExpression | None:
    """The one tensor that is given, alone or as `[tensor]`; None where there may be several."""
    if isinstance(value, (cst.List, cst.Tuple)):
        if len(value.elements) != 1 or isinstance(value.elements[0], cst.StarredElement):
            return None
        return value.elements[0].value
    several = (cst.ListComp, cst.GeneratorExp, cst.List, cst.Tuple)
    if isinstance(value, several):
        return None
    for binding in ctx.assigned(value) or ():
        if isinstance(binding.value, several) or isinstance(binding.node, (cst.For, cst.AsName)):
            return None
    return value


def only_keywords(call: cst.Call) -> bool:
    """Whether a call gives nothing but keywords that `Tensor.backward` takes."""
    return all(a.keyword and a.keyword.value in PARAMETERS for a in call.args)


def as_of_a_tensor(call: cst.Call) -> bool:
    """Whether a call gives what `Tensor.backward` takes, and hardly another `backward`: not `x.backward(losses, y)`."""
    given = [a for a in call.args if a.keyword is None and not a.star]
    flags = [isinstance(literal(a.value), bool) for a in given[1:]]
    named = all(a.keyword.value in PARAMETERS for a in call.args if a.keyword is not None)
    return named and (not given or (bool(flags) and all(flags)))


def is_tensor(ctx: Context, node: cst.BaseExpression, depth: int = 4, *, by_name: bool = True) -> bool | None:
    """Whether `node`, on which `.backward()` is called, is a tensor: by what made it, by annotation, use, or name.

    False: surely something else (an engine, a module, an object of a class of the project); None: cannot be told.

    Args:
        by_name: whether a name that is one of a loss is enough.
    """
    if depth == 0:
        return None
    match node:
        case cst.BinaryOperation() | cst.UnaryOperation(operator=cst.Minus()):
            return True
        case cst.NamedExpr(value=value) | cst.Await(expression=value):
            return is_tensor(ctx, value, depth - 1, by_name=by_name)
        case cst.IfExp(body=body, orelse=orelse):
            arms = {is_tensor(ctx, arm, depth - 1, by_name=by_name) for arm in (body, orelse)}
            return arms.pop() if len(arms) == 1 else None
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            named = isinstance(key, cst.SimpleString) and is_loss_name(str(key.evaluated_value))
            return True if by_name and (named or is_loss_name(ctx.name(value) or "")) else None
        case cst.Call():
            return _called(ctx, node, depth)
        case cst.Name() | cst.Attribute():
            return _named(ctx, node, depth, by_name)
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


def _named(ctx: Context, node: cst.Name | cst.Attribute, depth: int, by_name: bool) -> bool | None:
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
    values = [b.value for b in bindings if b.value is not None and b.value is not node]
    verdicts = [is_tensor(ctx, value, depth - 1, by_name=by_name) for value in values]
    if True in verdicts or any(isinstance(b.node, cst.AugAssign) for b in bindings):
        return True
    if False in verdicts:
        return False
    if isinstance(node, cst.Name):
        return True if (by_name and is_loss_name(node.value)) or _used_as_a_tensor(ctx, node) else None
    return True if by_name and is_loss_name(node.attr.value) and not _kept_since_the_start(ctx, node) else None


def _kept_since_the_start(ctx: Context, node: cst.Attribute) -> bool:
    """Whether an attribute of `self` is set by constructors only, or nowhere in sight: that is no loss of a batch."""
    method = ctx.method(node)
    if method is None or ctx.name(node.value) != method.self:
        return False
    given = ctx.index.assigned(method.owner, node.attr.value)
    return all(a.method in ("", *LIGHTNING_SETUP) for _, a in given)


def is_loss_name(name: str) -> bool:
    """Whether a name is one of a loss: `loss_g`, `self.total_cost`; not that of what makes losses."""
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


def is_raw_backward(ctx: Context, call: cst.Call) -> bool:
    """Whether a call surely is `tensor.backward(…)` or `torch.autograd.backward(…)`."""
    if ctx.means(call.func, "torch.autograd.backward"):
        return True
    match call.func:
        case cst.Attribute(value=loss, attr=cst.Name(value="backward")):
            if ctx.loss_of(call) is loss and not ctx.owns_backward(loss):
                return is_tensor(ctx, loss, by_name=as_of_a_tensor(call)) is True
    return False
