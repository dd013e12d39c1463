"""Where the time of a run goes, and how many files each stage leaves: recorded only when somebody wants to know.

The clock comes from outside. Time is counted once: what runs inside a phase, or a rule, and has a name of its own is
not part of what is around it, so that all the seconds together are those of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

Name = tuple[str, str]
"""What is timed: `("phase", "parsing")` or `("rule", "PL001")`."""

_NOTHING = nullcontext()


@dataclass(frozen=True, slots=True)
class Profile:
    """What was recorded. Plain data: those of several processes add up."""

    seconds: dict[Name, float] = field(default_factory=dict)
    calls: Counter[Name] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)
    """Files left by each stage, in the order in which files meet them."""

    def add(self, other: Profile) -> None:
        """Take in what another process recorded."""
        for name, seconds in other.seconds.items():
            self.spend(name, seconds)
        self.calls.update(other.calls)
        self.stages.update(other.stages)

    def spend(self, name: Name, seconds: float) -> None:
        """Add to the time of a name."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds


class Recorder:
    """Records a profile; without a clock it records nothing, and costs next to nothing."""

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self.profile = Profile()
        self._clock = clock
        self._open: list[Name] = []
        self._since = 0.0

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Count the time of a `with` block as that of a part of the work."""
        return self._timed(("phase", name)) if self._clock else _NOTHING

    def rule(self, code: str) -> AbstractContextManager[None]:
        """Count the time of a `with` block as that of a rule's checks."""
        return self._timed(("rule", code)) if self._clock else _NOTHING

    def stage(self, name: str, files: int = 1) -> None:
        """Count files that a stage leaves."""
        if self._clock:
            self.profile.stages[name] += files

    @contextmanager
    def _timed(self, name: Name) -> Iterator[None]:
        self.profile.calls[name] += 1
        self._turn()
        self._open.append(name)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def _turn(self) -> None:
        """Give the time since the last turn to what is innermost."""
        assert self._clock
        now = self._clock()
        if self._open:
            self.profile.spend(self._open[-1], now - self._since)
        self._since = now


SILENT = Recorder()
"""Records nothing; the default of whoever takes a recorder."""
