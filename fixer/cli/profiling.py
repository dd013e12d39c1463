"""`--profile`: the clock and the meters of a run, and where what they say goes."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemods.model.profile import SILENT, Recorder

if TYPE_CHECKING:
    from fixer.report.profile import Cost


@dataclass(frozen=True, slots=True)
class Profiling:
    """A run that is recorded, or not."""

    recorder: Recorder = SILENT
    began: float = 0.0
    """When the process started, by the recorder's clock."""

    @classmethod
    def start(cls, wanted: bool) -> Profiling:
        """Begin to record, if that is wanted."""
        if not wanted:
            return cls()
        recorder = Recorder(time.perf_counter)
        # The interpreter has been busy since it was started, with our own modules.
        before = time.process_time()
        recorder.profile.spend(("phase", "starting"), before)
        recorder.profile.calls["phase", "starting"] = 1
        return cls(recorder, time.perf_counter() - before)

    def values(self) -> dict[str, object] | None:
        """What was recorded up to now as JSON values; None if nothing is."""
        if self.recorder is SILENT:
            return None
        from fixer.report.profile import values

        return values(self.recorder.profile, self._cost())

    def tell(self) -> None:
        """Print what was recorded on standard error."""
        if self.recorder is not SILENT:
            from fixer.report.profile import text

            print(text(self.recorder.profile, self._cost(), ["fixer", *sys.argv[1:]]), end="", file=sys.stderr)

    def _cost(self) -> Cost:
        from fixer.report.profile import Cost

        wall = time.perf_counter() - self.began
        if sys.platform == "win32":
            return Cost(wall, time.process_time(), 0.0)
        import resource

        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        unit = 1024 * 1024 if sys.platform == "darwin" else 1024
        return Cost(
            wall, sum(each.ru_utime + each.ru_stime for each in used), max(each.ru_maxrss for each in used) / unit
        )
