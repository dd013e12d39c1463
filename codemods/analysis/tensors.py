"""What a backward call differentiates: whether it is a tensor, and how to say the same to another `backward`."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from codemods.analysis import instances
from codemods.analysis.calls import argument, literal
from codemods.analysis.mentions import are_connected
from codemods.analysis.optimizers import uses_of
from codemods.analysis.python_context import PythonContext
from codemods.analysis.sources import carried
from codemods.analysis.values import PossibleValue, possible_values, verdicts
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.model.edits import Evidence
from codemods.model.names import AUTOGRAD_FUNCTION, LIGHTNING_SETUP
from codemods.project.index import Ref
from codemods.syntax.module import Function, own
from codemods.syntax.verbs import Verb, edit_call

METHODS = frozenset(
    {"mean", "sum", "max", "min", "norm", "abs", "exp", "log", "sqrt", "pow", "square", "squeeze", "unsqueeze", "view"}
    | {"reshape", "flatten", "clone", "detach", "float", "double", "half", "bfloat16", "contiguous", "requires_grad_"}
    | {"matmul", "mul", "add", "sub", "div", "neg", "clamp", "logsumexp", "log_softmax", "softmax", "gather", "nanmean"}
)
"""Methods of a tensor that give a tensor."""
PROTOCOL = METHODS | {"item", "cpu", "numpy", "tolist", "requires_grad", "grad_fn", "backward_hooks", "dim", "ndim"}


_LIKE = frozenset(f"{name}_like" for name in ("zeros", "ones", "full", "rand", "randn", "empty"))

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
    one = _single(ctx, gradient) if gradient is not None and not _may_be_several(ctx, gradient) else None
    if loss is None or (loss is tensors and not is_tensor(ctx, loss)):
        return None
    if gradient is not None and one is None:
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
    found, _ = possible_values(ctx, value, returns=True)
    several = (ast.ListComp, ast.GeneratorExp, ast.List, ast.Tuple, ast.withitem)
    return None if any(each.path or isinstance(each.node, several) for each in found) else value


def _may_be_several(ctx: PythonContext, value: ast.expr) -> bool:
    """Whether a value comes from a call that nobody can look into, and that is no function of torch."""
    found, complete = possible_values(ctx, value, returns=True)
    if not complete and isinstance(value, ast.Name) and ctx.bindings(ctx.scope(value)).get(value.id):
        return True
    if any(isinstance(each.node, ast.pattern) for each in found):
        return True  # what a pattern of `match` has taken
    for each in found:
        node = each.node
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        if isinstance(node, ast.Call) and not any(o.startswith("torch.") for o in each.ctx.origin(node.func)):
            if not (isinstance(node.func, ast.Attribute) and node.func.attr in METHODS):
                return True
    return False


def only_keywords(call: ast.Call) -> bool:
    """Whether a call gives nothing but keywords that `Tensor.backward` takes."""
    return not call.args and all(k.arg in PARAMETERS for k in call.keywords)


def as_of_a_tensor(call: ast.Call) -> bool:
    """Whether a call gives what `Tensor.backward` takes, and hardly another `backward`: not `x.backward(losses, y)`."""
    given = [a for a in call.args if not isinstance(a, ast.Starred)]
    flags = [isinstance(literal(a), bool) for a in given[1:]]
    named = all(k.arg in PARAMETERS for k in call.keywords if k.arg is not None)
    return named and (not given or (bool(flags) and all(flags)))


def is_tensor(ctx: PythonContext, node: ast.expr) -> bool | None:
    """Whether `node`, on which `.backward()` is called, is a tensor: by what made it, by annotation, or by use.

    False: surely something else (an engine, a module, an object of a class of the project); None: cannot be told.
    """
    if (name := ctx.name(node)) is not None and "()" in uses_of(ctx, node, name):
        return False  # it is called itself
    names: list[PossibleValue] = []

    def judge(value: PossibleValue) -> bool | str | None:
        verdict = _made(value)
        if verdict is None and isinstance(value.node, ast.Attribute) and _kept_since_the_start(value.ctx, value.node):
            return "no loss of a batch"
        names.append(value)
        return verdict

    told = verdicts(PossibleValue(ctx, node), judge)
    if (True in told or False in told) and not _adds_to_an_object(ctx, node):
        return True in told
    return True if any(_is_used_as_a_tensor(each) for each in names) else None


@question
def differentiates_a_tensor(ctx: PythonContext, call: ast.Call) -> Answer:
    """Whether a backward call differentiates a tensor, and is no `backward` of another object."""
    if ctx.means(call.func, "torch.autograd.backward"):
        return yes()
    loss = ctx.loss_of(call)
    if loss is None:
        return no()
    if (verdict := is_tensor(ctx, loss)) is not None:
        return yes() if verdict else no()
    doubt = ctx.evidence(call, f"`{ctx.written(loss)}` may be no tensor")
    if not as_of_a_tensor(call):
        return unknown(doubt)
    return unless([*_opaque(ctx, loss), *_other_backwards(ctx, len(call.args))])


def _adds_to_an_object(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a name is bound by `+=` too, to something that a class of the project makes."""
    if not isinstance(node, ast.Name):
        return False
    bound = [each.node for each in ctx.bindings(ctx.scope(node)).get(node.id, ())]
    made = [each.value for each in bound if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call)]
    return any(isinstance(each, ast.AugAssign) for each in bound) and any(
        ":" in origin and ctx.index.klass(Ref.of(origin)) is not None
        for call in made
        for origin in ctx.origin(call.func)
    )


def _opaque(ctx: PythonContext, loss: ast.expr) -> Iterator[Evidence]:
    """The ends of a value that may be anything: what was kept, put away, or handed on, and is no result of a call."""
    ends, _ = possible_values(ctx, loss, returns=True)
    for leaf in carried(ctx, ctx.scope(loss), loss):
        followed = isinstance(leaf, ast.Call) and instances.callee(ctx, leaf) is not None
        ends += [] if followed else possible_values(ctx, leaf, returns=True)[0]
    for value in dict.fromkeys(ends):
        where, node = value.ctx, value.node
        if not isinstance(node, ast.expr) or _made(value) is True:
            continue
        base = node
        while isinstance(base, (ast.Attribute, ast.Subscript)):
            base = base.value
        kept = isinstance(node, ast.Attribute) and _kept_since_the_start(where, node)
        elsewhere = not isinstance(base, ast.Call) and where.scope(node) is not ctx.scope(loss)
        if kept or elsewhere or (isinstance(base, ast.Call) and not _may_compute(where, base)):
            yield where.evidence(node, f"`{where.written(node)}` may be no tensor")


def _may_compute(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call that nobody can look into may be that of a module or a loss function.

    It is none of Python's own functions, makes no object, runs no generator, and is not itself what a call gives.
    """
    if isinstance(call.func, ast.Call):
        return False
    name = ctx.name(call.func) or ""
    if hasattr(builtins, name) and name not in ctx.facts.rebound:
        return False
    origins = ctx.origin(call.func)
    return instances.callee(ctx, call) is None and not any(
        _is_class(ctx, o) or o.startswith("functools.") for o in origins
    )


def _is_kept(ctx: PythonContext, loss: ast.expr) -> bool:
    """Whether a loss is read from an object that is no part of a batch, so far as the code shows."""
    return isinstance(loss, ast.Attribute) and _kept_since_the_start(ctx, loss)


def _other_backwards(ctx: PythonContext, given: int) -> Iterator[Evidence]:
    """The methods of classes of the program that are called as `x.backward()` is: with `given` arguments, or none."""
    for path in dict.fromkeys((ctx.path, *ctx.index.search(ctx.path, (b"backward",)))):
        facts = ctx.index.facts(path)
        for name, klass in facts.classes.items() if facts is not None else ():
            if "backward" not in klass.methods or ctx.index.descends(Ref(path, name), AUTOGRAD_FUNCTION):
                continue
            other = ctx.other(path) if are_connected(ctx.index, ctx.path, path) else None
            found = other.definition(f"{name}.backward") if other is not None else None
            if found is not None and _takes(found[1], given):
                yield Evidence(path, found[1].lineno, f"`{name}` has a `backward` of its own")


def _takes(method: Function, given: int) -> bool:
    """Whether a method can be called with so many arguments by position."""
    arguments = method.args
    most = len(arguments.posonlyargs) + len(arguments.args) - 1
    least = most - len(arguments.defaults)
    required = any(default is None for default in arguments.kw_defaults)
    return least <= given and (given <= most or arguments.vararg is not None) and not required


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
    return None


def _named(ctx: PythonContext, node: ast.Name | ast.Attribute) -> bool | None:
    if ctx.origin(node):
        return False
    kind = instances.of(ctx, node)
    if kind is not None and all(_makes_tensors(o) for o in kind.names):
        return True
    return False if kind is not None and any(_is_class(ctx, o) for o in kind.names) else None


def _is_used_as_a_tensor(value: PossibleValue) -> bool:
    return isinstance(value.node, ast.Name) and not value.path and _used_as_a_tensor(value.ctx, value.node)


def _kept_since_the_start(ctx: PythonContext, node: ast.Attribute) -> bool:
    """Whether an attribute of `self` is set by constructors only, or nowhere in sight: that is no loss of a batch."""
    method = ctx.method(node)
    if method is None or ctx.name(node.value) != method.self:
        return False
    given = ctx.index.assigned(method.owner, node.attr)
    return all(a.method in ("", *LIGHTNING_SETUP) for _, a in given)


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
            case ast.Call(func=func, args=[ast.Name(id=used), *_]) if used == name.id:
                if any(_takes_a_tensor(origin) for origin in ctx.origin(func)):
                    return True
    return False


def _takes_a_tensor(origin: str) -> bool:
    """A function of torch whose first argument is one tensor: `torch.ones_like`."""
    return _makes_tensors(origin) and origin.rpartition(".")[2] in METHODS | _LIKE


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
    """Whether a call may be `tensor.backward(…)` or `torch.autograd.backward(…)`; see `differentiates_a_tensor`."""
    if ctx.means(call.func, "torch.autograd.backward"):
        return True
    match call.func:
        case ast.Attribute(value=loss, attr="backward"):
            if ctx.loss_of(call) is loss and not ctx.owns_backward(loss):
                verdict = is_tensor(ctx, loss)
                return verdict or (verdict is None and as_of_a_tensor(call) and not _is_kept(ctx, loss))
    return False
