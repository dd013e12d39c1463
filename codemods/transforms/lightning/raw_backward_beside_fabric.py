"""`loss.backward()` in code that trains with Lightning Fabric.

## Why is this bad?
`Fabric.setup` hands precision and strategy to Fabric, so the backward pass has to go through it. Under `bf16-mixed`
and `16-mixed`, Lightning 2.3 and later refuse the raw call; before, the gradient scaler of `16-mixed` never heard of
the loss:

    RuntimeError: The current strategy and precision selection requires you to call `fabric.backward(loss)` instead of
    `loss.backward()`.
    AssertionError: Attempted step but _scale is None.  This may indicate your script did not use
    scaler.scale(loss or outputs) earlier in the iteration.

Under `32-true` the raw call works, until somebody switches the precision or the strategy on.

## Fix safety
Safe: `fabric.backward(loss, *args, **kwargs)` hands its arguments on to `Tensor.backward`; under `32-true` the
gradients are the same. Safe means that every optimizer which is stepped with these gradients is seen to be set up by
Fabric, and that nothing else looks at them; unsafe where an optimizer, a module or a function may do otherwise, and
where a class of the project has the methods that are called on a parameter: it may be given in place of Fabric.

It raises in 16-bit precision, with a gradient scaler; where the file does not show that, it is told as `style`.

## When it is not offered
Reported, but left as it is, where an optimizer that Fabric has not set up is stepped with the gradients
(`optimizer.optimizer.step()` too), and where they are clipped or read before the step: they would be multiplied by the
scale of `16-mixed`. `fabric.clip_gradients` unscales first.

Where no object in sight is surely a `Fabric` (a local name, a parameter by annotation or by every call in the file, an
attribute of `self`), where several are, where it may be `None` or the code asks whether it is there, and where the
optimizer that is stepped was never set up by it. Where it cannot be told whether the optimizer was set up, and where
several tensors are differentiated in one `torch.autograd.backward`, the call is reported and left as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import keyword, literal
from codemods.analysis.python_context import PythonContext
from codemods.analysis.tensors import differentiates_a_tensor, is_raw_backward, redirected
from codemods.flow.answers import every
from codemods.frameworks.accelerators import Keeping, keeper, trains_what_it_prepared
from codemods.frameworks.gradient_consumers import redirecting
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.model.names import FABRIC
from codemods.rules.rule import Draft, Rule

rule = Rule(
    code="PL201",
    name="raw-backward-beside-fabric",
    summary="`loss.backward()` bypasses Fabric's precision and strategy",
    fix_title="Call `fabric.backward(loss)`",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.FACTOR,
    follows=True,
    computed=Computed.SIZES,
    triggers=(("backward",), ("Fabric", "setup", "setup_module")),
    errors=(
        "requires you to call `fabric.backward(loss)` instead of `loss.backward()`",
        "Attempted step but _scale is None",
    ),
    references=("https://lightning.ai/docs/fabric/stable/api/fabric_methods.html#backward",),
)

KEEPING = Keeping(FABRIC, frozenset({"setup", "setup_module", "setup_optimizers"}))


@rule.on(ast.Call)
def raw_backward(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    name = keeper(ctx, call, KEEPING) if is_raw_backward(ctx, call) else None
    if name is None:
        return
    is_bug = [differentiates_a_tensor(ctx, call), trains_what_it_prepared(ctx, call, KEEPING, name)]
    message = f"this raw backward bypasses the precision and strategy of `{name}`"
    if (fixed := redirected(ctx, call, f"{name}.backward")) is None:
        message = f"this raw backward bypasses `{name}`; `{name}.backward` takes one tensor"
        yield rule.finding(call, message=message, is_bug=is_bug, consequence=_cost(ctx))
    elif not every(is_bug).is_no:
        is_wanted, is_right = redirecting(ctx, call, KEEPING, name, _stays)
        is_bug.append(is_wanted)
        yield rule.finding(call, fix=[fixed], message=message, is_bug=is_bug, is_right=is_right, consequence=_cost(ctx))


def _stays(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a raw backward call is only reported."""
    return redirected(ctx, call, "fabric.backward") is None


def _cost(ctx: PythonContext) -> Consequence:
    """What the raw call costs: an error in 16-bit precision with a gradient scaler, as far as this file shows."""
    precisions = [keyword(call, "precision") for call in ctx.all(ast.Call) if ctx.calls(call, FABRIC)]
    scaled = any(given is not None and literal(given) in (16, "16", "16-mixed") for given in precisions)
    return Consequence.RAISES if scaled else Consequence.STYLE
