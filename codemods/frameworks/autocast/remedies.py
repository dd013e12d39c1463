"""The five ways to keep weights used without gradients out of autocast's cache, each where it is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import libcst as cst

from codemods.frameworks.autocast.clearing import cleared
from codemods.frameworks.autocast.regions import Region, whole
from codemods.model.edits import Need, Safety
from codemods.model.names import AUTOCAST
from codemods.project import versions
from codemods.rules.context import Context
from codemods.syntax.rewrite import Replacement, argument, has_splat, with_argument, with_body
from codemods.syntax.tree import text_of, walk

ASKED_BY_DEVICE = ">=2.4"
"""The torch from which `torch.is_autocast_enabled` can be asked about a device."""


@dataclass(frozen=True, slots=True)
class Place:
    """The code without gradients, the uses in it, and the region around."""

    ctx: Context
    block: cst.With | None
    """The `with` that switches gradients off; None for a decorator or a statement."""
    body: Sequence[cst.CSTNode]
    sources: Sequence[cst.CSTNode]
    region: Region

    @property
    def around(self) -> cst.With | None:
        """The `with` of the region, where it stands in the block's own function."""
        holder = self.region.holder
        return holder if isinstance(holder, cst.With) and holder in self.ctx.ancestors(self.sources[0]) else None

    @property
    def direct(self) -> cst.Call | None:
        """The call of autocast that opens it, where it can be written a second time."""
        call = self.region.opening.call if self.around is not None else None
        return call if call is not None and not has_splat(call) and all(_plain(a.value) for a in call.args) else None


@dataclass(frozen=True, slots=True)
class Remedy:
    fix: dict[cst.CSTNode, Replacement]
    title: str
    safety: Safety = Safety.SAFE
    needs: tuple[Need | None, ...] = ()
    requires: dict[str, str] = field(default_factory=dict)


def clear_cache(place: Place) -> Remedy | None:
    spelled = place.ctx.spell("torch.clear_autocast_cache", at=place.sources[0])
    if spelled is None:
        return None
    fix = cleared(place.ctx, place.body, place.sources, f"{text_of(spelled.node)}()")
    return (
        Remedy(fix, "Call `torch.clear_autocast_cache()` at the end of the block", needs=(spelled.need,))
        if fix
        else None
    )


def inner_nocache(place: Place) -> Remedy | None:
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
        written = f"{text_of(autocast.node)}({device}, enabled={text_of(enabled.node)}({device}), cache_enabled=False)"
        fix = _with_item(place.block, cst.parse_expression(written))
        return Remedy(fix, title, needs=(autocast.need, enabled.need), requires={"torch": ASKED_BY_DEVICE})
    if (call := place.direct) is None or argument(call, "cache_enabled", 9) is not None:
        return None
    return Remedy(_with_item(place.block, with_argument(call, "cache_enabled", cst.Name("False"))), title)


def hoist(place: Place) -> Remedy | None:
    """The block in front of the region, where it is the first thing there."""
    around, block = place.around, place.block
    if around is None or block is None or not _closes(place, around):
        return None
    first, *rest = around.body.body
    if first is not block or not rest:
        return None
    lead = first.with_changes(leading_lines=[*around.leading_lines, *first.leading_lines])
    after = around.with_changes(leading_lines=[], body=with_body(around.body, rest))
    return Remedy({around: [lead, after]}, "Move the block in front of the region", Safety.UNSAFE)


def disable_autocast(place: Place) -> Remedy | None:
    autocast = place.ctx.spell("torch.autocast", at=place.sources[0])
    device = _device(place)
    if place.block is None or autocast is None or device is None:
        return None
    item = cst.parse_expression(f"{text_of(autocast.node)}({device}, enabled=False)")
    title = "Switch autocast off in the block"
    return Remedy(_with_item(place.block, item), title, Safety.UNSAFE, (autocast.need,))


def separate_regions(place: Place) -> Remedy | None:
    """The region closed after the block, and opened again."""
    around, block = place.around, place.block
    if around is None or block is None or place.direct is None or not _closes(place, around):
        return None
    body = list(around.body.body)
    if block not in body[:-1]:
        return None
    cut = body.index(block) + 1
    before = around.with_changes(body=around.body.with_changes(body=body[:cut], footer=[]))
    after = around.with_changes(leading_lines=[], body=with_body(around.body, body[cut:]))
    return Remedy({around: [before, after]}, "Close the region after the block and open it again")


REMEDIES: dict[str, Callable[[Place], Remedy | None]] = {
    "clear-cache": clear_cache,
    "inner-nocache": inner_nocache,
    "hoist": hoist,
    "disable-autocast": disable_autocast,
    "separate-regions": separate_regions,
}


def _closes(place: Place, around: cst.With) -> bool:
    """Whether the `with` of the region is nothing but the region, and leaving it empties the cache."""
    if len(around.items) > 1 or around.items[0].asname is not None or not isinstance(around.body, cst.IndentedBlock):
        return False
    return whole(place.ctx, place.ctx.scope(around)) is None


def _with_item(block: cst.With, item: cst.BaseExpression) -> dict[cst.CSTNode, Replacement]:
    *front, last = block.items
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    new = cst.WithItem(item, comma=last.comma)
    return {block: block.with_changes(items=[*front, last.with_changes(comma=comma), new])}


def _device(place: Place) -> str | None:
    """The device type of the region, as code."""
    if place.region.step:
        method = place.ctx.method(place.sources[0])
        return f"{method.self}.device.type" if method is not None else None
    if (call := place.direct) is None:
        return None
    if place.ctx.means(call.func, "torch.autocast"):
        given = argument(call, "device_type", 0)
        return text_of(given.value) if given is not None else None
    origin = next(iter(place.ctx.origin(call.func) & AUTOCAST), "")
    mark = "'" if place.ctx.text.count("'") > place.ctx.text.count('"') else '"'
    return f"{mark}{'cpu' if '.cpu.' in origin else 'cuda'}{mark}"


def _plain(node: cst.BaseExpression) -> bool:
    """Whether an expression can be evaluated once more: no calls, nothing that waits or binds."""
    return not any(isinstance(n, (cst.Call, cst.Await, cst.Yield, cst.NamedExpr, cst.Lambda)) for n in walk(node))
