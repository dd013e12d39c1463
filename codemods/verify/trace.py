"""What the probe wrote down about one process, read back. Standard library only.

The files come from a process that may have been killed while it wrote, so nothing about them is taken for granted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter, over the steps at which it was looked at."""

    trainable: bool = True
    looks: int = 0
    present: int = 0
    """At how many looks it had a gradient, and how often that was zero, or inf or nan where it was used."""
    zero: int = 0
    non_finite: int = 0
    moved: bool | None = None
    """Whether a step changed it; None where no step was taken that could."""
    norms: tuple[float, ...] = ()
    size: int = 1
    matrix: bool = False
    """Whether it has two dimensions or more."""
    dtype: str = "float32"
    root: int = -1
    """The number of the outermost module that holds it; -1 where none does."""
    order: int | None = None
    """When the module that holds it was first called; None where it never was."""
    training: bool = True
    """Whether the outermost module is in training mode."""
    part: bool = False
    """Whether the process may hold a part of it only, and other ranks the rest."""
    non_finite_at: int = 0
    """The step of its optimizer at which a gradient was first inf or nan; 0: never."""
    feeds: bool | None = None
    """Whether, without a gradient, it goes into a loss through a parameter that has one; None if that is not known."""
    at_rest: int = 0
    """At how many looks its learning rate was 0, so that the step could not move it."""

    @property
    def half(self) -> bool:
        """Whether it holds numbers of 16 bits or fewer, which small steps leave as they are."""
        return self.dtype.startswith(("float16", "bfloat16", "float8"))


@dataclass(frozen=True, slots=True)
class Trace:
    """One process that imported torch."""

    rank: str = ""
    program: tuple[str, ...] = ()
    """The name that `multiprocessing` gave the process, and its command line."""
    started: float = 0.0
    ended: bool = False
    """Whether the process came to its own end, rather than being killed."""
    written: float = 0.0
    """When this was written down, in seconds since the epoch."""
    versions: Mapping[str, str] = field(default_factory=dict)
    backward: int = 0
    steps: int = 0
    skipped: int = 0
    """Steps that a gradient scaler left out, as it does until it has found its scale."""
    losses: tuple[float, ...] = ()
    windows: tuple[int, ...] = ()
    """How many losses had been seen at each step of an optimizer."""
    steppers: tuple[int, ...] = ()
    """The numbers of the optimizers that took these steps, in the order of their first steps."""
    scales: tuple[float, ...] = ()
    """The loss scale after each update."""
    first_scale: float | None = None
    clips: Mapping[str, int] = field(default_factory=dict)
    """Calls that clip gradients, as they are written, and how often."""
    clipped: int = 0
    """Steps on gradients that were clipped after the last backward pass."""
    settings: tuple[tuple[Mapping[str, Any], ...], ...] = ()
    """Of each optimizer, in the order of their first steps, what each of its groups was set to then."""
    autocast: Mapping[str, int] = field(default_factory=dict)
    warnings: Mapping[str, int] = field(default_factory=dict)
    exceptions: tuple[str, ...] = ()
    """Those that passed through a backward pass or a scaler, caught or not."""
    error: str = ""
    """The one that ended the program."""
    error_place: str = ""
    """The innermost line of the person's own code that it passed: `train.py:12`."""
    stopped: bool = False
    """Whether it was ended for its number of steps."""
    oddities: Mapping[str, int] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    """Of some oddities, the words for what was seen."""
    made: int = 0
    """Optimizers that were made."""
    optimizers: Mapping[int, str] = field(default_factory=dict)
    """What those that took steps are called, by their numbers: `Adam of GAN.generator`."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    """Those of optimizers."""
    unheld: Mapping[str, Parameter] = field(default_factory=dict)
    """Those of modules that no optimizer holds."""
    strays: tuple[str, ...] = ()
    """Files of the checkout itself that were imported."""
    trouble: str = ""
    """Why the probe did not see everything."""

    @property
    def trained(self) -> bool:
        return bool(self.backward or self.steps or self.skipped or self.exceptions)

    @property
    def updates(self) -> int:
        """Steps, those that a scaler left out included."""
        return self.steps + self.skipped

    def reached(self) -> int:
        """How many trainable parameters had a finite gradient at some look."""
        return sum(p.trainable and p.present > 0 and p.non_finite < p.present for p in self.parameters.values())

    def trainable(self) -> int:
        return sum(parameter.trainable for parameter in self.parameters.values())


def read(directory: Path) -> tuple[Trace, ...]:
    """The traces below a directory: those of processes that trained, by rank, then by start; else all.

    Of a parameter of which each rank holds a part, each trace tells what all of them saw together.
    """
    traces = [trace for path in sorted(directory.glob("*.json")) if (trace := _trace(path))]
    traces.sort(key=lambda trace: (trace.rank.zfill(8), trace.started))
    return joined([trace for trace in traces if trace.trained] or traces)


def joined(traces: Sequence[Trace]) -> tuple[Trace, ...]:
    """The traces of several processes, the parts of parameters that the ranks of one program hold taken together."""
    parts: dict[tuple[tuple[str, ...], str], list[Parameter]] = {}
    for trace in traces:
        for name, page in trace.parameters.items():
            if page.part and trace.rank:
                parts.setdefault((trace.program[1:], name), []).append(page)

    def whole(trace: Trace, name: str, page: Parameter) -> Parameter:
        return _together(page, parts[trace.program[1:], name]) if page.part and trace.rank else page

    return tuple(
        replace(trace, parameters={name: whole(trace, name, page) for name, page in trace.parameters.items()})
        for trace in traces
    )


def _together(page: Parameter, parts: Sequence[Parameter]) -> Parameter:
    """What is known of a parameter whose parts these are; the page of one of them tells the rest."""
    present = max(part.present for part in parts)
    moved, feeds = {part.moved for part in parts}, {part.feeds for part in parts}
    return replace(
        page,
        looks=max(part.looks for part in parts),
        present=present,
        zero=present - max(part.present - part.zero for part in parts),
        non_finite=max(part.non_finite for part in parts),
        non_finite_at=min((part.non_finite_at for part in parts if part.non_finite_at), default=0),
        moved=True if True in moved else False if False in moved else None,
        feeds=True if True in feeds else None if None in feeds else False,
        norms=tuple(math.hypot(*each) for each in zip_longest(*(part.norms for part in parts), fillvalue=0.0)),
    )


def called(traces: Sequence[Trace], number: int) -> str:
    """What one of several processes is called: by its rank where it has one of its own. Nothing of a single process."""
    if len(traces) < 2 or not 0 <= number < len(traces):
        return ""
    rank = traces[number].rank
    alone = rank and [trace.rank for trace in traces].count(rank) == 1
    return f"rank {rank}" if alone else f"process {number + 1}"


def paired(one: Sequence[Trace], others: Sequence[Trace]) -> tuple[Trace, ...]:
    """`others` in the order of the processes of another run that did the same: by rank, command line and name, the
    parameters they trained and their first loss; when they started is chance.
    """
    distances = sorted(
        (*_unlike(mine, other), abs(here - there), here, there)
        for here, mine in enumerate(one)
        for there, other in enumerate(others)
    )
    places: dict[int, int] = {}
    for *_, here, there in distances:
        if here not in places and there not in places.values():
            places[here] = there
    taken = [others[places[here]] if here in places else Trace(mine.rank) for here, mine in enumerate(one)]
    return (*taken, *(other for there, other in enumerate(others) if there not in places.values()))


def _unlike(one: Trace, other: Trace) -> tuple[bool, bool, bool, float]:
    """How little two processes have in common; the lowest is the most alike."""
    first = furthest_apart(one.losses[:1], other.losses[:1])
    same = one.parameters.keys() == other.parameters.keys()
    return one.rank != other.rank, one.program != other.program, not same, first


def _trace(path: Path) -> Trace | None:
    try:
        return trace_of(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def trace_of(told: Mapping[str, Any]) -> Trace:
    """What was written down about one process, as JSON values.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: if it is something else.
    """
    parameters, unheld = (
        {name: Parameter(**{**page, "norms": tuple(page["norms"])}) for name, page in told[kind].items()}
        for kind in ("parameters", "unheld")
    )
    return Trace(
        rank=told["rank"] or "",
        program=tuple(map(str, told["program"])),
        started=told["started"],
        ended=told["ended"],
        written=told.get("written", 0.0),
        versions=told["versions"],
        backward=told["backward"],
        steps=told["steps"],
        skipped=told["skipped"],
        losses=tuple(told["losses"]),
        windows=tuple(map(int, told["windows"])),
        steppers=tuple(map(int, told["steppers"])),
        scales=tuple(told["scales"]),
        first_scale=told["first_scale"],
        clips=told["clips"],
        clipped=told["clipped"],
        settings=tuple(tuple(map(dict, groups)) for groups in told["settings"]),
        autocast=told["autocast"],
        warnings=told["warnings"],
        exceptions=tuple(told["exceptions"]),
        error=told["error"],
        error_place=told["error_place"],
        stopped=told["stopped"],
        oddities=told["oddities"],
        details=told["details"],
        made=told["made"],
        optimizers={int(number): name for number, name in told["optimizers"].items()},
        parameters=parameters,
        unheld=unheld,
        strays=tuple(told["strays"]),
        trouble=told["trouble"],
    )


def furthest_apart(first: Sequence[float], second: Sequence[float]) -> float:
    """The largest relative difference of two series over their common length; nan equals nan."""
    worst = 0.0
    for one, other in zip(first, second, strict=False):
        if one == other or (math.isnan(one) and math.isnan(other)):
            continue
        if not (math.isfinite(one) and math.isfinite(other)):
            return math.inf
        worst = max(worst, abs(one - other) / max(abs(one), abs(other)))
    return worst
