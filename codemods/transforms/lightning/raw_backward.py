"""`loss.backward()` in a LightningModule that optimizes manually.

## Why is this bad?
With `automatic_optimization = False` you call the optimizers, but the Trainer still owns precision and strategy. Under
`precision="16-mixed"` it holds a gradient scaler, and a raw `loss.backward()` never tells it about the loss:

    AssertionError: Attempted unscale_ but _scale is None.  This may indicate your script did not use
    scaler.scale(loss or outputs) earlier in the iteration.

That is the lucky case. Where another loss of the same step went through `self.manual_backward` before, the scaler is
awake and nothing is raised: the gradients of the raw loss are divided by the scale (65536 at the start) although they
were never multiplied by it, and that part of the model hardly trains. Seen with Lightning 2.4 to 2.6; under
`bf16-mixed` and `32-true` the raw call does no harm, until somebody changes the precision or the strategy.

## Fix safety
Safe: `self.manual_backward(loss, *args, **kwargs)` hands everything after the loss on to `Tensor.backward`. Under
`32-true` and `bf16-mixed` the gradients are the same. `torch.autograd.backward(loss, grad_tensors=g)` becomes
`self.manual_backward(loss, gradient=g)`.

## When it is not offered
Reported, but left as it is:

- where no training hook is seen to lead: before `fit` there is no strategy, and `manual_backward` raises,
- in functions without `self`: static methods and free functions,
- where `automatic_optimization` is set under a condition, or to something that only a run can tell,
- several tensors in one `torch.autograd.backward`,
- with Lightning before 1.4, whose `manual_backward` takes an optimizer before it takes anything else,
- a name of which nothing says that it is a tensor.

Left alone: a method named `backward` (Lightning's own hook, in which `loss.backward()` is right), `super().backward()`,
`engine.backward(loss)`, `self.trainer.strategy.backward(loss)` and the like, a scaler of your own
(`scaler.scale(loss).backward()`), and code that only evaluation runs, which reads unscaled gradients.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from codemods import known, versions
from codemods.context import Context, Method
from codemods.edits import Consequence, Safety
from codemods.facts import MISSING
from codemods.index import Ref
from codemods.rule import Draft, Rule
from codemods.tensors import backward_arguments, is_tensor, only_keywords
from codemods.transforms.lightning.phases import BEFORE, EVALUATION, TRAINING, called_from_outside, reached, runs

rule = Rule(
    code="PL001",
    name="raw-backward",
    summary="`loss.backward()` bypasses the Trainer's gradient scaler and strategy",
    fix_title="Call `self.manual_backward(loss)`",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    triggers=(("backward",),),
    together=(("backward",),),
    subclasses=known.LIGHTNING_MODULE,
    errors=("Attempted unscale_ but _scale is None",),
    references=(
        "https://lightning.ai/docs/pytorch/stable/model/manual_optimization.html",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/19695",
    ),
)

WITHOUT_OPTIMIZER = ">=1.4"
"""The Lightning from which `manual_backward(loss, …)` hands what follows on to `backward`; 1.1 wants the optimizer."""

HOOKS = ("backward", "manual_backward")
"""Methods that Lightning itself calls to run a backward pass, or that stand for it."""


@rule.on(cst.Call)
def raw_backward(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    functional = ctx.means(call.func, "torch.autograd.backward")
    match call.func:
        case cst.Attribute(value=loss, attr=cst.Name(value="backward")) if not functional:
            if ctx.loss_of(call) is not loss or ctx.owns_backward(loss):
                return
            certain = is_tensor(ctx, loss)
            if certain is False or (certain is None and not (isinstance(loss, cst.Name) and only_keywords(call))):
                return
        case _ if functional:
            certain = True
        case _:
            return
    method = _method(call, ctx)
    if method is None:
        yield from _without_self(call, ctx)
        return
    if method.name in HOOKS or not ctx.index.descends(method.owner, known.LIGHTNING_MODULE):
        return
    optimizes = ctx.index.constant(method.owner, "automatic_optimization", known.LIGHTNING_SETUP)
    if optimizes is True or optimizes is MISSING:
        return
    training = runs(ctx, method.owner, method.node, TRAINING)
    if not training and runs(ctx, method.owner, method.node, EVALUATION):
        return
    written = _written(call, ctx)
    if optimizes is not False:
        yield rule.finding(
            call, message=f"{written} bypasses the Trainer wherever `automatic_optimization` is off, as it may be here"
        )
    elif not training or _may_run_before_fit(ctx, method):
        yield rule.finding(
            call,
            message=f"{written} bypasses the Trainer; `{method.name}` may run outside `fit`, "
            "where `manual_backward` would raise",
        )
    elif not certain:
        yield rule.finding(call, message=f"{written} bypasses the Trainer, if it is a tensor that is differentiated")
    elif not versions.may(ctx.target("lightning"), WITHOUT_OPTIMIZER):
        yield rule.finding(
            call, message=f"{written} bypasses the Trainer; `manual_backward` wants the optimizer before Lightning 1.4"
        )
    elif (fixed := _fixed(call, ctx, method.self)) is None:
        yield rule.finding(call, message=f"{written} bypasses the Trainer; `manual_backward` takes one tensor")
    else:
        message = f"{written} bypasses the Trainer's gradient scaler and strategy"
        yield rule.finding(call, fix={call: fixed}, message=message, requires=_requires(ctx))


def _requires(ctx: Context) -> dict[str, str]:
    """What `manual_backward` asks of Lightning, where the project says which it uses: it is older than most."""
    target = ctx.target("lightning")
    return {"lightning": WITHOUT_OPTIMIZER} if target is not None and target.spec else {}


def _method(call: cst.Call, ctx: Context) -> Method | None:
    """The method around the call, if its first parameter is the module."""
    method = ctx.method(call)
    if method and any(ctx.name(d.decorator) == "classmethod" for d in method.node.decorators):
        return None
    return method


def _may_run_before_fit(ctx: Context, method: Method) -> bool:
    if method.name in TRAINING:
        return False
    return runs(ctx, method.owner, method.node, BEFORE) or called_from_outside(ctx, method.owner, method.node)


def _without_self(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    """A function without `self` that the training step of a manual module in this file runs."""
    function = ctx.function(call)
    if function is None or function.name.value in HOOKS:
        return
    key = (ctx.path, ctx.qualified(function))
    for name in ctx.facts.classes:
        owner = Ref(ctx.path, name)
        if ctx.index.descends(owner, known.LIGHTNING_MODULE):
            if ctx.index.constant(owner, "automatic_optimization", known.LIGHTNING_SETUP) is False:
                if key in reached(ctx, owner, TRAINING):
                    yield rule.finding(
                        call,
                        message=f"{_written(call, ctx)} bypasses the Trainer of `{name.rpartition('.')[2]}`; "
                        "there is no `self` here on which to call `manual_backward`",
                    )
                    return


def _written(call: cst.Call, ctx: Context) -> str:
    loss = ctx.loss_of(call)
    name = ctx.name(loss) if loss is not None else None
    if name is None or not isinstance(call.func, cst.Attribute) or call.func.value is not loss:
        return "this raw backward"
    return f"`{name}.backward()`"


def _fixed(call: cst.Call, ctx: Context, self: str) -> cst.Call | None:
    """`self.manual_backward(loss, …)`, or None where that cannot say the same."""
    given = backward_arguments(ctx, call)
    if given is None:
        return None
    return call.with_changes(func=cst.Attribute(cst.Name(self), cst.Name("manual_backward")), args=given)
