"""What running the code comes to, for those who read it. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Word = Literal[
    "proved", "warning-gone", "not-reproduced", "numbers-differ", "refuted", "healthy", "unhealthy", "could-not-run"
]
"""The symptom was there and is gone · so is a warning, of a run that was right · both sides alike · nothing wrong on
either side, and other numbers · worse after the fix, or more changed than it may · of one run without a fix: nothing
is wrong · something is · nothing can be said.
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A word and the reasons for it."""

    word: Word
    summary: str
    """One sentence."""
    short: str = ""
    """What is left of it where the symptoms stand below it; empty: all."""
    gone: tuple[str, ...] = ()
    """Symptoms of the code as it is that the fixes removed, as sentences."""
    new: tuple[str, ...] = ()
    """Symptoms that the fixes brought."""
    both: tuple[str, ...] = ()
    """Symptoms of both sides."""
    wrong: tuple[str, ...] = ()
    """What is wrong with one run that was judged alone."""
    notes: tuple[str, ...] = ()
    """What else a person should hear."""
