"""One proof of a rule, run here and now: the fixture's *before* and *after*, in child processes."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.verify.bench import Bench
from codemods.verify.evidence import name_of
from codemods.verify.places import EXAMPLE
from codemods.verify.proof import ProofOutcome, ProofVerdict, inside, judge_here, run, sides
from fixer.errors import Refusal

if TYPE_CHECKING:
    from codemods.rules.rule import Rule
    from codemods.verify.observation import Side


@dataclass(frozen=True, slots=True)
class LiveProof:
    """What came out."""

    name: str
    """`<rule's name>/<case>`."""
    title: str
    """What the proof says of itself."""
    path: str
    texts: tuple[bytes, bytes]
    """The first file that the repair changes, before and after."""
    before: Side
    after: Side
    verdict: ProofVerdict

    @property
    def bites(self) -> bool:
        """Whether the bug exists in the versions that ran."""
        return inside(self.before.declared.bites, self.before.versions)


def proof_of(rule: Rule, fixtures: Path) -> Path:
    """The proof of a rule's example.

    Raises:
        Refusal: if there is none.
    """
    proof = fixtures / rule.name / EXAMPLE / "proof.py"
    if not proof.is_file():
        why = "" if fixtures.is_dir() else f"; it belongs in {fixtures}"
        raise Refusal(f"{rule.code} has no proof to run{why}")
    return proof


def prove_live(proof: Path, python: str) -> LiveProof:
    """Run a proof under an interpreter.

    Raises:
        Refusal: if it could not run; the text says what is missing.
    """
    with Bench(python) as bench:
        before, after = run(proof, bench)
    verdict = judge_here(before, after)
    if verdict.outcome is ProofOutcome.COULD_NOT_RUN:
        other = "; or name an interpreter that has it: --python FILE" if "No module named" in verdict.detail else ""
        raise Refusal(f"the proof {name_of(proof)} could not run: {verdict.detail}{other}")
    old, new = sides(proof)
    path = next((path for path in new if old.get(path) != new[path]), next(iter(new)))
    return LiveProof(
        name=name_of(proof),
        title=(ast.get_docstring(ast.parse(proof.read_bytes())) or "").partition("\n\n")[0],
        path=path,
        texts=(old.get(path, "").encode(), new[path].encode()),
        before=before,
        after=after,
        verdict=verdict,
    )
