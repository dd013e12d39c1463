"""A tensor of bfloat16 is converted to a NumPy array.

## Why is this bad?
NumPy has no such dtype. `x.numpy()`, `np.array(x)` and `np.asarray(x)` raise, whatever `dtype` or `force` says (run
with PyTorch 2.13):

    TypeError: Got unsupported ScalarType BFloat16

## Fix safety
Safe: `.float()` before it gives the same numbers in 32 bits, each of them exact. Unsafe where the array may be written
to, and where its bytes are read: the copy has memory of its own, and twice the bytes.

## When it is not offered
Silent where the dtype is not surely bfloat16: a parameter, what a model computes under autocast, a `dtype` that is
given. So are integers and masks made of such a tensor, code that tests a dtype or catches the error, and classes of the
project that have a `numpy` of their own. Possible where the program puts other values into `.data`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import keyword
from codemods.analysis.mentions import is_spent, stores
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.flow.control_flow import condition
from codemods.frameworks.numerics.dtypes import arrays_are_made_by_torch, is_bfloat16
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import TRIES, own
from codemods.syntax.verbs import replace

_COPYING = "numpy.array"
_ARRAYS = frozenset({_COPYING, "numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray"})
_REDUCING = frozenset({"mean", "sum", "max", "min", "std", "var", "median", "argmax", "argmin", "concatenate", "stack"})
"""Functions, and methods of an array, that compute a new value."""
_COMPUTING = frozenset(f"numpy.{name}" for name in _REDUCING)
_TOUCHING = frozenset(
    {"fill", "sort", "partition", "put", "resize", "itemset", "setflags", "byteswap", "setfield"}
    | {"view", "tobytes", "tofile", "dump", "dtype", "nbytes", "itemsize", "strides", "data", "flat", "T"}
)
"""What writes to an array, shows its memory, or gives another array of the same memory."""

rule = Rule(
    code="NUM002",
    name="bf16-to-numpy",
    summary="a tensor of bfloat16 is converted to an array of NumPy, which has no such type",
    fix_title="Convert to float32 before",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    follows=True,
    triggers=(("numpy",), ("bfloat16",)),
    errors=("Got unsupported ScalarType BFloat16",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html",),
)


@rule.on(ast.Call)
def bf16_to_numpy(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    match call:
        case ast.Call(func=ast.Attribute(value=tensor, attr="numpy") as func, args=[]) if not ctx.origin(func):
            pass
        case ast.Call(func=func, args=[tensor, *_]) if ctx.means(func, _ARRAYS):
            pass
        case _:
            return
    if not is_bfloat16(ctx, tensor) or _is_minded(ctx, call):
        return
    yield rule.finding(
        call,
        fix=[replace(tensor, f"{ctx.source(tensor)}.float()")],
        message=f"`{ctx.written(tensor)}` is of bfloat16, which NumPy does not have",
        is_bug=[no_data_is_replaced(ctx), arrays_are_made_by_torch(ctx)],
        is_right=[] if ctx.means(func, _COPYING) and not keyword(call, "copy") else [array_is_not_written(ctx, call)],
    )


def _is_minded(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether code around a conversion tests a dtype, or catches what it raises."""
    flow, above = ctx.flow_of(ctx.scope(call)), [*ctx.ancestors(call)]
    tests = [edge.test for point in flow.points for edge in point.after if edge.test is not None]
    held = flow.tests(call)
    tests = [each for each in tests if (said := condition(each, holds=True)) is not None and said[0] in held]
    tests += [each.test for each in above if isinstance(each, (ast.IfExp, ast.If))]
    asked = any(isinstance(n, ast.Attribute) and n.attr == "dtype" for test in tests for n in ast.walk(test))
    return asked or any(isinstance(each, TRIES) and getattr(each, "handlers", ()) for each in above)


@question
def no_data_is_replaced(ctx: PythonContext) -> Answer:
    """Whether nothing in the program gives a tensor other data, perhaps of another dtype (`changed`)."""
    return unless(
        each.evidence("a tensor may get another dtype here") for each in stores(ctx, "data") if each.word == "data"
    )


@question
def array_is_not_written(ctx: PythonContext, call: ast.Call) -> Answer:
    """Whether nothing writes to an array, or reads the bytes of its memory (`written`)."""
    changed = [node for node in own(ctx.scope(call)) if isinstance(node, ast.AugAssign) and not _counts(ctx, node)]
    if changed:
        return unknown(ctx.evidence(changed[0], "the array may be written to here"))
    return yes() if is_spent(ctx, call, _ends) else unknown(ctx.evidence(call, "the array may be written to"))


def _counts(ctx: PythonContext, changed: ast.AugAssign) -> bool:
    """Whether what `+=` changes begins as a number."""
    found = ctx.bindings(ctx.scope(changed)).get(ctx.name(changed.target) or "", ())
    begun = [each.value for each in found if each.value is not None]
    return bool(begun) and all(isinstance(each, ast.Constant) for each in begun)


def _ends(ctx: PythonContext, node: ast.expr) -> bool | None:
    """Whether an array is read where it stands; None where it may be written to, or its memory is looked at."""
    above = ctx.parent(node)
    if isinstance(above, ast.Attribute) and above.attr in (*_TOUCHING, *_REDUCING):
        return None if above.attr in _TOUCHING else True
    if not isinstance(above, ast.Call) or node is above.func or any(each.arg == "out" for each in above.keywords):
        return False
    return ctx.name(above.func) in ("float", "int", "len", "str") or ctx.means(above.func, _COMPUTING)
