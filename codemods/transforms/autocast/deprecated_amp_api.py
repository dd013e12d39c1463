"""The device-bound spellings of automatic mixed precision: `torch.cuda.amp.*`, `torch.cpu.amp.*` and their getters.

## Why is this bad?
Since torch 2.4 every use warns, and the names are due to disappear:

    FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)`
    instead.

The advice in that text is wrong for positional arguments. The old call takes `(enabled, dtype, cache_enabled)`, the
new one `(device_type, dtype, enabled, cache_enabled)`: `torch.amp.autocast("cuda", False)` does not switch anything
off. The same holds for `GradScaler(2.0**16)`, whose first argument is now the device: no error, only
`device=65536.0`. So positional arguments become keywords here.

The old `autocast()` also has a dtype of its own (float16; bfloat16 on the CPU), where the new one takes what the region
around it set: inside `torch.autocast("cuda", dtype=torch.bfloat16)` a plain rename turns a float16 region into a
bfloat16 one. Where the project mentions such a dtype, or trains with a framework that may open such a region, the old
dtype is written out.

## Fix safety
`autocast`: safe; `torch.amp.autocast` is older than every torch that is still in use. `GradScaler` needs torch 2.3;
`custom_fwd`, `custom_bwd` and the getters and setters of autocast state need 2.4: safe only where the project's
requirements say so, else unsafe. Where they allow an older torch and can be edited, the same fix raises their floor,
in the same commit. Classes and functions that are passed on as values become
`functools.partial(torch.amp.autocast, "cuda")`: unsafe, because positional arguments given later would mean something
else.

Strategies for names that older versions lack: `rename` (default) calls the new name and raises the floor;
`version-guard` chooses at the call, `torch.amp.GradScaler("cuda") if hasattr(torch.amp, "GradScaler") else
GradScaler()`; `try-import` binds the old name to the new object where it can be imported, and leaves the calls as they
are.

## When it is not offered
Compatibility code is left alone: names bound under `try` or `if`, uses that a test of torch's version or of an
attribute decides about. Subclasses of `GradScaler` are reported only, for renaming the base shifts the arguments of
`super().__init__`; so is everything that is neither called nor used as a decorator, nor passed on in a way that can be
followed, and every use in a project that replaces parts of `torch.cuda.amp`. `*args` hides what is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from codemods.frameworks import minimum_versions
from codemods.frameworks.autocast import amp_names, amp_values
from codemods.frameworks.autocast.amp_names import NAMES, Renamed, Repair
from codemods.frameworks.autocast.version_tests import version_tested
from codemods.model.edits import Consequence, Safety
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Rule
from codemods.syntax.rewrite import has_splat, literal

_SWITCHES = tuple(sorted(name.rpartition(".")[2] for name in NAMES if "_autocast_" in name))

rule = Rule(
    code="AMP002",
    name="deprecated-amp-api",
    summary="`torch.cuda.amp` and its relatives are deprecated since torch 2.4",
    fix_title="Use the `torch.amp` name, with keywords",
    safety=Safety.SAFE,
    consequence=Consequence.DEPRECATED,
    triggers=(("amp", *_SWITCHES), ("autocast", "GradScaler", "custom_fwd", "custom_bwd", *_SWITCHES)),
    together=(("autocast", "GradScaler", "custom_fwd", "custom_bwd", *_SWITCHES),),
    errors=(
        "torch.cuda.amp.autocast(args...)` is deprecated",
        "torch.cpu.amp.autocast(args...)` is deprecated",
        "torch.cuda.amp.GradScaler(args...)` is deprecated",
        "torch.cpu.amp.GradScaler(args...)` is deprecated",
        "torch.cuda.amp.custom_fwd(args...)` is deprecated",
        "torch.cuda.amp.custom_bwd(args...)` is deprecated",
        "torch.get_autocast_gpu_dtype() is deprecated",
        "torch.get_autocast_cpu_dtype() is deprecated",
        "torch.is_autocast_cpu_enabled() is deprecated",
        "torch.set_autocast_gpu_dtype(dtype) is deprecated",
        "torch.set_autocast_cpu_dtype(dtype) is deprecated",
        "torch.set_autocast_cpu_enabled(enabled) is deprecated",
    ),
    references=(
        "https://pytorch.org/docs/stable/amp.html",
        "https://github.com/pytorch/pytorch/pull/126527",
    ),
    strategies=("rename", "version-guard", "try-import"),
    bites={"torch": ">=2.4"},
)

_PATCHED = re.compile(
    r"^\s*torch\.(?:cuda|cpu)\.amp(?:\.(?:autocast|GradScaler|custom_[fb]wd))?\s*=(?!=)"
    r"|setattr\(\s*torch\.(?:cuda|cpu)\.amp\b",
    re.MULTILINE,
)
_PATCHES = (b"torch.cuda.amp", b"torch.cpu.amp")
_CHECKED = re.compile(r"is(?:instance|subclass)\s*\((?:[^()]|\([^()]*\))*GradScaler")
_FRAMEWORKS = (b"lightning", b"pytorch_lightning", b"accelerate")
_REGIONS = (
    *(start + name for name in _FRAMEWORKS for start in (b"import ", b"from ")),
    b"set_autocast",
    b"TrainingArguments",
)
_OTHERS = {"torch.float16": (b"bfloat16", b"bf16", *_REGIONS), "torch.bfloat16": (b"float16", b"half", *_REGIONS)}
"""What stands in a project in which a region of another dtype may be open, by the dtype that the old call has."""


@rule.on(cst.Name, cst.Attribute)
def deprecated_amp_api(node: cst.Name | cst.Attribute, ctx: Context) -> Iterator[Draft]:
    old = amp_names.old(node, ctx)
    if old is None or not _is_read(node, ctx) or version_tested(ctx, node):
        return
    new = NAMES[old]
    message = f"`{old}` is deprecated: `{new.written}`"
    if (patch := _patched(ctx)) is not None:
        if patch != ctx.path:
            yield rule.finding(node, message=f"`{old}` is deprecated, and `{patch}` replaces parts of its module")
        return
    parent = ctx.parent(node)
    repairs: dict[str, Repair] = {}
    at: cst.CSTNode = node
    if isinstance(parent, cst.Call) and parent.func is node:
        at = parent
        if not amp_names.accepts(parent, new):
            return
        if new.shifts and any(a.star == "*" for a in parent.args):
            message = f"`{old}` is deprecated; what `*args` means differs in `{new.name}`"
        elif new.shifts and parent.args and isinstance(literal(parent.args[0].value), str):
            message = f"the first argument of `{old}` is `enabled`, not the device"
        else:
            repairs = dict(_called(parent, old, new, ctx))
    elif isinstance(parent, cst.Decorator):
        repairs = dict(amp_values.decorator(node, new, ctx))
    elif isinstance(parent, cst.Arg) and isinstance(klass := ctx.parent(parent), cst.ClassDef):
        message = (
            f"`{klass.name.value}` extends the deprecated `{old}`; the first argument of `{new.name}` is the device"
        )
    elif ctx.enclosing(node, cst.Annotation) is not None:
        repairs = dict(amp_values.annotation(node, new, ctx))
    else:
        repairs = dict(amp_values.value(node, new, ctx))
    if new.guard and "rename" in repairs and (tried := amp_values.try_import(node, ctx)) is not None:
        repairs["try-import"] = tried
    possible = [s for s in rule.strategies if s in repairs]
    chosen = ctx.choose(rule, possible) if new.guard else next(iter(possible), None)  # a name that all versions have
    if chosen is None:
        yield rule.finding(at, message=message)
        return
    repair = repairs[chosen]
    floor = repair.requires.get("torch", "").removeprefix(">=")
    raised = minimum_versions.floor_edits(ctx, "torch", floor) if floor else {}
    yield rule.finding(
        at,
        fix=repair.changes,
        also=raised,
        message=message,
        title=f"Use `{new.name}`" + (f", and ask for torch {floor}" if raised else ""),
        safety=repair.safety,
        strategy=chosen,
        strategies=possible,
        needs=repair.needs,
        requires=repair.requires,
    )


def _is_read(node: cst.Name | cst.Attribute, ctx: Context) -> bool:
    match ctx.parent(node):
        case cst.Attribute(attr=attr) if attr is node:
            return False
        case cst.Arg(keyword=key) if key is node:
            return False
        case cst.AssignTarget() | cst.Del() | cst.NameItem():
            return False
    return ctx.enclosing(node, cst.Import, cst.ImportFrom) is None


def _patched(ctx: Context) -> str | None:
    """The file of this project that assigns to `torch.cuda.amp`, or to names in it."""
    if _PATCHED.search(ctx.text):
        return ctx.path
    texts = ((path, ctx.index.text(path)) for path in ctx.index.search(ctx.path, _PATCHES))
    return next((path for path, text in texts if text is not None and _PATCHED.search(text)), None)


def _called(call: cst.Call, old: str, new: Renamed, ctx: Context) -> Iterator[tuple[str, Repair]]:
    target = ctx.spell(new.name, at=call)
    if target is None:
        return
    safety, needs, dtype = Safety.SAFE, [target.need], None
    if new.dtype and not amp_names.keeps_dtype(call) and ctx.index.search(ctx.path, _OTHERS[new.dtype]):
        spelled = None if has_splat(call) else ctx.spell(new.dtype, at=call)
        if spelled is None:
            safety = Safety.UNSAFE
        else:
            dtype = spelled.node
            needs.append(spelled.need)
    if old.endswith(".GradScaler") and _checked(ctx):
        safety = Safety.UNSAFE
    fixed = amp_names.call(call, new, target.node, dtype, ctx)
    if fixed is None:
        return
    yield "rename", Repair({call: fixed}, tuple(needs), new.requires, safety)
    module = ctx.spell(new.guard.rpartition(".")[0], at=call) if new.guard else None
    if module is not None and not isinstance(ctx.parent(call), cst.Decorator):
        guarded = amp_names.guarded(call, fixed, new, module.node, ctx)
        yield "version-guard", Repair({call: guarded}, (*needs, module.need), {}, safety)


def _checked(ctx: Context) -> bool:
    """Whether the project asks what class a scaler has: a new one is no instance of the old class."""
    texts = (ctx.index.text(path) for path in ctx.index.search(ctx.path, (b"GradScaler",)))
    return any(text is not None and _CHECKED.search(text) for text in texts)
