"""`loss.backward()` in code that trains with Lightning Fabric.

## Why is this bad?
`Fabric.setup` hands precision and strategy to Fabric, so the backward pass has to go through it. Under `bf16-mixed`
and `16-mixed`, Lightning 2.6 refuses the raw call:

    RuntimeError: The current strategy and precision selection requires you to call `fabric.backward(loss)` instead of
    `loss.backward()`.

Under `32-true` the raw call works, until somebody switches the precision or the strategy on.

## Fix safety
Safe: `fabric.backward(loss, *args, **kwargs)` hands its arguments on to `Tensor.backward`; under `32-true` the
gradients are the same.

## When it is not offered
Where no object in sight is surely a `Fabric`, where several are, or where nothing was prepared by its `setup`.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from codemods import known
from codemods.context import Context
from codemods.edits import Safety
from codemods.rewrite import make_argument, unparenthesized
from codemods.rule import Draft, Rule

rule = Rule(
    code="PL201",
    name="raw-backward-beside-fabric",
    summary="`loss.backward()` bypasses Fabric's precision and strategy",
    fix_title="Call `fabric.backward(loss)`",
    safety=Safety.SAFE,
    triggers=(b".backward(",),
    triggers_all=((b"Fabric",), (b".setup",)),
    errors=(
        "requires you to call `fabric.backward(loss)` instead of `loss.backward()`",
    ),
    references=("https://lightning.ai/docs/fabric/stable/api/fabric_methods.html#backward",),
)


@rule.on(cst.Call)
def raw_backward(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    match call.func:
        case cst.Attribute(value=loss, attr=cst.Name(value="backward")) if ctx.loss_of(call) is loss:
            pass
        case _:
            return
    fabric = fabric_in_sight(call, ctx)
    if fabric is None:
        return
    fixed = call.with_changes(
        func=cst.Attribute(fabric, cst.Name("backward")),
        args=[make_argument(None, unparenthesized(loss)), *call.args],
    )
    yield rule.finding(call, fix={call: fixed})


def fabric_in_sight(call: cst.Call, ctx: Context) -> cst.BaseExpression | None:
    """The one Fabric whose `setup` is called in the function of `call`."""
    found = {}
    scope = ctx.scope(call)
    for setup in ctx.all(cst.Call):
        match setup.func:
            case cst.Attribute(value=owner, attr=cst.Name(value="setup" | "setup_module" | "setup_optimizers")):
                name = ctx.name(owner)
                if name and ctx.scope(setup) is scope and ctx.is_a(owner, known.FABRIC):
                    found[name] = owner
    return next(iter(found.values())) if len(found) == 1 else None
