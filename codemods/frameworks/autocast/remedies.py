"""The five ways to keep weights used without gradients out of autocast's cache, each where it is right.

Only `clear-cache` is taken without being asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codemods.analysis.calls import argument, has_splat, values
from codemods.analysis.python_context import PythonContext
from codemods.frameworks.autocast.clearing import cleared
from codemods.frameworks.autocast.regions import Region, whole
from codemods.model.names import AUTOCAST
from codemods.project import versions
from codemods.rules.rule import Remedy
from codemods.syntax.verbs import add_item, divide

ASKED_BY_DEVICE = ">=2.4"
"""The torch from which `torch.is_autocast_enabled` can be asked about a device."""


@dataclass(frozen=True, slots=True)
class NoGradCode:
    """The code without gradients, the uses in it, and the region around."""

    ctx: PythonContext
    block: ast.With | None
    """The `with` that switches gradients off; None for a decorator or a statement."""
    body: Sequence[ast.stmt]
    sources: Sequence[ast.AST]
    region: Region

    @property
    def around(self) -> ast.With | None:
        """The `with` of the region, where it stands in the block's own function."""
        holder = self.region.holder
        return holder if isinstance(holder, ast.With) and holder in self.ctx.ancestors(self.sources[0]) else None

    @property
    def direct(self) -> ast.Call | None:
        """The call of autocast that opens it, where it can be written a second time."""
        call = self.region.opening.call if self.around is not None else None
        return call if call is not None and not has_splat(call) and all(map(_plain, values(call))) else None


def clear_cache(place: NoGradCode) -> Remedy | None:
    spelled = place.ctx.spell("torch.clear_autocast_cache", at=place.sources[0])
    if spelled is None:
        return None
    fix = cleared(place.ctx, place.body, place.sources, f"{spelled.code}()")
    return (
        Remedy(fix, "Call `torch.clear_autocast_cache()` at the end of the block", needs=[spelled.need])
        if fix
        else None
    )


def inner_nocache(place: NoGradCode) -> Remedy | None:
    title = "Give the block an autocast context without cache"
    if place.block is None:
        return None
    if place.region.step and (device := _device(place)) is not None:
        if not versions.may(place.ctx.target("torch"), ASKED_BY_DEVICE):
            return None
        autocast = place.ctx.spell("torch.autocast", at=place.block)
        enabled = place.ctx.spell("torch.is_autocast_enabled", at=place.block)
        if autocast is None or enabled is None:
            return None
        written = f"{autocast.code}({device}, enabled={enabled.code}({device}), cache_enabled=False)"
        fix = [add_item(place.block, written)]
        needs = [autocast.need, enabled.need]
        return Remedy(fix, title, needs=needs, requires={"torch": ASKED_BY_DEVICE}, on_request=True)
    if (call := place.direct) is None or argument(call, "cache_enabled", 9) is not None:
        return None
    arguments: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    given = [*map(place.ctx.source, arguments), "cache_enabled=False"]
    fix = [add_item(place.block, f"{place.ctx.source(call.func)}({', '.join(given)})")]
    return Remedy(fix, title, on_request=True)


def hoist(place: NoGradCode) -> Remedy | None:
    """The block in front of the region, where it is the first thing there."""
    around, block = place.around, place.block
    if around is None or block is None or not _closes(place, around):
        return None
    first, *rest = around.body
    if first is not block or not rest:
        return None
    fix = [divide(around, (False, [first]), (True, rest))]
    return Remedy(fix, "Move the block in front of the region", on_request=True)


def disable_autocast(place: NoGradCode) -> Remedy | None:
    autocast = place.ctx.spell("torch.autocast", at=place.sources[0])
    device = _device(place)
    if place.block is None or autocast is None or device is None:
        return None
    fix = [add_item(place.block, f"{autocast.code}({device}, enabled=False)")]
    return Remedy(fix, "Switch autocast off in the block", needs=[autocast.need], on_request=True)


def separate_regions(place: NoGradCode) -> Remedy | None:
    """The region closed after the block, and opened again."""
    around, block = place.around, place.block
    if around is None or block is None or place.direct is None or not _closes(place, around):
        return None
    if block not in around.body[:-1]:
        return None
    cut = around.body.index(block) + 1
    fix = [divide(around, (True, around.body[:cut]), (True, around.body[cut:]))]
    return Remedy(fix, "Close the region after the block and open it again", on_request=True)


REMEDIES: dict[str, Callable[[NoGradCode], Remedy | None]] = {
    "clear-cache": clear_cache,
    "inner-nocache": inner_nocache,
    "hoist": hoist,
    "disable-autocast": disable_autocast,
    "separate-regions": separate_regions,
}


def _closes(place: NoGradCode, around: ast.With) -> bool:
    """Whether the `with` of the region is nothing but the region, and leaving it empties the cache."""
    if len(around.items) > 1 or around.items[0].optional_vars is not None:
        return False
    return whole(place.ctx, place.ctx.scope(around)) is None


def _device(place: NoGradCode) -> str | None:
    """The device type of the region, as code."""
    if place.region.step:
        method = place.ctx.method(place.sources[0])
        return f"{method.self}.device.type" if method is not None else None
    if (call := place.direct) is None:
        return None
    if place.ctx.means(call.func, "torch.autocast"):
        given = argument(call, "device_type", 0)
        return place.ctx.source(given) if given is not None else None
    origin = next(iter(place.ctx.origin(call.func) & AUTOCAST), "")
    return place.ctx.quoted("cpu" if ".cpu." in origin else "cuda")


def _plain(node: ast.expr) -> bool:
    """Whether an expression can be evaluated once more: no calls, nothing that waits or binds."""
    unfit = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)
    return not any(isinstance(n, unfit) for n in ast.walk(node))
