"""The deprecated names of automatic mixed precision, their successors, and a call of one as a call of the other."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.analysis.calls import has_splat, keyword, literal
from codemods.analysis.python_context import PythonContext
from codemods.model.names import NEEDS
from codemods.syntax.verbs import Argument, EditCall, edit_call

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


def old(node: ast.Name | ast.Attribute, ctx: PythonContext) -> str | None:
    """The deprecated name that an expression surely reads, through an unconditional import of torch's own modules."""
    if isinstance(node, ast.Attribute) and node.attr not in _LAST:
        return None
    key = (old,)
    if key not in ctx.memo:
        ctx.memo[key] = _LAST | {i.name for i in ctx.facts.imports if i.target.rpartition(".")[2] in _LAST}
    if isinstance(node, ast.Name) and node.id not in ctx.memo[key]:
        return None
    found = ctx.origin(node)
    if len(found) != 1 or (name := next(iter(found))) not in NAMES:
        return None
    head = (ctx.name(node) or "").partition(".")[0]
    imports = list(ctx.facts.named(head))
    if not imports:
        stars = [i.target for i in ctx.facts.named("*")]
        alone = len(stars) == 1 and stars[0].startswith("torch.") and isinstance(node, ast.Name)
        return name if alone and head in _LAST and head not in ctx.facts.assignments else None
    direct = all(i.target.partition(".")[0] == "torch" for i in imports)
    chosen = any((i.conditional and i.target != "torch") or i.type_checking for i in imports)
    return name if direct and not chosen else None


def call(given: ast.Call, new: Renamed, target: str, dtype: str | None, ctx: PythonContext) -> EditCall | None:
    """A call of the old name as one of the new: device added, positional arguments named. None: it would be no call."""
    named: dict[ast.expr | ast.keyword, str] = {}
    for position, arg in enumerate(given.args):
        first_of_function = position == 0 and (new.device_keyword is not None or new.parameters == ("_",))
        if isinstance(arg, ast.Starred) or first_of_function:
            continue
        if position >= len(new.parameters) or keyword(given, new.parameters[position]) is not None:
            return None
        named[arg] = new.parameters[position]
    device: Argument = (new.device_keyword, ctx.quoted(new.device))
    leads = new.device_keyword is None or (len(named) == len(given.args) and not has_splat(given))
    last = [] if leads else [device]
    if dtype is not None:
        last.append(("dtype", dtype))
    return edit_call(given, function=target, first=[device] if leads else [], last=last, named=named)


def accepts(given: ast.Call, new: Renamed) -> bool:
    """Whether the old callable would take these arguments at all (as far as they are in sight)."""
    if any(k.arg is not None and k.arg not in new.parameters for k in given.keywords):
        return False
    positional = [a for a in given.args if not isinstance(a, ast.Starred)]
    most = 1 if new.device_keyword else len(new.parameters)
    return len(positional) <= most and not any(keyword(given, p) for p in new.parameters[: len(positional)])


def keeps_dtype(given: ast.Call) -> bool:
    """Whether a call of an old `autocast` names its dtype, or switches autocast off."""
    positional = [a for a in given.args if not isinstance(a, ast.Starred)]
    if keyword(given, "dtype") is not None or len(positional) > 1:
        return True
    enabled = keyword(given, "enabled") or next(iter(positional), None)
    return literal(enabled) is False and not has_splat(given)
