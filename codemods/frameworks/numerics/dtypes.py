"""Of which dtype a tensor surely is, by what makes it."""

from __future__ import annotations

import ast

from codemods.analysis.calls import argument, has_splat, keyword, literal
from codemods.analysis.mentions import definers, mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, question, unless
from codemods.model.edits import Evidence

_MAKING = frozenset(
    f"torch.{name}{like}" for name in ("zeros", "ones", "empty", "full", "rand", "randn") for like in ("", "_like")
) | {"torch.tensor", "torch.as_tensor", "torch.arange", "torch.linspace", "torch.eye"}
"""Functions whose `dtype` is that of the tensor that they make."""
_KEEPING = frozenset(
    {"cpu", "cuda", "detach", "clone", "contiguous", "squeeze", "unsqueeze", "flatten", "reshape", "view", "t"}
    | {"transpose", "permute", "expand", "repeat"}
)
"""Methods that leave the dtype as it is, where they are given numbers at most."""
_SEEN_THROUGH = frozenset({"T", "mT", "data"})
_DEPTH = 8


def is_bfloat16(ctx: PythonContext, node: ast.AST, depth: int = _DEPTH) -> bool:
    """Whether an expression surely is a tensor of bfloat16: converted to it, or made of it, in sight."""
    if not depth:
        return False
    match node:
        case ast.Name() if not _is_set_by_others(ctx, node):
            found, complete = possible_values(ctx, node, ordered=True, returns=True)
            values = [each for each in found if each.node is not node and not each.path]
            alike = all(is_bfloat16(each.ctx, each.node, depth - 1) for each in values)
            return complete and len(values) == len(found) > 0 and alike
        case ast.Attribute(value=inner, attr=attribute) if attribute in _SEEN_THROUGH:
            return is_bfloat16(ctx, inner, depth - 1)
        case ast.Subscript(value=inner, slice=index) if not isinstance(literal(index), str):
            return _is_a_place(index) and is_bfloat16(ctx, inner, depth - 1)
        case ast.Call() if has_splat(node):
            return False
        case ast.Call(func=func) if ctx.means(func, _MAKING):
            dtype = keyword(node, "dtype")
            return dtype is not None and means_bfloat16(ctx, dtype)
        case ast.Call(func=ast.Attribute(value=inner, attr=method) as func) if not ctx.origin(func):
            return _of_a_method(ctx, node, inner, method, depth)
    return False


def _of_a_method(ctx: PythonContext, call: ast.Call, inner: ast.expr, method: str, depth: int) -> bool:
    given = [*call.args, *(each.value for each in call.keywords)]
    if any(definers(ctx, method)):
        return False  # a class of the project may have one of its own (`of_its_own`)
    if method == "bfloat16":
        return not given
    if method in ("to", "type"):
        if any(means_bfloat16(ctx, each) for each in given):
            return True
        return bool(given) and all(_is_a_device(ctx, each) for each in given) and is_bfloat16(ctx, inner, depth - 1)
    return method in _KEEPING and all(map(_is_a_place, given)) and is_bfloat16(ctx, inner, depth - 1)


def means_bfloat16(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether an expression surely is `torch.bfloat16`: itself, or a name for it."""
    if ctx.means(node, "torch.bfloat16"):
        return True
    if not isinstance(node, ast.Name) or _is_set_by_others(ctx, node):
        return False
    found, complete = possible_values(ctx, node)
    plain = (isinstance(each.node, ast.Attribute) and each.ctx.means(each.node, "torch.bfloat16") for each in found)
    return complete and bool(found) and all(plain)


def _is_set_by_others(ctx: PythonContext, name: ast.Name) -> bool:
    """Whether a function says that it sets a variable around it."""
    declared: list[ast.Global | ast.Nonlocal] = [*ctx.all(ast.Global), *ctx.all(ast.Nonlocal)]
    return any(name.id in each.names for each in declared)


def _is_a_device(ctx: PythonContext, node: ast.expr) -> bool:
    return isinstance(literal(node), str | bool) or (
        isinstance(node, ast.Call) and ctx.means(node.func, "torch.device")
    )


def _is_a_place(node: ast.expr) -> bool:
    """Whether a size, an axis or an index surely is no dtype, and no key of a dictionary: made of numbers."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return all(isinstance(each, ast.Slice) or isinstance(literal(each), int) or literal(each) is None for each in parts)


@question
def arrays_are_made_by_torch(ctx: PythonContext) -> Answer:
    """Whether `.numpy()` is that of a tensor: none is set (`numpy_is_replaced`), and no class of the program has one.

    Fixture of the latter: `array_of_an_own_class`.
    """
    own = (
        Evidence(path, klass.methods[name].line, f"`{klass.name}` has a `{name}` of its own")
        for path, klass, name in definers(ctx, "numpy")
    )
    put = (each.evidence("`numpy` is set here") for each in stores(ctx, "numpy") if each.word == "numpy")
    return unless((*own, *put))


@question
def numpy_has_its_type(ctx: PythonContext) -> Answer:
    """Whether no tensor of the program may be in bfloat16, of which NumPy makes no array (`array_of_bfloat16`).

    Autocast of the CPU is in bfloat16 where nobody says anything else.
    """
    named = (each.evidence("NumPy has no bfloat16") for each in mentions(ctx, "bfloat16"))
    regions = (
        each.evidence("autocast of the CPU is in bfloat16, which NumPy does not have")
        for each in mentions(ctx, "autocast")
        if each.call is not None and literal(argument(each.call, "device_type", 0)) == "cpu"
        if argument(each.call, "dtype", 1) is None
    )
    return unless((*named, *regions))
