"""From samples to ratios, spreads and the exponent of growth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from statistics import mean, median


@dataclass(frozen=True)
class Sample:
    """What one run of a command cost, the processes it started included."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds of processor time of all processes."""
    peak: float
    """MiB of the process that used most."""


@dataclass(frozen=True)
class Spread:
    """Several measurements of the same thing."""

    least: float
    middle: float
    most: float


Cost = Callable[[Sample], float]


def wall(sample: Sample) -> float:
    """Seconds on the clock."""
    return sample.wall


def cpu(sample: Sample) -> float:
    """Seconds of processor time."""
    return sample.cpu


def peak(sample: Sample) -> float:
    """MiB of the largest process."""
    return sample.peak


def spread(values: Sequence[float]) -> Spread:
    """The smallest, the median and the largest value."""
    return Spread(min(values), median(values), max(values))


def ratios(above: Sequence[Sample], below: Sequence[Sample], cost: Cost) -> list[float]:
    """The ratio of each round. Only runs of the same round are compared: the machine is never the same twice."""
    return [cost(a) / cost(b) for a, b in zip(above, below, strict=True)]


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of the straight line through the points on logarithmic axes: 1 is proportional."""
    across, up = [log(size) for size in sizes], [log(cost) for cost in costs]
    middle, height = mean(across), mean(up)
    return sum((x - middle) * (y - height) for x, y in zip(across, up, strict=True)) / sum(
        (x - middle) ** 2 for x in across
    )


def exponents(sizes: Sequence[float], samples: Sequence[Sequence[Sample]], cost: Cost) -> list[float]:
    """The exponent of each round.

    Args:
        samples: for each size, the samples of all rounds.
    """
    return [exponent(sizes, [cost(sample) for sample in of_one_round]) for of_one_round in zip(*samples, strict=True)]


def beyond(samples: Sequence[Sequence[Sample]], empty: Sequence[Sample]) -> list[list[Sample]]:
    """The samples of several sizes without what the same round's run over nothing cost (its peak is kept)."""
    least = 1e-3  # a run over little may, by chance, be quicker than one over nothing
    return [
        [
            Sample(max(sample.wall - nothing.wall, least), max(sample.cpu - nothing.cpu, least), sample.peak)
            for sample, nothing in zip(of_one_size, empty, strict=True)
        ]
        for of_one_size in samples
    ]
