"""What the proofs showed under each version of torch: the record that documents quote. No torch, no processes.

The record is a JSON file in the repository, written by `codemods.verify.matrix`. Each proof stands in it with a digest
of its fixture: what was recorded of another fixture counts for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.version import Version

SHOWN, GONE, NOT_OFFERED, REFUTED, COULD_NOT_RUN = "shown", "gone", "not-offered", "refuted", "could-not-run"
"""The symptom showed and the repair removed it · both sides train alike, for these versions no longer have the bug ·
this repair does not hold, and `fixer` does not offer it for these versions · it does not hold · no answer."""
OUTCOMES = (SHOWN, GONE, NOT_OFFERED, REFUTED, COULD_NOT_RUN)
_PHRASES = {
    SHOWN: "the bug shows and the repair removes it",
    GONE: "the bug is gone and both sides train alike",
    NOT_OFFERED: "another repair is offered",
    REFUTED: "the proof fails",
    COULD_NOT_RUN: "no answer",
}


@dataclass(frozen=True, slots=True)
class Result:
    """What one proof showed in one environment."""

    outcome: str
    before: str = ""
    """The symptom with its whole message, or how *before* trained."""
    after: str = ""
    why: str = ""
    """Of a result that is no proof: the reason."""


@dataclass(frozen=True, slots=True)
class Proved:
    """One proof and its results by version of torch."""

    code: str
    strategy: str
    """As the fixture asks for it; empty for the default."""
    fixture: str
    results: Mapping[str, Result] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProofRecord:
    """The whole record."""

    environments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By version of torch: package → installed version, and `trouble` where there was no environment."""
    proofs: Mapping[str, Proved] = field(default_factory=dict)
    """By `<rule's name>/<case>`."""

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of torch that proofs ran under, oldest first."""
        ran = {version for proof in self.proofs.values() for version in proof.results}
        return tuple(sorted(ran, key=Version))

    def of(self, code: str) -> Mapping[str, Proved]:
        """The proofs of one rule."""
        return {name: proof for name, proof in self.proofs.items() if proof.code == code}


def read(path: Path) -> ProofRecord:
    """The record in a file; an empty one if there is none.

    Raises:
        ValueError: if the file holds something else.
    """
    if not path.is_file():
        return ProofRecord()
    try:
        data = json.loads(path.read_bytes())
        proofs = {
            name: Proved(**proof | {"results": {v: Result(**result) for v, result in proof["results"].items()}})
            for name, proof in data["proofs"].items()
        }
        return ProofRecord(data["environments"], proofs)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no record of evidence ({type(error).__name__}: {error})") from error


def name_of(proof: Path) -> str:
    """`<rule's name>/<case>`."""
    return f"{proof.parents[1].name}/{proof.parent.name}"


def sentence(evidence: ProofRecord, code: str) -> str:
    """What the record says of a rule, in a sentence; empty if nothing was run."""
    groups: dict[str, list[str]] = {}
    for version in evidence.versions:
        outcomes = [proof.results[version].outcome for proof in evidence.of(code).values() if version in proof.results]
        counts = ", ".join(f"{_PHRASES[kind]} in {outcomes.count(kind)}" for kind in OUTCOMES if kind in outcomes)
        if counts:
            cases = f"{counts} of {len(outcomes)} {'case' if len(outcomes) == 1 else 'cases'}"
            groups.setdefault(cases, []).append(version)
    said = "; ".join(f"torch {', '.join(versions)}: {cases}" for cases, versions in groups.items())
    return f"Both sides were run: {said}." if said else ""
