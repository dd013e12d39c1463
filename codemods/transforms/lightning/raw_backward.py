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
- a name of which nothing says that it is a tensor.

Left alone: a method named `backward` (Lightning's own hook, in which `loss.backward()` is right), `super().backward()`,
`engine.backward(loss)`, `self.trainer.strategy.backward(loss)` and the like, a scaler of your own
(`scaler.scale(loss).backward()`), and code that only evaluation runs, which reads unscaled gradients.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from codemods import known
from codemods.context import Context, Method
from codemods.edits import Safety
from codemods.facts import MISSING
from codemods.rewrite import argument, make_argument, unparenthesized
from codemods.rule import Draft, Rule
from codemods.tensors import is_tensor
from codemods.transforms.lightning.phases import BEFORE, EVALUATION, TRAINING, called_from_outside, reached, runs

rule = Rule(
    code="PL001",
    name="raw-backward",
    summary="`loss.backward()` bypasses the Trainer's gradient scaler and strategy",
    fix_title="Call `self.manual_backward(loss)`",
    safety=Safety.SAFE,
    triggers=(b".backward", b" backward", b"\tbackward"),
    subclasses=known.LIGHTNING_MODULE,
    errors=("Attempted unscale_ but _scale is None",),
    references=(
        "https://lightning.ai/docs/pytorch/stable/model/manual_optimization.html",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/19695",
    ),
)

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
            if certain is False or (certain is None and not (isinstance(loss, cst.Name) and _bare(call))):
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
    elif (fixed := _fixed(call, ctx, method.self)) is None:
        yield rule.finding(call, message=f"{written} bypasses the Trainer; `manual_backward` takes one tensor")
    else:
        yield rule.finding(
            call, fix={call: fixed}, message=f"{written} bypasses the Trainer's gradient scaler and strategy"
        )


def _bare(call: cst.Call) -> bool:
    """Whether the call could be `Tensor.backward`: nothing but its keywords."""
    return all(a.keyword and a.keyword.value in _KEYWORDS for a in call.args)


_KEYWORDS = ("gradient", "retain_graph", "create_graph", "inputs")


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
    for klass in ctx.all(cst.ClassDef):
        owner = ctx.ref(klass)
        if ctx.index.descends(owner, known.LIGHTNING_MODULE):
            if ctx.index.constant(owner, "automatic_optimization", known.LIGHTNING_SETUP) is False:
                if key in reached(ctx, owner, TRAINING):
                    yield rule.finding(
                        call,
                        message=f"{_written(call, ctx)} bypasses the Trainer of `{klass.name.value}`; "
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
    manual = cst.Attribute(cst.Name(self), cst.Name("manual_backward"))
    if isinstance(call.func, cst.Attribute) and not ctx.means(call.func, "torch.autograd.backward"):
        return call.with_changes(func=manual, args=[make_argument(None, unparenthesized(call.func.value)), *call.args])
    tensors = argument(call, "tensors", 0)
    if tensors is None or any(a.star or (a.keyword and a.keyword.value == "grad_variables") for a in call.args):
        return None
    if sum(a.keyword is None for a in call.args) > 4 or not (loss := _single(tensors.value, ctx)):
        return None
    if not is_tensor(ctx, loss):
        return None
    rest = [a for a in call.args if a is not tensors]
    gradient = argument(call, "grad_tensors", 1)
    if gradient is not None:
        one = _single(gradient.value, ctx)
        if one is None:
            return None
        changed = gradient.with_changes(value=one, keyword=cst.Name("gradient") if gradient.keyword else None)
        rest = [changed if a is gradient else a for a in rest]
    first = tensors.with_changes(value=loss, keyword=None, equal=cst.MaybeSentinel.DEFAULT)
    return call.with_changes(func=manual, args=[first, *rest])


def _single(value: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    """The one tensor that is given, alone or as `[tensor]`; None where there may be several."""
    if isinstance(value, (cst.List, cst.Tuple)):
        if len(value.elements) != 1 or isinstance(value.elements[0], cst.StarredElement):
            return None
        return value.elements[0].value
    several = (cst.ListComp, cst.GeneratorExp, cst.List, cst.Tuple, cst.StarredElement)
    if isinstance(value, several):
        return None
    for binding in ctx.assigned(value) or ():
        if isinstance(binding.value, several) or isinstance(binding.node, (cst.For, cst.AsName)):
            return None
    return value
