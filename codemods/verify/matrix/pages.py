"""The evidence as people read it: the page `docs/evidence.md`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from packaging.version import Version

from codemods.transforms import load
from codemods.verify.evidence import GONE, OUTCOMES, SHOWN, ProofRecord, Proved, Result
from codemods.verify.matrix.record import dump

COMMAND = "python -m codemods.verify.matrix"
LONGEST = 400
"""Characters of a message on the page; the record has all."""
SAMPLES: Mapping[str, tuple[str, ...]] = {
    "three-optimizer GAN, 16-mixed": ("raw-backward/example",),
    "T5 and an optimizer of one's own": ("bare-closure-in-no-grad-step/t5",),
    "Qwen2 with LoRA and checkpointing": ("hf-training-arguments/example",),
    "TransformerEncoder with padding": (
        "encoder-fastpath-in-autocast/no_nested",
        "encoder-fastpath-in-autocast/example",
    ),
}
"""The four programs that the page shows first, each with the proofs that run it: the first that holds is shown."""
_MEANING = {
    SHOWN: "before shows the symptom; after does not, and trains",
    GONE: "these versions no longer have the bug: both sides train alike",
    "not-offered": "this repair does not hold for these versions, and `fixer` does not offer it there",
    "refuted": "the proof does not hold",
    "could-not-run": "no answer",
}


def write(evidence: ProofRecord, docs: Path) -> None:
    """Write the record, and the page made from it."""
    docs.mkdir(parents=True, exist_ok=True)
    (docs / "evidence.json").write_text(dump(evidence), encoding="utf-8")
    (docs / "evidence.md").write_text(page(evidence), encoding="utf-8")


def page(evidence: ProofRecord) -> str:
    """The whole page."""
    return "\n".join(_page(evidence)) + "\n"


def _page(evidence: ProofRecord) -> Iterator[str]:
    yield f"<!-- Written by `{COMMAND}`; do not edit. -->"
    yield "# Evidence\n"
    yield "Each repair was run: *before* and *after* of a fixture, under the versions below. A case is a file"
    yield "`tests/before_after/<rule>/<case>/proof.py`; `codemods/verify/proof.py` says what it demands of both"
    yield "sides. Models are tiny and random, nothing is downloaded, and nothing ran on a GPU.\n"
    yield from _table(("result", "meaning"), ([outcome, _MEANING[outcome]] for outcome in OUTCOMES))
    yield "\n## Four programs\n"
    yield "Programs from the diagnoses that `fixer` grew from, under several versions of torch with the Lightning,"
    yield "transformers, Accelerate and PEFT of their time.\n"
    yield from _table(("sample", "torch", "before", "after"), _samples(evidence))
    yield "\n## Environments\n"
    had = {version: found for version, found in evidence.environments.items() if "trouble" not in found}
    packages = sorted({p for found in had.values() for p in found}, key=lambda p: (p != "torch", p))
    rows = ([had[version].get(p, "–") for p in packages] for version in sorted(had, key=Version))
    yield from _table(packages, rows)
    for version in sorted(evidence.environments.keys() - had.keys()):
        yield f"\ntorch {version} could not be installed: {_cell(evidence.environments[version]['trouble'])}"
    yield "\n## Rules\n"
    rules = [rule for rule in load() if evidence.of(rule.code)]
    counts = ([f"[{r.code}](#{r.code.lower()}-{r.name})", r.name, *_counts(evidence, r.code)] for r in rules)
    yield from _table(("code", "name", "cases", *(f"torch {v}" for v in evidence.versions)), counts)
    for rule in rules:
        yield f"\n## {rule.code} {rule.name}\n"
        yield f"{rule.summary[0].upper()}{rule.summary[1:]}.\n"
        rows = (row for name, proof in sorted(evidence.of(rule.code).items()) for row in _rows(name, proof, evidence))
        yield from _table(("case", "torch", "result", "before", "after"), rows)


def _counts(evidence: ProofRecord, code: str) -> Iterator[str]:
    proofs = evidence.of(code).values()
    yield str(len(proofs))
    for version in evidence.versions:
        outcomes = [proof.results[version].outcome for proof in proofs if version in proof.results]
        yield ", ".join(f"{kind} {outcomes.count(kind)}" for kind in OUTCOMES if kind in outcomes) or "–"


def _rows(name: str, proof: Proved, evidence: ProofRecord) -> Iterator[list[str]]:
    case = name.partition("/")[2] + (f" (`{proof.strategy}`)" if proof.strategy else "")
    for versions, found in _together(proof, evidence):
        after = f"{found.after}: {found.why}" if found.after and found.why else found.after or found.why
        yield [case, versions, found.outcome, found.before, after]


def _together(proof: Proved, evidence: ProofRecord) -> Iterator[tuple[str, Result]]:
    """The results of a proof, versions with the same one together."""
    groups: dict[Result, list[str]] = {}
    for version in evidence.versions:
        if version in proof.results:
            groups.setdefault(proof.results[version], []).append(version)
    for found, versions in groups.items():
        yield ", ".join(versions), found


def _samples(evidence: ProofRecord) -> Iterator[list[str]]:
    """The rows of the four samples."""
    for title, cases in SAMPLES.items():
        groups: dict[Result, list[str]] = {}
        for version in evidence.versions:
            tried = [evidence.proofs[case].results.get(version) for case in cases if case in evidence.proofs]
            if shown := next((each for each in tried if each and each.outcome in (SHOWN, GONE)), None):
                groups.setdefault(shown, []).append(version)
        for found, versions in groups.items():
            before = found.before if found.outcome == SHOWN else f"no bug in these versions: {found.before}"
            yield [title, ", ".join(versions), before, found.after]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in (columns, ["---"] * len(columns), *rows):
        yield f"| {' | '.join(_cell(cell) for cell in row)} |"


def _cell(text: str) -> str:
    """Text as it may stand in a cell."""
    line = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
