"""Findings that are known: a file that names them, so that a check speaks of new ones only.

A finding is named by its fingerprint, in which no number of a line takes part; of equal ones in one place the second
has another fingerprint than the first, so they are counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from codemods import __version__
from codemods.model.edits import Finding
from fixer.errors import Refusal

FORMAT = 1
_MARK = "fixer-baseline"


@dataclass(frozen=True, slots=True, order=True)
class KnownFinding:
    """One line of a baseline."""

    path: str
    code: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The known findings, and the file that names them."""

    name: str
    findings: tuple[KnownFinding, ...] = ()

    @classmethod
    def of(cls, findings: Iterable[Finding], name: str) -> Baseline:
        """A baseline of these findings."""
        known = (KnownFinding(each.path, each.code, each.fingerprint) for each in findings)
        return cls(name, tuple(sorted(known)))

    @classmethod
    def read(cls, place: Path, name: str) -> Baseline:
        """What a file names.

        Raises:
            Refusal: if it is no baseline of this format.
        """
        try:
            content = json.loads(place.read_bytes())
        except OSError as error:
            hint = f"; `fixer check --write-baseline {name}` makes it" if isinstance(error, FileNotFoundError) else ""
            raise Refusal(f"--baseline {name}: {error.strerror}{hint}") from error
        except (ValueError, RecursionError) as error:
            raise Refusal(f"--baseline {name}: is not JSON: {error}") from error
        if not isinstance(content, dict) or _MARK not in content:
            raise Refusal(f"--baseline {name}: is no baseline: `fixer check --write-baseline FILE` makes one")
        anew = f"write it anew with `fixer check --write-baseline {name}`"
        if content[_MARK] != FORMAT:
            raise Refusal(f"--baseline {name}: is of format {content[_MARK]}, and this fixer reads {FORMAT}: {anew}")
        entries = content.get("findings")
        found = []
        for number, entry in enumerate(entries if isinstance(entries, list) else [None], start=1):
            words = [entry.get(key) for key in KnownFinding.__annotations__] if isinstance(entry, dict) else [None]
            if not all(isinstance(word, str) for word in words):
                raise Refusal(f"--baseline {name}: entry {number} names no finding: {anew}")
            found.append(KnownFinding(*words))
        return cls(name, tuple(found))

    @property
    def text(self) -> str:
        """What the file holds: one line for each finding."""
        keys = KnownFinding.__annotations__
        lines = [json.dumps({key: getattr(each, key) for key in keys}) for each in self.findings]
        entries = "".join(f"\n  {line}," for line in lines).removesuffix(",")
        return f'{{"{_MARK}": {FORMAT}, "version": "{__version__}", "findings": [{entries}\n]}}\n'

    def write(self, place: Path) -> None:
        """Write the file.

        Raises:
            Refusal: if it cannot be written.
        """
        try:
            place.write_bytes(self.text.encode())
        except OSError as error:
            raise Refusal(f"--write-baseline {self.name}: {error.strerror}") from error
