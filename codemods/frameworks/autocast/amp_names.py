"""The deprecated names of automatic mixed precision, their successors, and a call of one as a call of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import libcst as cst

from codemods.model.edits import Need, Safety
from codemods.model.names import NEEDS
from codemods.rules.context import Context
from codemods.syntax.rewrite import Replacement, has_splat, keyword, make_argument, with_argument, with_first_argument

_SCALER = ("init_scale", "growth_factor", "backoff_factor", "growth_interval", "enabled")
_AUTOCAST = ("enabled", "dtype", "cache_enabled")


@dataclass(frozen=True, slots=True)
class Renamed:
    """What took a deprecated name's place, and how a call of it has to be written."""

    name: str
    device: str
    parameters: tuple[str, ...] = ()
    """Of the old callable, in positional order; `_`: positional only."""
    device_keyword: str | None = None
    """None: the device comes first."""
    dtype: str = ""
    """The dtype that the old call has by itself, where the new one takes that of the region around it."""
    guard: str = ""
    """The name that exists exactly where the new call does; empty where every supported torch has it."""

    @property
    def written(self) -> str:
        device = f'{self.device_keyword}="{self.device}"' if self.device_keyword else f'"{self.device}"'
        return f"{self.name}({device}{', …' if self.parameters else ''})"

    @property
    def shifts(self) -> bool:
        """Whether the positional order of the new callable is another one."""
        return self.parameters == _AUTOCAST

    @property
    def requires(self) -> dict[str, str]:
        return dict(NEEDS[self.guard]) if self.guard else {}


@dataclass(frozen=True, slots=True)
class Repair:
    """One way to write a use anew."""

    changes: Mapping[cst.CSTNode, Replacement]
    needs: tuple[Need | None, ...]
    requires: Mapping[str, str]
    safety: Safety = Safety.SAFE


_GETTER = "torch.get_autocast_dtype"
NAMES = {
    "torch.cuda.amp.autocast": Renamed("torch.amp.autocast", "cuda", _AUTOCAST, dtype="torch.float16"),
    "torch.cpu.amp.autocast": Renamed("torch.amp.autocast", "cpu", _AUTOCAST, dtype="torch.bfloat16"),
    "torch.cuda.amp.GradScaler": Renamed("torch.amp.GradScaler", "cuda", _SCALER, guard="torch.amp.GradScaler"),
    "torch.cpu.amp.GradScaler": Renamed("torch.amp.GradScaler", "cpu", _SCALER, guard="torch.amp.GradScaler"),
    "torch.cuda.amp.custom_fwd": Renamed(
        "torch.amp.custom_fwd", "cuda", ("fwd", "cast_inputs"), "device_type", guard="torch.amp.custom_fwd"
    ),
    "torch.cuda.amp.custom_bwd": Renamed(
        "torch.amp.custom_bwd", "cuda", ("bwd",), "device_type", guard="torch.amp.custom_bwd"
    ),
    "torch.get_autocast_gpu_dtype": Renamed("torch.get_autocast_dtype", "cuda", guard=_GETTER),
    "torch.get_autocast_cpu_dtype": Renamed("torch.get_autocast_dtype", "cpu", guard=_GETTER),
    "torch.is_autocast_cpu_enabled": Renamed("torch.is_autocast_enabled", "cpu", guard=_GETTER),
    "torch.set_autocast_gpu_dtype": Renamed("torch.set_autocast_dtype", "cuda", ("_",), guard=_GETTER),
    "torch.set_autocast_cpu_dtype": Renamed("torch.set_autocast_dtype", "cpu", ("_",), guard=_GETTER),
    "torch.set_autocast_cpu_enabled": Renamed("torch.set_autocast_enabled", "cpu", ("_",), guard=_GETTER),
}
_LAST = frozenset(name.rpartition(".")[2] for name in NAMES)


def old(node: cst.Name | cst.Attribute, ctx: Context) -> str | None:
    """The deprecated name that an expression surely reads, through an unconditional import of torch's own modules."""
    head, _, rest = (ctx.name(node) or "").partition(".")
    imports = list(ctx.facts.named(head))
    if not any((rest or i.target).rpartition(".")[2] in _LAST for i in imports) and (rest or head not in _LAST):
        return None
    found = ctx.origin(node)
    if len(found) != 1 or (name := next(iter(found))) not in NAMES:
        return None
    if not imports:
        stars = [i.target for i in ctx.facts.named("*")]
        alone = len(stars) == 1 and stars[0].startswith("torch.") and isinstance(node, cst.Name)
        return name if alone and node.value in _LAST and head not in ctx.facts.assignments else None
    direct = all(i.target.partition(".")[0] == "torch" for i in imports)
    chosen = any((i.conditional and i.target != "torch") or i.type_checking for i in imports)
    return name if direct and not chosen else None


def device(new: Renamed, ctx: Context) -> cst.SimpleString:
    mark = "'" if ctx.text.count("'") > ctx.text.count('"') else '"'
    return cst.SimpleString(f"{mark}{new.device}{mark}")


def call(
    given: cst.Call, new: Renamed, target: cst.BaseExpression, dtype: cst.BaseExpression | None, ctx: Context
) -> cst.Call | None:
    """A call of the old name as one of the new: device added, positional arguments named. None: it would be no call."""
    args = []
    for position, arg in enumerate(given.args):
        first_of_function = position == 0 and (new.device_keyword is not None or new.parameters == ("_",))
        if arg.star or arg.keyword is not None or first_of_function:
            args.append(arg)
        elif position < len(new.parameters) and keyword(given, new.parameters[position]) is None:
            named = make_argument(new.parameters[position], arg.value)
            args.append(arg.with_changes(keyword=named.keyword, equal=named.equal))
        else:
            return None
    fixed = given.with_changes(func=target, args=args)
    if new.device_keyword is None or all(a.keyword is not None for a in args):
        fixed = with_first_argument(fixed, new.device_keyword, device(new, ctx))
    else:
        fixed = with_argument(fixed, new.device_keyword, device(new, ctx))
    return with_argument(fixed, "dtype", dtype) if dtype is not None else fixed


def accepts(given: cst.Call, new: Renamed) -> bool:
    """Whether the old callable would take these arguments at all (as far as they are in sight)."""
    plain = [a for a in given.args if not a.star]
    if any(a.keyword is not None and a.keyword.value not in new.parameters for a in plain):
        return False
    positional = [a for a in plain if a.keyword is None]
    most = 1 if new.device_keyword else len(new.parameters)
    return len(positional) <= most and not any(keyword(given, p) for p in new.parameters[: len(positional)])


def keeps_dtype(given: cst.Call) -> bool:
    """Whether a call of an old `autocast` names its dtype, or switches autocast off."""
    plain = [a for a in given.args if not a.star]
    if keyword(given, "dtype") is not None or sum(a.keyword is None for a in plain) > 1:
        return True
    enabled = keyword(given, "enabled") or (given.args[0] if plain and plain[0].keyword is None else None)
    off = enabled is not None and isinstance(enabled.value, cst.Name) and enabled.value.value == "False"
    return off and not has_splat(given)


def guarded(
    given: cst.Call, fixed: cst.Call, new: Renamed, module: cst.BaseExpression, ctx: Context
) -> cst.BaseExpression:
    """`fixed if hasattr(torch.amp, "…") else given`."""
    mark = device(new, ctx).value[0]
    name = cst.SimpleString(f"{mark}{new.guard.rpartition('.')[2]}{mark}")
    test = cst.Call(cst.Name("hasattr"), [cst.Arg(module, comma=_comma()), cst.Arg(name)])
    plain = given.with_changes(lpar=[], rpar=[])
    chosen = cst.IfExp(test=test, body=fixed.with_changes(lpar=[], rpar=[]), orelse=plain)
    parent = ctx.parent(given)
    alone = isinstance(parent, (cst.Assign, cst.AnnAssign, cst.Return, cst.Expr)) and not given.lpar
    if alone:
        inner = _line(ctx.module.default_indent)
        return chosen.with_changes(
            lpar=[cst.LeftParen(whitespace_after=inner)],
            rpar=[cst.RightParen(whitespace_before=_line(""))],
            whitespace_before_if=inner,
            whitespace_before_else=inner,
        )
    if isinstance(parent, cst.Arg) and not parent.star:
        return chosen
    return chosen.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _line(space: str) -> cst.ParenthesizedWhitespace:
    return cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(space))


def _comma() -> cst.Comma:
    return cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def reads(ctx: Context, name: str) -> Iterator[cst.Name]:
    """The places of the file that read a bare name."""
    for node in ctx.all(cst.Name, name):
        match ctx.parent(node):
            case cst.Attribute(attr=attr) if attr is node:
                continue
            case cst.Arg(keyword=key) if key is node:
                continue
            case cst.ImportAlias() | cst.AsName() | cst.AssignTarget() | cst.Param():
                continue
        if node.value == name:
            yield node
