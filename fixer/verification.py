"""Running a person's own command on the code before and after the fixes, watched, and saying what changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.verify.verdict import Verdict, Word

if TYPE_CHECKING:
    from fixer.work import Outcome


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run of the command may use."""

    seconds: float = 600.0
    memory: int = 0
    """Bytes that its processes may hold together; 0 means no limit."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of the two runs."""

    command: str
    judged: Verdict

    @property
    def verdict(self) -> Word:
        """`proved`, `not-reproduced`, `refuted` or `could-not-run`."""
        return self.judged.word

    @property
    def summary(self) -> str:
        """The verdict as one sentence."""
        return self.judged.summary


def verify(
    outcome: Outcome,
    command: str,
    limits: Limits = Limits(),
    *,
    here: Path | None = None,
    commits: tuple[str, str] | None = None,
    linked: Sequence[str] = (),
    tell: Callable[[str], None] = lambda sentence: None,
) -> Verification:
    """Run `command` on the code as it is and as `outcome` would leave it, each in a temporary copy.

    Args:
        here: where the person stands; the command is run at the same place of each copy. By default at the root.
        commits: run these two commits of the repository instead: the one planned on, and the one with the fixes.
        linked: paths that git ignores and the command needs (data, checkpoints); they are linked into the copies.
        tell: is told, sentence by sentence, what is being done.

    Raises:
        Refusal: if no copy can be made.
    """
    return Verification(command, Verdict("could-not-run", "Running a command is not written yet."))
