"""What the proofs showed under each version of torch: the record that documents quote. No torch, no processes.

The record is a JSON file in the repository, written by `codemods.verify.matrix`. Each proof stands in it with a digest
of its fixture: what was recorded of another fixture counts for nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from packaging.version import Version

from codemods.verify import account
from codemods.verify.observation import Side
from codemods.verify.proof import Outcome, inside, judge, sides

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
_PLACES = re.compile(r"(?:/[^\s:'\"/]+)*/(?:fixer-proof-[^\s:'\"/]+(?:/tmp[^\s:'\"/]+)?|site-packages)/")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")


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
class Evidence:
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


def read(path: Path) -> Evidence:
    """The record in a file; an empty one if there is none.

    Raises:
        ValueError: if the file holds something else.
    """
    if not path.is_file():
        return Evidence()
    try:
        data = json.loads(path.read_bytes())
        proofs = {
            name: Proved(**proof | {"results": {v: Result(**result) for v, result in proof["results"].items()}})
            for name, proof in data["proofs"].items()
        }
        return Evidence(data["environments"], proofs)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no record of evidence ({type(error).__name__}: {error})") from error


def dump(evidence: Evidence) -> str:
    """The record as JSON, in one order."""
    content: dict[str, Any] = asdict(evidence)
    for key in content:
        content[key] = dict(sorted(content[key].items()))
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def merge(old: Evidence, new: Evidence, present: Iterable[str]) -> Evidence:
    """The record with new results in it.

    What is dropped: proofs that are no longer `present`; results of another fixture, or of another environment. What
    was recorded of an environment that could not be had this time is kept.
    """
    had = {version: found for version, found in old.environments.items() if "trouble" not in found}
    lost = {version for version, found in new.environments.items() if "trouble" in found and version in had}
    now = {version: found for version, found in new.environments.items() if version not in lost}
    same = {version for version, found in had.items() if alike(now.get(version, found), found)}
    proofs = {}
    for name in present:
        kept = {}
        if was := old.proofs.get(name):
            proofs[name] = was
            kept = {version: found for version, found in was.results.items() if version in same}
        if fresh := new.proofs.get(name):
            kept = kept if was and was.fixture == fresh.fixture else {}
            proofs[name] = fresh
            kept = {**kept, **fresh.results}
        if name in proofs:
            proofs[name] = replace(proofs[name], results=kept)
    return Evidence({**had, **now}, proofs)


def alike(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two environments hold the same releases, whatever the build and the Python."""
    return _releases(one) == _releases(other)


def _releases(installed: Mapping[str, str]) -> dict[str, str]:
    return {name: version.partition("+")[0] for name, version in installed.items() if name != "python"}


def digest(proof: Path) -> str:
    """What tells a proof, its fixture and the modules that the rule's proofs share (`stand_in.py`) from every other."""
    shared = sorted(proof.parents[1].glob("*.py"))
    content = [*sides(proof), *(path.read_text(encoding="utf-8") for path in (proof, *shared))]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def name_of(proof: Path) -> str:
    """`<rule's name>/<case>`."""
    return f"{proof.parents[1].name}/{proof.parent.name}"


def stale(evidence: Evidence, proofs: Iterable[Path]) -> list[str]:
    """The proofs that the record does not know as they are now, and those that it alone knows."""
    now = {name_of(proof): digest(proof) for proof in proofs}
    changed = [
        name for name, made in now.items() if name not in evidence.proofs or evidence.proofs[name].fixture != made
    ]
    return sorted([*changed, *(evidence.proofs.keys() - now.keys())])


def result(before: Side, after: Side, *, offered: bool = True) -> Result:
    """What two sides that were run come to.

    Args:
        offered: whether `fixer` makes this repair for the versions that ran.
    """
    verdict = judge(before, after)
    if verdict.outcome is Outcome.COULD_NOT_RUN:
        return Result(COULD_NOT_RUN, why=_clean(verdict.detail))
    trained = _clean(account.training(after))
    if verdict.outcome is Outcome.REFUTED:
        shown = _clean(account.symptom(before) or account.training(before))
        return Result(REFUTED if offered else NOT_OFFERED, shown, trained, _clean(verdict.detail))
    if inside(before.declared.bites, before.versions):
        return Result(SHOWN, _clean(account.symptom(before)), trained)
    return Result(GONE, _clean(account.training(before)), trained)


def _clean(text: str) -> str:
    """A message without what differs from one machine to the next."""
    return _ADDRESS.sub("0x…", _PLACES.sub("", text)).strip()


def sentence(evidence: Evidence, code: str) -> str:
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
