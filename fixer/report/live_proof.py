"""A proof that was run here and now: the repair, both sides next to each other, the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from codemods.model.plan import FilePlan
from codemods.model.visible import visible
from codemods.verify import account
from codemods.verify.proof import ProofOutcome
from fixer.report.patch import patch

if TYPE_CHECKING:
    from rich.console import Console

    from codemods.verify.observation import Side
    from fixer.verify.live_proof import LiveProof

COLOURS = {"-": "red", "+": "green", "@": "cyan"}
VERDICTS = {ProofOutcome.PROVED: "green", ProofOutcome.NOT_REPRODUCED: "yellow"}
NOTHING = "–"


def show(console: Console, code: str, proof: LiveProof, evidence: str) -> None:
    """Everything, from the repair to what other versions showed."""
    console.print(Text(f"{code} {proof.name}", "bold"))
    console.print(Text(visible(proof.title)))
    console.print()
    for line in patch([FilePlan(proof.path, *proof.texts)]).decode("utf-8", "replace").splitlines():
        if line.startswith(("diff ", "---", "+++")):
            continue
        console.print(Text(visible(line), COLOURS.get(line[:1], "")), soft_wrap=True)
    console.print()
    console.print(sides(proof))
    console.print()
    outcome = proof.verdict.outcome
    verdict = Text(outcome.value, f"bold {VERDICTS.get(outcome, 'red')}")
    proved = outcome is ProofOutcome.PROVED
    detail = "the symptom shows before, not after, and after trains" if proved else visible(proof.verdict.detail)
    console.print(verdict.append(f": {detail}", "default not bold"))
    versions = ", ".join(f"{package} {version}" for package, version in proof.before.versions.items())
    console.print(Text(f"Ran under {versions}.", "dim"))
    if evidence:
        console.print(Text(evidence, "dim"))


def sides(proof: LiveProof) -> Table:
    """What each side did, in two columns."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", style="bold", no_wrap=True)
    table.add_column("before", overflow="fold", ratio=1)
    table.add_column("after", overflow="fold", ratio=1)
    columns = [dict(_facts(side, bites=proof.bites)) for side in (proof.before, proof.after)]
    for name in dict.fromkeys(name for column in columns for name in column):
        cells = [column.get(name, NOTHING) for column in columns]
        if set(cells) != {NOTHING}:
            table.add_row(name, *(Text(visible(cell)) for cell in cells))
    return table


def _facts(side: Side, *, bites: bool) -> Iterator[tuple[str, str]]:
    seen = side.seen
    symptom = account.symptom(side) if bites else ""
    yield "symptom", symptom or NOTHING
    yield "raises", side.error if side.error and side.error != symptom else NOTHING
    yield "losses", _row([f"{loss:.6g}" for loss in seen.losses])
    got = len(seen.gradients) - len(seen.blocked())
    yield "gradients", f"reach {got} of {len(seen.gradients)} parameters" if seen.gradients else NOTHING
    moved = len(seen.moved) - len(seen.still())
    yield "training moves", f"{moved} of {len(seen.moved)} parameters" if seen.moved else NOTHING
    yield "measured", ", ".join(f"{name} {value:.6g}" for name, value in seen.numbers.items()) or NOTHING
    if side.reference is not None:
        yield "reference", "differs" if account.strays(side) else "equal"
    yield "repair runs", f"{seen.witness} times" if not bites else NOTHING


def _row(values: list[str], most: int = 6) -> str:
    shown = values if len(values) <= most else [*values[: most - 1], "…", values[-1]]
    return " → ".join(shown) or NOTHING
