"""The ways to keep an encoder off its fused path under autocast."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from codemods.frameworks.attention.encoders import Encoder
from codemods.frameworks.attention.precision_evidence import Evidence
from codemods.model.edits import Need
from codemods.model.names import NEEDS
from codemods.rules.context import Context
from codemods.syntax import flow
from codemods.syntax.rewrite import (
    Replacement,
    argument,
    block,
    make_argument,
    quoted,
    replace,
    statement,
    with_argument,
    with_value,
)

Changes = dict[cst.CSTNode, Replacement]
SWITCH = "torch.backends.mha.set_fastpath_enabled"


@dataclass(frozen=True, slots=True)
class Remedy:
    """Replacements, here and in other files, with what they rely on."""

    changes: Changes
    needs: tuple[Need | None, ...] = ()
    requires: Mapping[str, str] = field(default_factory=dict)
    also: Mapping[str, Changes] = field(default_factory=dict)


def no_nested(encoder: Encoder) -> Remedy:
    """`enable_nested_tensor=False` where the encoder is built."""
    given = argument(encoder.built, "enable_nested_tensor", 3)
    off = cst.Name("False")
    if given is not None:
        fixed = with_value(encoder.built, given, off)
    else:
        fixed = with_argument(encoder.built, "enable_nested_tensor", off)
    return Remedy({encoder.built: fixed}, (), {"torch": ">=2.6"})


def fastpath_off(calls: Sequence[cst.Call], ctx: Context) -> Remedy | None:
    """The switch around each call, put back afterwards."""
    changes: Changes = {}
    needs: list[Need | None] = []
    for call in calls:
        mha = ctx.spell("torch.backends.mha", at=call)
        saved = next(
            n for n in ("fastpath", "encoder_fastpath", "mha_fastpath") if not re.search(rf"\b{n}\b", ctx.text)
        )
        if mha is None:
            return None
        path = ctx.module.code_for_node(mha.node)

        def guarded(line: cst.CSTNode, path: str = path, saved: str = saved) -> list[cst.CSTNode]:
            set_back = f"{path}.set_fastpath_enabled({saved})"
            outer = statement(ctx, f"try:\n    pass\nfinally:\n    {set_back}\n")
            body = cst.IndentedBlock(body=[line])  # type: ignore[list-item]
            return [
                statement(ctx, f"{saved} = {path}.get_fastpath_enabled()"),
                statement(ctx, f"{path}.set_fastpath_enabled(False)"),
                outer.with_changes(body=body),
            ]

        around = _around(call, ctx, guarded)
        if around is None or around.keys() & changes.keys():
            return None
        changes |= around
        needs.append(mha.need)
    return Remedy(changes, tuple(needs), NEEDS[SWITCH]) if changes else None


def fastpath_off_global(ctx: Context) -> Remedy | None:
    """The switch for the whole process, after the imports of the module that builds the encoder."""
    last = None
    for line in ctx.module.body:
        if isinstance(line, cst.SimpleStatementLine) and any(
            isinstance(s, (cst.Import, cst.ImportFrom)) for s in line.body
        ):
            last = line
        elif last is not None:
            break
    backends = ctx.spell("torch.backends", at=ctx.module.body[0]) if last is not None else None
    if last is None or backends is None:
        return None
    path = ctx.module.code_for_node(backends.node)
    test = f"hasattr({path}, {quoted(ctx, 'mha').value})"
    new = statement(ctx, f"\nif {test}:\n    {path}.mha.set_fastpath_enabled(False)\n")
    return Remedy({last: [last, new]}, (backends.need,))


def fp32_island(calls: Sequence[cst.Call], ctx: Context) -> Remedy | None:
    """Autocast off around each call, and its input in float32."""
    changes: Changes = {}
    needs: list[Need | None] = []
    for call in calls:
        given = argument(call, "src", 0)
        autocast = ctx.spell("torch.autocast", at=call)
        name = ctx.name(given.value) if given is not None else None
        if given is None or name is None or autocast is None:
            return None
        floated = cst.Call(cst.Attribute(given.value, cst.Name("float")))
        header = f"with {ctx.module.code_for_node(autocast.node)}(device_type={name}.device.type, enabled=False):"

        def island(
            line: cst.CSTNode, header: str = header, old: cst.CSTNode = given.value, new: cst.CSTNode = floated
        ) -> list[cst.CSTNode]:
            outer = statement(ctx, f"{header}\n    pass\n")
            body = cst.IndentedBlock(body=[replace(line, {old: new})])  # type: ignore[list-item]
            return [outer.with_changes(body=body)]

        around = _around(call, ctx, island)
        if around is None or around.keys() & changes.keys():
            return None
        changes |= around
        needs.append(autocast.need)
    return Remedy(changes, tuple(needs)) if changes else None


def precision(evidence: Evidence, value: str, ctx: Context) -> Remedy | None:
    """Another precision for the Trainer that evaluates the encoder."""
    given = evidence.precision
    if given is None or given.keyword is None or given.keyword.value != "precision":
        return None
    new: Changes = {given: make_argument("precision", quoted(evidence.context, value)).with_changes(comma=given.comma)}
    if evidence.context is ctx:
        return Remedy(new)
    return Remedy({}, also={evidence.context.path: new})


def _around(call: cst.Call, ctx: Context, make: Callable[[cst.CSTNode], list[cst.CSTNode]]) -> Changes | None:
    """The statement of a call replaced by what `make` puts around it; None where it is no line of its own kind."""
    holder = ctx.statement(call)
    line = ctx.parent(holder) if isinstance(holder, (cst.Assign, cst.AnnAssign, cst.Return, cst.Expr)) else None
    if isinstance(line, cst.SimpleStatementLine):
        lead, end = line.leading_lines, line.trailing_whitespace
        before, own, after = _split(line.body, holder)
        lines: list[cst.CSTNode] = []
        if before:
            lines.append(cst.SimpleStatementLine(before))
        lines += make(cst.SimpleStatementLine(own, trailing_whitespace=end if not after else cst.TrailingWhitespace()))
        if after:
            lines.append(cst.SimpleStatementLine(after, trailing_whitespace=end))
        return {line: [lines[0].with_changes(leading_lines=lead), *lines[1:]]}
    if not isinstance(line, cst.SimpleStatementSuite):
        return None
    owner = ctx.parent(line)
    if not isinstance(owner, (cst.FunctionDef, cst.With, cst.If, cst.Else, cst.For, cst.While, cst.Try, cst.Finally)):
        return None
    inside: list[cst.CSTNode] = []
    for each in block(ctx, line):
        inside += make(each) if isinstance(each, cst.SimpleStatementLine) and call in flow.own(each) else [each]
    return {owner: owner.with_changes(body=cst.IndentedBlock(body=inside))}  # type: ignore[arg-type]


def _split(
    body: Sequence[cst.BaseSmallStatement], own: cst.CSTNode | None
) -> tuple[list[cst.BaseSmallStatement], list[cst.BaseSmallStatement], list[cst.BaseSmallStatement]]:
    at = next(i for i, each in enumerate(body) if each is own)
    parts = (list(body[:at]), [body[at]], list(body[at + 1 :]))
    for part in parts:
        if part:
            part[-1] = part[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    return parts
