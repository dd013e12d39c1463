"""What a backward call differentiates: whether it is a tensor, and how to say the same to another `backward`."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from codemods.analysis import instances
from codemods.analysis.calls import argument, literal
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import PossibleValue, possible_values, verdicts
from codemods.model.names import LIGHTNING_SETUP
from codemods.syntax.module import own
from codemods.syntax.verbs import Verb, edit_call

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


def redirected(ctx: PythonContext, call: ast.Call, function: str, *, keywords_only: bool = False) -> Verb | None:
    """`function(loss, …)` in place of `loss.backward(…)` or `torch.autograd.backward(loss, …)`.

    Args:
        keywords_only: whether `function` takes everything but the loss by keyword.

    Returns:
        None where the arguments cannot be told apart, or where several tensors are differentiated at once.
    """
    if ctx.means(call.func, "torch.autograd.backward"):
        return _redirected_function(ctx, call, function, keywords_only)
    assert isinstance(call.func, ast.Attribute)
    named = _by_keyword(call.args) if keywords_only else {}
    if named is None:
        return None
    return edit_call(call, function=function, first=[(None, ctx.source(call.func.value))], named=named)


def _redirected_function(ctx: PythonContext, call: ast.Call, function: str, keywords_only: bool) -> Verb | None:
    """The same for `torch.autograd.backward(tensors, grad_tensors, retain_graph, create_graph, …)`."""
    if any(isinstance(a, ast.Starred) for a in call.args) or len(call.args) > len(PARAMETERS):
        return None
    if any(k.arg in (None, "grad_variables") for k in call.keywords):
        return None
    tensors, gradient = argument(call, "tensors", 0), argument(call, "grad_tensors", 1)
    loss = _single(ctx, tensors) if tensors is not None else None
    one = _single(ctx, gradient) if gradient is not None else None
    if loss is None or not is_tensor(ctx, loss) or (gradient is not None and one is None):
        return None
    values: dict[ast.expr | ast.keyword, str] = {}
    named = (_by_keyword(call.args[1:]) if keywords_only else {}) or {}
    for given in call.keywords:
        if given.arg == "grad_tensors":
            named[given] = "gradient"
    if one is not None and one is not gradient:
        values[next((k for k in call.keywords if k.value is gradient), gradient or one)] = ctx.source(one)
    if call.args:
        if loss is not tensors:
            values[call.args[0]] = ctx.source(loss)
        return edit_call(call, function=function, values=values, named=named)
    drop = [k for k in call.keywords if k.arg == "tensors"]
    first = [(None, ctx.source(loss))]
    return edit_call(call, function=function, first=first, values=values, named=named, drop=drop)


def _by_keyword(given: Sequence[ast.expr]) -> dict[ast.expr | ast.keyword, str] | None:
    """The keywords of `Tensor.backward` for arguments by position; None where these are too many, or spread."""
    if len(given) > len(PARAMETERS) or any(isinstance(each, ast.Starred) for each in given):
        return None
    return dict(zip(given, PARAMETERS, strict=False))


def _single(ctx: PythonContext, value: ast.expr) -> ast.expr | None:
    """The one tensor that is given, alone or as `[tensor]`; None where there may be several."""
    if isinstance(value, (ast.List, ast.Tuple)):
        if len(value.elts) != 1 or isinstance(value.elts[0], ast.Starred):
            return None
        return value.elts[0]
    found, _ = possible_values(ctx, value)
    several = (ast.ListComp, ast.GeneratorExp, ast.List, ast.Tuple, ast.withitem)
    return None if any(each.path or isinstance(each.node, several) for each in found) else value


def only_keywords(call: ast.Call) -> bool:
    """Whether a call gives nothing but keywords that `Tensor.backward` takes."""
    return not call.args and all(k.arg in PARAMETERS for k in call.keywords)


def as_of_a_tensor(call: ast.Call) -> bool:
    """Whether a call gives what `Tensor.backward` takes, and hardly another `backward`: not `x.backward(losses, y)`."""
    given = [a for a in call.args if not isinstance(a, ast.Starred)]
    flags = [isinstance(literal(a), bool) for a in given[1:]]
    named = all(k.arg in PARAMETERS for k in call.keywords if k.arg is not None)
    return named and (not given or (bool(flags) and all(flags)))


def is_tensor(ctx: PythonContext, node: ast.expr, *, by_name: bool = True) -> bool | None:
    """Whether `node`, on which `.backward()` is called, is a tensor: by what made it, by annotation, use, or name.

    False: surely something else (an engine, a module, an object of a class of the project); None: cannot be told.

    Args:
        by_name: whether a name that is one of a loss is enough.
    """
    names: list[PossibleValue] = []

    def judge(value: PossibleValue) -> bool | str | None:
        verdict = _made(value)
        if verdict is None and isinstance(value.node, ast.Attribute) and _kept_since_the_start(value.ctx, value.node):
            return "no loss of a batch"
        names.append(value)
        return verdict

    told = verdicts(PossibleValue(ctx, node), judge)
    if True in told or False in told:
        return True in told
    return True if any(_speaks_of_a_tensor(each, by_name) for each in names) else None


def _made(value: PossibleValue) -> bool | None:
    """The same of what makes a value."""
    match value.node:
        case ast.withitem() | ast.ExceptHandler():
            return False
        case _ if value.path:
            return None
        case ast.BinOp() | ast.UnaryOp(op=ast.USub()) | ast.AugAssign():
            return True
        case ast.Call() as call:
            return _called(value.ctx, call)
        case ast.Name() | ast.Attribute() as name:
            return _named(value.ctx, name)
    return None


def _called(ctx: PythonContext, call: ast.Call) -> bool | None:
    if origins := ctx.origin(call.func):
        if all(_makes_tensors(o) for o in origins):
            return True
        if any(_is_class(ctx, o) for o in origins):
            return False
    match call.func:
        case ast.Attribute(value=receiver, attr=name) if name in METHODS and not ctx.origin(receiver):
            return True
        case ast.Call(func=maker):  # nn.CrossEntropyLoss()(logits, y)
            return True if any(o.startswith("torch.nn.") for o in ctx.origin(maker)) else None
    if ctx.calls(call, "builtins.sum") or ctx.name(call.func) == "sum":
        return True
    kind = instances.of(ctx, call.func)
    if kind and all(o.startswith("torch.nn.") for o in kind.names):
        return True
    last = (ctx.name(call.func) or "").rpartition(".")[2]
    return True if _LOSS_MAKER.search(last) and not _of_a_library(origins) else None


def _of_a_library(origins: frozenset[str]) -> bool:
    """Whether a name comes from a library (not from the project)."""
    return any(":" not in o for o in origins)


def _named(ctx: PythonContext, node: ast.Name | ast.Attribute) -> bool | None:
    if ctx.origin(node):
        return False
    kind = instances.of(ctx, node)
    if kind is not None and all(_makes_tensors(o) for o in kind.names):
        return True
    return False if kind is not None and any(_is_class(ctx, o) for o in kind.names) else None


def _speaks_of_a_tensor(value: PossibleValue, by_name: bool) -> bool:
    """Whether a name is one of a loss, or used as that of a tensor."""
    ctx = value.ctx
    match value.node:
        case _ if value.path:
            return False
        case ast.Subscript(value=held, slice=key) if not isinstance(key, ast.Slice | ast.Tuple):
            text = literal(key)
            return by_name and ((isinstance(text, str) and is_loss_name(text)) or is_loss_name(ctx.name(held) or ""))
        case ast.Name(id=name) as used:
            return (by_name and is_loss_name(name)) or _used_as_a_tensor(ctx, used)
        case ast.Attribute(attr=name):
            return by_name and is_loss_name(name)
    return False


def _kept_since_the_start(ctx: PythonContext, node: ast.Attribute) -> bool:
    """Whether an attribute of `self` is set by constructors only, or nowhere in sight: that is no loss of a batch."""
    method = ctx.method(node)
    if method is None or ctx.name(node.value) != method.self:
        return False
    given = ctx.index.assigned(method.owner, node.attr)
    return all(a.method in ("", *LIGHTNING_SETUP) for _, a in given)


def is_loss_name(name: str) -> bool:
    """Whether a name is one of a loss: `loss_g`, `self.total_cost`; not that of what makes losses."""
    last = name.rpartition(".")[2]
    return bool(_LOSS.search(last)) and not _NOT_A_LOSS.search(last)


def _used_as_a_tensor(ctx: PythonContext, name: ast.Name) -> bool:
    """Whether the function around uses the name in arithmetic, or as only a tensor can be used."""
    scope = ctx.scope(name)
    for node in own(scope):
        match node:
            case ast.Attribute(value=ast.Name(id=used), attr=attribute):
                if used == name.id and attribute in PROTOCOL:
                    return True
            case ast.BinOp(left=left, right=right):
                if name.id in (ctx.name(left), ctx.name(right)):
                    return True
    return False


def _makes_tensors(origin: str) -> bool:
    """`torch.Tensor`, and the functions of torch."""
    last = origin.rpartition(".")[2]
    return origin == "torch.Tensor" or (origin.startswith("torch.") and last.islower())


def _is_class(ctx: PythonContext, origin: str) -> bool:
    """A class, of the project or of a library."""
    if ":" not in origin:
        return origin.rpartition(".")[2][:1].isupper()
    path, name = origin.split(":", 1)
    facts = ctx.index.facts(path)
    return facts is not None and name in facts.classes


def is_raw_backward(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call surely is `tensor.backward(…)` or `torch.autograd.backward(…)`."""
    if ctx.means(call.func, "torch.autograd.backward"):
        return True
    match call.func:
        case ast.Attribute(value=loss, attr="backward"):
            if ctx.loss_of(call) is loss and not ctx.owns_backward(loss):
                return is_tensor(ctx, loss, by_name=as_of_a_tensor(call)) is True
    return False
