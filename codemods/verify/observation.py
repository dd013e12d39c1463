"""What a run shows: the plain data that crosses from the child process to the parent. Standard library only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Observation:
    """What a proof's `run` (or `reference`) saw. Empty fields mean: not looked at."""

    losses: list[float] = field(default_factory=list)
    gradients: dict[str, float | None] = field(default_factory=dict)
    """Parameter → norm of the last gradient that reached it; None if none ever did."""
    moved: dict[str, float] = field(default_factory=dict)
    """Parameter → norm of how far training moved it."""
    weights: dict[str, float] = field(default_factory=dict)
    """Parameter → fingerprint of its final value; equal values have equal fingerprints, close ones close."""
    numbers: dict[str, float] = field(default_factory=dict)
    """Whatever else the proof measures, by name."""
    witness: int = 0
    """How often the repair's own code ran (see `WITNESS`)."""

    def blocked(self) -> tuple[str, ...]:
        """Parameters that no gradient reached."""
        return tuple(name for name, norm in self.gradients.items() if norm is None)

    def still(self) -> tuple[str, ...]:
        """Parameters that training did not move."""
        return tuple(name for name, distance in self.moved.items() if distance == 0)

    def non_finite(self) -> Iterator[str]:
        """Losses, gradients, weights and numbers that are inf or nan."""
        for name, value in _values(self):
            if not math.isfinite(value):
                yield f"{name} = {value}"
        for name, norm in self.gradients.items():
            if norm is not None and not math.isfinite(norm):
                yield f"gradient of {name} = {norm}"

    def differences(self, other: Observation, tolerance: float = 0.0) -> Iterator[str]:
        """Where the losses, weights, movements and numbers of `other` are not found here, within a relative tolerance.

        Fingerprints may be near zero by chance, so for them the tolerance is absolute as well.
        """
        mine = dict(_values(self))
        for name, expected in _values(other):
            actual = mine.get(name, math.nan)
            absolute = tolerance if name.startswith("weight ") else tolerance / 1000
            if not math.isclose(actual, expected, rel_tol=tolerance, abs_tol=absolute):
                yield f"{name} = {actual:.9g} instead of {expected:.9g}"

    @property
    def empty(self) -> bool:
        return not (self.losses or self.gradients or self.numbers)


def _values(seen: Observation) -> Iterator[tuple[str, float]]:
    for step, loss in enumerate(seen.losses):
        yield f"loss[{step}]", loss
    for kind, table in (("movement of", seen.moved), ("weight", seen.weights), ("number", seen.numbers)):
        for name, value in table.items():
            yield f"{kind} {name}", value


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a proof file declares at its top (see `codemods.verify.proof`)."""

    symptom: str = ""
    bites: Mapping[str, str] = field(default_factory=dict)
    witness: str = ""
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class Side:
    """What one side of a fixture did in its child process."""

    declared: Declaration = field(default_factory=Declaration)
    versions: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""
    """Why the side could not be run at all: no torch, a broken proof file, the time limit, a signal."""
    error: str = ""
    """The exception that the side raised, as `Type: text`."""
    trace: str = ""
    """The traceback of that exception, or of the one that broke the proof file."""
    warnings: tuple[str, ...] = ()
    output: str = ""
    """The end of what it printed or logged."""
    seen: Observation = field(default_factory=Observation)
    reference: Observation | None = None
