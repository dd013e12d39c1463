"""The record as the matrix writes it: results from sides that were run, merged into what was known."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from codemods.verify import account
from codemods.verify.evidence import COULD_NOT_RUN, GONE, NOT_OFFERED, REFUTED, SHOWN, ProofRecord, Result, name_of
from codemods.verify.observation import Side
from codemods.verify.proof import ProofOutcome, inside, judge, sides

_PLACES = re.compile(r"(?:/[^\s:'\"/]+)*/(?:fixer-proof-[^\s:'\"/]+(?:/tmp[^\s:'\"/]+)?|site-packages)/")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")


def dump(evidence: ProofRecord) -> str:
    """The record as JSON, in one order."""
    content: dict[str, Any] = asdict(evidence)
    for key in content:
        content[key] = dict(sorted(content[key].items()))
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def merge(old: ProofRecord, new: ProofRecord, present: Iterable[str]) -> ProofRecord:
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
    return ProofRecord({**had, **now}, proofs)


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


def stale(evidence: ProofRecord, proofs: Iterable[Path]) -> list[str]:
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
    if verdict.outcome is ProofOutcome.COULD_NOT_RUN:
        return Result(COULD_NOT_RUN, why=_clean(verdict.detail))
    trained = _clean(account.training(after))
    if verdict.outcome is ProofOutcome.REFUTED:
        shown = _clean(account.symptom(before) or account.training(before))
        return Result(REFUTED if offered else NOT_OFFERED, shown, trained, _clean(verdict.detail))
    if inside(before.declared.bites, before.versions):
        return Result(SHOWN, _clean(account.symptom(before)), trained)
    return Result(GONE, _clean(account.training(before)), trained)


def _clean(text: str) -> str:
    """A message without what differs from one machine to the next."""
    return _ADDRESS.sub("0x…", _PLACES.sub("", text)).strip()
