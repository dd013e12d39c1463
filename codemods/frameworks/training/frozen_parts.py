"""Parts of a model whose parameters are frozen, and which of them hold batch normalization."""

from __future__ import annotations

import ast
import re

from codemods.analysis.calls import argument, given, has_splat, keyword, literal, positional
from codemods.analysis.mentions import Occurrence
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import PossibleValue, possible_values
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS, own

_LAYERS = frozenset(f"torch.nn.{name}" for name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"))
_GROUPS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList"})
_NORMALIZED = (
    r"(resnet|resnext|wide_resnet|densenet|mobilenet|efficientnet|inception|googlenet|regnet|mnasnet|shufflenet)\w*"
    r"|vgg\w*_bn"
)
_MODELS = re.compile(rf"torchvision\.models\.({_NORMALIZED})")
_DEPTH = 3
_CHAINED = frozenset({"eval", "requires_grad_", "to", "cuda"})


def chain_of(node: ast.expr) -> tuple[ast.expr, list[ast.Call]]:
    """What the methods of `x.eval().requires_grad_(False)` are called on, and their calls."""
    calls: list[ast.Call] = []
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHAINED:
        calls.append(node)
        node = node.func.value
    return node, calls


def switched_by(node: ast.AST) -> tuple[ast.expr, bool] | None:
    """The module all of whose parameters a statement makes require gradients or not, and which: `x.requires_grad_()`,
    or a loop over `x.parameters()` that does nothing else.
    """
    match node:
        case ast.Expr(value=ast.Call() as call):
            owner, calls = chain_of(call)
            told = [mode for each in calls if (mode := _mode(each)) is not None]
            return (owner, told[0]) if told else None
        case ast.For(
            target=ast.Name(id=name),
            iter=ast.Call(func=ast.Attribute(value=owner, attr="parameters"), args=[], keywords=[]),
            body=[statement],
        ):
            match statement:
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=set_on), attr="requires_grad")], value=value):
                    mode = _truth(value)
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=set_on))) as call):
                    mode = _mode(call)
                case _:
                    return None
            return (owner, mode) if name == set_on and isinstance(mode, bool) else None
    return None


def frozen_by(node: ast.AST) -> ast.expr | None:
    """The module all of whose parameters a statement freezes."""
    found = switched_by(node)
    return found[0] if found is not None and not found[1] else None


def _mode(call: ast.Call) -> bool | None:
    """What a call of `requires_grad_` sets."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "requires_grad_":
        return None
    given = argument(call, "requires_grad", 0)
    return _truth(given) if given is not None else True


def _truth(node: ast.expr) -> bool | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, bool) else None


def holds_batch_norm(ctx: PythonContext, node: ast.expr, depth: int = _DEPTH) -> bool:
    """Whether a module surely holds batch normalization that keeps running statistics."""
    found, complete = possible_values(ctx, node, returns=True)
    made = [(each.ctx, each.node) for each in found if isinstance(each.node, ast.Call) and not each.path]
    return complete and len(made) == len(found) > 0 and all(_makes(where, call, depth) for where, call in made)


def _makes(ctx: PythonContext, call: ast.Call, depth: int) -> bool:
    """Whether a call makes a module with batch normalization: a layer, a model of a library, or of the project."""
    if any(keyword(call, each) is not None for each in ("norm_layer", "track_running_stats", "momentum")):
        return False
    origins = ctx.origin(call.func)
    if not origins or depth == 0:
        return False
    if origins <= _LAYERS or all(_MODELS.fullmatch(each) for each in origins):
        return not has_splat(call)
    if origins == {"timm.create_model"}:
        return bool(re.fullmatch(_NORMALIZED, str(literal(argument(call, "model_name", 0)))))
    if origins <= _GROUPS:
        return any(_is_inside(ctx, each, depth) for each in call.args)
    refs = [Ref.of(each) for each in origins if ":" in each]
    return len(refs) == len(origins) and all(_builds(ctx, ref, depth - 1) for ref in refs)


def _is_inside(ctx: PythonContext, part: ast.expr, depth: int) -> bool:
    """Whether an argument of a container holds batch normalization: a module, or `*list(model.children())[:-1]`."""
    if not isinstance(part, ast.Starred):
        return holds_batch_norm(ctx, part, depth)
    owners = [
        node.func.value
        for node in ast.walk(part)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "children"
    ]
    return len(owners) == 1 and holds_batch_norm(ctx, owners[0], depth)


def _builds(ctx: PythonContext, ref: Ref, depth: int) -> bool:
    """Whether the `__init__` of a class surely makes batch normalization."""
    where = ctx.other(ref.path)
    found = where.definition(f"{ref.name}.__init__") if where is not None else None
    if found is None:
        return False
    there, function = found
    for node in own(function):
        if isinstance(node, ast.Call) and not is_decided(there, node) and _makes(there, node, depth):
            return True
    return False


def is_decided(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether a test or a loop decides whether a node runs in its function."""
    for above in ctx.ancestors(node):
        if isinstance(above, FUNCTIONS):
            return False
        if isinstance(above, ast.If | ast.IfExp | ast.For | ast.While | ast.Try | ast.Match):
            return True
    return True


def is_trained(mention: Occurrence, owner: str) -> bool:
    """Whether a place surely puts an instance of a class into training mode."""
    if mention.call is None or mention.receiver is None:
        return False
    mode = argument(mention.call, "mode", 0)
    return _is_made_by(mention.ctx, mention.receiver, owner) and (mode is None or literal(mode) is True)


_WRAPPERS = frozenset(
    f"torch.nn.{name}"
    for name in ("DataParallel", "parallel.DistributedDataParallel", "SyncBatchNorm.convert_sync_batchnorm")
)


def _is_made_by(ctx: PythonContext, node: ast.expr, owner: str, depth: int = _DEPTH) -> bool:
    """Whether a value surely is an instance of a class, moved or not: `net = net.cuda()` (`given_to_the_class`)."""
    found, complete = possible_values(ctx, node, ordered=True, returns=True, given=given)
    made = [_makes_one(each, owner, depth) for each in found]
    return complete and bool(made) and all(made)


def _makes_one(value: PossibleValue, owner: str, depth: int) -> bool:
    if not isinstance(value.node, ast.Call) or value.path:
        return False
    made = chain_of(value.node)[0]
    if (
        isinstance(made, ast.Call)
        and value.ctx.means(made.func, _WRAPPERS)
        and (inner := positional(made, 0)) is not None
    ):
        return depth > 0 and _is_made_by(value.ctx, inner, owner, depth - 1)
    if isinstance(made, ast.Call):
        return value.ctx.origin(made.func) == {owner}
    return depth > 0 and isinstance(made, ast.Name) and _is_made_by(value.ctx, made, owner, depth - 1)
