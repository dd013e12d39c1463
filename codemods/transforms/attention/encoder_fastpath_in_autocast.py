"""`nn.TransformerEncoder` evaluated under CPU autocast, where its fused path mixes dtypes.

## Why is this bad?
In evaluation, without gradients, an encoder of `batch_first=True` layers leaves its Python code for one fused kernel.
It asks `torch.is_autocast_enabled()` first, which speaks of CUDA only: under autocast on the CPU (and on XPU, before
torch 2.14) the kernel runs, and what it calls inside gets weights and activations of different dtypes. Training never
takes that path, so a run trains, and dies in its first validation:

    RuntimeError: mat1 and mat2 must have the same dtype, but got BFloat16 and Float      (torch 2.4: any encoder)
    RuntimeError: expected scalar type Float but found BFloat16           (every torch: with a padding mask)

Up to torch 2.5 each such encoder fails. Since 2.6 only the nested-tensor path is left, which a padding mask opens when
`enable_nested_tensor` is not off, and which still fails in torch 2.15: possible there, because a mask that has padding
in front of a sequence does not open it. CUDA autocast is not affected.

Casting the input, to either dtype, does not help: it is the weights that do not fit. A layer subclass written in
Python stops at an assertion of the nested path instead.

## Fix safety
Unsafe, every one, because evaluation changes: the fused path sets padded positions of its output to zero, the ordinary
one does not, so that code which pools over them without the mask sees other numbers.

- `no-nested` (default where the project requires torch 2.6 or newer): `enable_nested_tensor=False`. The weights stay
  compatible.
- `fastpath-off` (default elsewhere; torch 2.2): the switch `torch.backends.mha.set_fastpath_enabled` around the call,
  put back afterwards. It belongs to the process, so other threads see it meanwhile.
- `fastpath-off-global`: the same switch once, where the module is imported.
- `fp32-island`: autocast off around the call, the input in float32; in training too.
- `bf16-true` (Lightning 2.1), `float32` (2.0): another precision for the Trainer. With `bf16-true`, updates smaller
  than the distance between two bfloat16 numbers are lost, and a small learning rate may stop learning altogether; and
  the CPU lacks some operations: torch 2.4 has no `mse_loss` there (`"mse_cpu" not implemented for 'BFloat16'`).

## When it is not offered
Reported only where the device is unknown or `accelerator="gpu"`. Silent where no mixed precision is seen to reach the
module (its own code, the Trainer or Accelerator it is given to, a loop that calls it under autocast), where nothing
evaluates it, where a layer does not qualify for the fused path (an odd `nhead`, another activation, `bias=False`, no
`batch_first=True`), where the file already sets the switch, and where arguments come from `*args` or `**kwargs`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.class_building import modules_keep
from codemods.analysis.mentions import mentions
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, no, question, unknown, unless
from codemods.frameworks.attention import precision_evidence, remedies
from codemods.frameworks.attention.encoders import Encoder, encoder
from codemods.frameworks.attention.precision_evidence import AutocastUse
from codemods.frameworks.autocast.questions import no_manager_is_unknown
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.project import versions
from codemods.rules.rule import Draft, Remedy, Rule

rule = Rule(
    code="ATT001",
    name="encoder-fastpath-in-autocast",
    summary="`nn.TransformerEncoder` fails in evaluation under CPU autocast",
    fix_title="Keep the encoder off its fused path",
    safety=Safety.UNSAFE,
    consequence=Consequence.RAISES,
    effects=dict.fromkeys(("fp32-island", "bf16-true", "float32"), Effect.NUMBERS),
    follows=True,
    triggers=(("TransformerEncoder",), ("batch_first", "TransformerEncoderLayer")),
    errors=(
        "mat1 and mat2 must have the same dtype, but got BFloat16 and Float",
        "expected scalar type Float but found BFloat16",
        "expected scalar type BFloat16 but found Float",
        "mat1 and mat2 must have the same dtype, but got Half and Float",
    ),
    references=(
        "https://github.com/pytorch/pytorch/issues/107663",
        "https://github.com/pytorch/pytorch/issues/132613",
        "https://github.com/Lightning-AI/pytorch-lightning/issues/19980",
    ),
    strategies=("fastpath-off", "no-nested", "fastpath-off-global", "fp32-island", "bf16-true", "float32"),
)
_ORDER = {"cpu": 0, "unknown": 1, "gpu": 2}


@rule.on(ast.Call)
def encoder_fastpath_in_autocast(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    found = encoder(call, ctx)
    if found is None or not found.calls:
        return
    target = ctx.target("torch")
    affected = found.calls if versions.may(target, "<2.6") else found.masked if found.nested else ()
    calls = [c for c in affected if precision_evidence.region(ctx, c) != "off"]
    if not calls:
        return
    nested = found.nested and any(c in found.masked for c in calls)
    evidence = min(_evidence(found, calls, ctx), key=lambda e: _ORDER[e.device], default=None)
    if evidence is None:
        return
    message = f"`{found.name}` is evaluated under autocast, where its fused path fails on the CPU"
    if nested:
        message += ": with a padding mask, on every torch"
    bites = {} if nested else {"torch": "<2.6"}
    known = no_manager_is_unknown(ctx, *calls) & precision_evidence.regions_are_in_sight(ctx, *calls)
    known &= fused_path_is_on(ctx) & modules_keep(ctx, "train", "__call__")
    if nested and not versions.surely(target, "<2.6"):
        masked = next(each for each in calls if each in found.masked)
        known &= unknown(ctx.evidence(masked, "a mask with padding in front keeps it off that path"))
    if evidence.device != "cpu":
        where = "on a GPU" if evidence.device == "gpu" else "on a device that is not in sight"
        at = evidence.precision.value if evidence.precision is not None else call
        doubt = unknown(evidence.context.evidence(at, f"it runs {where}"))
        yield rule.finding(call, message=message, is_bug=[doubt, known], bites=bites)
        return
    possible = dict(_remedies(found, calls, evidence, nested, ctx))
    order = sorted(possible, key=rule.strategies.index)
    if versions.surely(target, ">=2.6"):
        order.sort(key=lambda s: s != "no-nested")
    yield rule.offer(call, {name: possible[name] for name in order}, message=message, is_bug=[known], bites=bites)


@question
def fused_path_is_on(ctx: PythonContext) -> Answer:
    """Whether nothing in the program switches the fused path off."""
    found = mentions(ctx, "set_fastpath_enabled")
    if here := [each for each in found if each.ctx is ctx]:
        return no(here[0].evidence("the fused path is switched here"))
    return unless(each.evidence("the fused path may be switched off") for each in found)


def _evidence(found: Encoder, calls: list[ast.Call], ctx: PythonContext) -> Iterator[AutocastUse]:
    for call in calls:
        device = precision_evidence.region(ctx, call)
        if device in ("cpu", "unknown") and (precision_evidence.evaluates(ctx) or _is_evaluated(call, ctx)):
            yield AutocastUse(device, ctx)
        if device == "cuda":
            return
    for kept in found.kept:
        ref = ctx.klass(kept)
        if ref is not None and "." in found.name:
            yield from precision_evidence.reaching(ctx, ref)


def _is_evaluated(call: ast.Call, ctx: PythonContext) -> bool:
    method = ctx.method(call)
    return method is not None and precision_evidence.evaluated(ctx, method.owner)


def _remedies(
    found: Encoder, calls: list[ast.Call], evidence: AutocastUse, nested: bool, ctx: PythonContext
) -> Iterator[tuple[str, Remedy]]:
    has_switch = versions.may(ctx.target("torch"), ">=2.2")
    off = remedies.fastpath_off(calls, ctx) if has_switch else None
    if off is not None:
        yield "fastpath-off", off
    if nested and versions.may(ctx.target("torch"), ">=2.6"):
        yield "no-nested", remedies.no_nested(found)
    everywhere = remedies.fastpath_off_global(ctx) if has_switch else None
    if everywhere is not None:
        yield "fastpath-off-global", everywhere
    island = remedies.fp32_island(calls, ctx)
    if island is not None:
        yield "fp32-island", island
    for strategy, value, lightning in (("bf16-true", "bf16-true", ">=2.1"), ("float32", "32-true", ">=2.0")):
        known = versions.may(evidence.context.target("lightning"), lightning)
        other = remedies.precision(evidence, value, ctx) if known else None
        if other is not None:
            yield strategy, other
