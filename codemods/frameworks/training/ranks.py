"""Tests that come out differently in each process of a distributed training."""

from __future__ import annotations

import ast
import builtins

from codemods.analysis.calls import binder, given, literal, named_calls, positional
from codemods.analysis.mentions import mentions
from codemods.analysis.python_context import PythonContext
from codemods.analysis.sources import sources
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.training.replicas import wraps
from codemods.syntax.module import FUNCTIONS

_RANK = frozenset({"torch.distributed.get_rank", "torch.distributed.distributed_c10d.get_rank"})
_SPAWN = frozenset({"torch.multiprocessing.spawn", "torch.multiprocessing.spawn.spawn"})
_VARIABLES = ("RANK", "LOCAL_RANK")
_FINITE = frozenset(f"{module}.{name}" for module in ("torch", "math") for name in ("isnan", "isinf", "isfinite"))
_OF_TENSORS = frozenset({"to", "cuda", "float", "mean", "sum", "pow", "view", "reshape", "squeeze", "flatten", "item"})
_DEPTH = 4


def differs_by_rank(ctx: PythonContext, test: ast.expr, depth: int = _DEPTH) -> bool:
    """Whether a test surely asks for the rank of a process: `rank == 0`, `not rank`, also under a name of its own."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return differs_by_rank(ctx, inner, depth)
        case ast.BoolOp(op=ast.And(), values=parts):
            return any(differs_by_rank(ctx, each, depth) for each in parts)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]) if literal(right) == 0:
            return _is_a_rank(ctx, left)
        case ast.Name() | ast.Attribute() | ast.Call() if depth:
            found, complete = possible_values(ctx, test, ordered=True, returns=True, given=given)
            tests = [(each.ctx, each.node) for each in found if isinstance(each.node, ast.Compare) and not each.path]
            known = complete and len(tests) == len(found) > 0
            return _is_a_rank(ctx, test) or (known and all(differs_by_rank(w, n, depth - 1) for w, n in tests))
    return False


def _is_a_rank(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a value surely is the rank of the process."""
    found, complete = possible_values(ctx, node, ordered=True, returns=True, given=given)
    known = [isinstance(each.node, ast.expr) and not each.path and _tells_rank(each.ctx, each.node) for each in found]
    return complete and len(known) > 0 and all(known)


def _tells_rank(ctx: PythonContext, node: ast.expr) -> bool:
    """`torch.distributed.get_rank()`, `int(os.environ["RANK"])`, the first parameter of what `spawn` is given."""
    match node:
        case ast.Call(func=ast.Name(id="int"), args=[inner]):
            return binder(ctx, "int", node) is None and _tells_rank(ctx, inner)
        case ast.Call(func=func, args=args):
            return ctx.means(func, _RANK) or (
                ctx.means(func, "os.environ.get", "os.getenv") and bool(args) and literal(args[0]) in _VARIABLES
            )
        case ast.Subscript(value=held, slice=key):
            return ctx.means(held, "os.environ") and literal(key) in _VARIABLES
        case ast.Name(id=name):
            function = binder(ctx, name, node)
            if not isinstance(function, FUNCTIONS) or name in ctx.bindings(function) or not function.args.args:
                return False
            spawned = [positional(call, 0) for call in named_calls(ctx, "spawn") if ctx.means(call.func, _SPAWN)]
            first = function.args.args[0].arg == name and ctx.klass(function) is None
            return first and any(isinstance(each, ast.Name) and each.id == function.name for each in spawned)
    return False


def is_of_finiteness(ctx: PythonContext, test: ast.expr, loss: ast.expr) -> bool:
    """Whether a test asks nothing but whether a loss is a finite number."""
    name = ctx.name(loss)
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return is_of_finiteness(ctx, inner, loss)
        case ast.BoolOp(values=parts):
            return all(is_of_finiteness(ctx, each, loss) for each in parts)
        case ast.Call(func=ast.Attribute(value=inner, attr="any" | "all" | "item"), args=[]):
            return is_of_finiteness(ctx, inner, loss)
        case ast.Call(func=ast.Attribute(value=inner, attr="isnan" | "isinf" | "isfinite"), args=[]):
            return name is not None and ctx.name(inner) == name
        case ast.Call(func=func, args=[inner]) if ctx.means(func, _FINITE):
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "item":
                inner = inner.func.value
            return name is not None and ctx.name(inner) == name
    return False


@question
def losses_surely_differ(ctx: PythonContext, test: ast.expr, loss: ast.expr) -> Answer:
    """Whether each process has a loss of its own: of its own batches, made by nothing unknown (`own_batches`)."""
    places = [] if mentions(ctx, "DistributedSampler") else [ctx.evidence(test, "all may have the same batches")]
    for call in sources(ctx, ctx.scope(loss), loss):
        if isinstance(call, ast.Call) and not _is_known(ctx, call):
            places.append(ctx.evidence(call, "this may give all processes one loss"))
    return unless(places)


def _is_known(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether what a call runs is in sight, or belongs to a library: a function, a module that is made in sight."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in _OF_TENSORS:
        return True
    if ctx.origin(call.func) or ctx.callee(call) is not None or wraps(ctx, call.func) is not None:
        return True
    found, complete = possible_values(ctx, call.func, returns=True, given=given)
    made = [isinstance(each.node, ast.Call) and bool(each.ctx.origin(each.node.func)) for each in found]
    return isinstance(call.func, ast.Name) and (
        hasattr(builtins, call.func.id) or (complete and bool(made) and all(made))
    )
