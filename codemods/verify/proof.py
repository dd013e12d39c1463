'''Proofs: *before* fails as documented, *after* works, under real torch.

A proof is a file `tests/before_after/<rule>/<case>/proof.py` beside `before.py` and `after.py`. It never runs here: a
child process loads it, loads one side of the fixture as a module, and calls `run(case)` with that module. What the side
imports must be installed.

A side may also be one file of another kind (`before.yaml`, which the child process finds as `<case>.yaml`) or a project
(`before/`, `after/`). Then `case` is the directory that holds it, from which modules can be imported, and `run` does
with it what the framework does with such files; what cannot run here is said at the top of the proof. What proofs of a
rule share is a module in the rule's folder.

    """Clipping scaled gradients: the documented loop, two layers, ten steps."""

    from codemods.verify.observe import Observation, batches, cpu_scaler, watch

    SYMPTOM = "differs"

    def run(case):
        model = case.build()
        with watch(model) as seen:
            seen.losses = case.train(model, batches(), cpu_scaler())
        return seen

    def reference(case):
        model = case.build()
        with watch(model) as seen:
            seen.losses = …  # the same training, written without the bug and without a scaler
        return seen

**Declarations** (constants of the proof file):

`SYMPTOM`, required: what *before* shows and *after* does not. Either the text of the exception or warning (a part of
it that a user would search for; exceptions, warnings and printed or logged output are searched), or a silent symptom:
- `"missing-gradient"`: a watched parameter that no gradient reached,
- `"frozen"`: a watched parameter that training did not move,
- `"differs"`: losses, movements, weights or numbers differ from what `reference` gives.
`TOLERANCE`: relative, for comparison with `reference`, and of both sides where the bug does not bite; 0 by default,
which means bit for bit.
`BITES` and `WITNESS`, for a bug that newer versions no longer have: `BITES = {"torch": "<2.11"}` (all must hold, as in
a rule). Inside that range the symptom is demanded as usual. Outside it both sides must give equal losses, weights and
numbers, equal to those of `reference` where there is one; and so that the proof still tells the sides apart, the
repair must be seen to run: `WITNESS = "torch.clear_autocast_cache"` counts the calls of that function made by the
fixture's own lines, which must be none *before* and some *after*. Where a call count does not tell, leave `WITNESS`
out and set `seen.witness` in `run`.

**`run(case)`** returns an `Observation`: `losses`, `gradients`, `moved`, `weights`, `numbers`; `watch` fills all but
`losses` and `numbers` (`seen.numbers["norm"] = …`). Let exceptions pass. An exception while the side is *imported*
counts too. `watch` a model before it trains; `observe(model)` looks after the fact; `fit(module, batches())` trains a
LightningModule, with `precision="16-mixed"` as real float16 with a scaler.

**`reference(case)`**, optional: the same training done right, as an `Observation`; only the fields that it fills are
compared. Never the fixture's own repaired code, or it proves nothing.

Whatever the symptom, *after* must run without exception, observe something, keep every number finite, and bring a
finite gradient to every watched parameter (`watch(model, ignore=("pooler",))` names those that rightly have none).

Seeds are fixed and torch has one thread. The machine's GPU and the network are out of reach. Fixtures stay realistic:
a module with functions and classes a user would write, whose training loop takes what the proof must choose (model,
batches, scaler, device). `fixer`'s own tests run every proof three ways: before/after must be proved, after/after and
before/before must be refuted.

    python -m codemods.verify.proof tests/before_after/<rule>/<case>/proof.py [more …] [--python OTHER/bin/python]
'''

from __future__ import annotations

import argparse
import enum
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from packaging.specifiers import SpecifierSet

from codemods.verify import account
from codemods.verify.account import SILENT, some, strays
from codemods.verify.bench import Bench, Source
from codemods.verify.observation import Side

_OPTIONS = re.compile(r"\ufeff?# fixer: (?!ignore)(.*)")


class ProofOutcome(enum.Enum):
    PROVED = "proved"
    REFUTED = "refuted"
    NOT_REPRODUCED = "not-reproduced"
    COULD_NOT_RUN = "could-not-run"


@dataclass(frozen=True, slots=True)
class ProofVerdict:
    """What a proof says of one pair of sides, and why, in a sentence."""

    outcome: ProofOutcome
    detail: str

    def __str__(self) -> str:
        return f"{self.outcome.value}: {self.detail}"


def prove(
    before: Source, after: Source, proof: Path, *, python: str | None = None, time_limit: float = 60.0
) -> ProofVerdict:
    """Run both sides through a proof file and judge them.

    Args:
        python: the interpreter whose torch is used; by default the one that runs us.
        time_limit: seconds that each side may take.
    """
    with Bench(python, time_limit) as bench:
        return judge(bench.run(before, proof), bench.run(after, proof))


def sides(proof: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The *before* and *after* that a proof file belongs to, as texts by path.

    Raises:
        FileNotFoundError: there is no such pair.
    """
    case = proof.parent
    found = [path for path in case.iterdir() if path.stem == "before"]
    if len(found) != 1:
        raise FileNotFoundError(f"{proof}: there must be one *before* beside it, not {len(found)}")
    if found[0].is_dir():
        before = _texts(found[0])
        return before, before | _texts(case / "after")
    name = case.name + found[0].suffix
    return {name: _text(found[0])}, {name: _text(found[0].with_stem("after"))}


def asked(proof: Path) -> dict[str, str]:
    """The options of the fixture that a proof belongs to: those in its first line, or a project's file `options`."""
    texts = list(sides(proof)[0].values())
    options = proof.with_name("options")
    head = options.read_text(encoding="utf-8") if options.is_file() else texts[0]
    match = _OPTIONS.match(head)
    pairs = (word.partition("=") for word in match[1].split()) if match else ()
    return {key: value for key, _, value in pairs}


def run(proof: Path, bench: Bench) -> tuple[Side, Side]:
    """Run both sides that a proof file belongs to."""
    before, after = sides(proof)
    return bench.run(before, proof), bench.run(after, proof)


def _texts(folder: Path) -> dict[str, str]:
    """The files of a folder; what an installer compiled in it is none of them."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.parent.name != "__pycache__")
    return {path.relative_to(folder).as_posix(): _text(path) for path in files}


def _text(path: Path) -> str:
    return path.read_bytes().decode()


def judge(before: Side, after: Side) -> ProofVerdict:
    """The verdict on two sides that were run; each pair of sides of one proof can be judged."""
    if trouble := next(_troubles(before, after), None):
        return ProofVerdict(ProofOutcome.COULD_NOT_RUN, trouble)
    bites = inside(before.declared.bites, before.versions)
    if refutation := next(chain(_faults(after), (_symptoms if bites else _inequalities)(before, after)), None):
        return ProofVerdict(ProofOutcome.REFUTED, refutation)
    return ProofVerdict(ProofOutcome.PROVED, _evidence(before, after, bites))


def judge_here(before: Side, after: Side) -> ProofVerdict:
    """The verdict for a person who runs a proof under versions of their own.

    Unlike `judge` it speaks of *proved* only where the symptom was seen. Where nothing was wrong on either side the bug
    is *not reproduced*; where *before* ends by an error that is not its symptom, something else is broken.
    """
    verdict = judge(before, after)
    if verdict.outcome is ProofOutcome.COULD_NOT_RUN:
        return verdict
    shown = account.symptom(before)
    if before.error and not shown:
        return ProofVerdict(ProofOutcome.COULD_NOT_RUN, f"before crashes, which is not the symptom: {before.error}")
    bites = inside(before.declared.bites, before.versions)
    if verdict.outcome is ProofOutcome.PROVED and not bites:
        told = f"only {_range(before)} has the bug, and both sides run alike here: {account.training(after)}"
        return ProofVerdict(ProofOutcome.NOT_REPRODUCED, told)
    if bites and not shown and not account.symptom(after) and not any(_faults(after)):
        return ProofVerdict(ProofOutcome.NOT_REPRODUCED, f"{verdict.detail}; after: {account.training(after)}")
    return verdict


def _troubles(before: Side, after: Side) -> Iterator[str]:
    for name, side in (("before", before), ("after", after)):
        if side.trouble:
            yield f"{name}: {side.trouble}"
        elif name == "after" and side.error.startswith("ModuleNotFoundError: "):
            yield f"{side.error.removeprefix('ModuleNotFoundError: ')}, which the fixture needs"
        elif not side.declared.symptom:
            yield "the proof declares no SYMPTOM"
        elif side.declared.symptom == "differs" and side.reference is None and not side.error:
            yield 'SYMPTOM = "differs" needs a reference()'


def _faults(after: Side) -> Iterator[str]:
    """What keeps *after* from being good training, whatever the symptom; the gravest first."""
    if after.error:
        yield f"after raises {after.error}"
    if after.seen.empty:
        yield "after: the proof observed neither losses, gradients nor numbers"
    if blocked := after.seen.blocked():
        yield f"after: no gradient reaches {some(blocked)}"
    if wild := tuple(after.seen.non_finite()):
        yield f"after: {some(wild)}"
    if after.declared.symptom == "frozen" and (still := after.seen.still()):
        yield f"after: training does not move {some(still)}"
    if after.reference is not None:
        if wrong := tuple(after.seen.differences(after.reference, after.declared.tolerance)):
            yield f"after differs from the reference: {some(wrong)}"


def _symptoms(before: Side, after: Side) -> Iterator[str]:
    """Why the symptom is not one of *before* alone."""
    symptom = before.declared.symptom
    if symptom not in SILENT:
        if not _says(before, symptom):
            yield f"before does not say {symptom!r}" + (f" but raises {before.error}" if before.error else "")
        if _says(after, symptom):
            yield f"after still says {symptom!r}"
    elif before.error:
        yield f"before should be silent but raises {before.error}"
    elif symptom == "missing-gradient" and not before.seen.blocked():
        yield "before: a gradient reaches every watched parameter"
    elif symptom == "frozen" and not before.seen.still():
        yield "before: training moves every watched parameter"
    elif symptom == "differs" and not strays(before):
        yield "before equals the reference"


def _inequalities(before: Side, after: Side) -> Iterator[str]:
    """Where the bug does not bite: why the sides are not equal with only the repair between them."""
    if before.error:
        yield f"before raises {before.error} although {_range(before)} is not installed"
    seen, tolerance = (before.seen, after.seen), before.declared.tolerance
    if wrong := tuple(chain(seen[0].differences(seen[1], tolerance), seen[1].differences(seen[0], tolerance))):
        yield f"before differs from after: {some(wrong)}"
    if before.seen.witness:
        yield f"before already runs the repair ({before.seen.witness} times)"
    if not after.seen.witness:
        yield "after does not run the repair: the witness counts 0"


def _evidence(before: Side, after: Side, bites: bool) -> str:
    if bites:
        shown = f"before: {account.symptom(before)}"
    else:
        within = f" within {before.declared.tolerance:g}" if before.declared.tolerance else ""
        shown = f"both sides equal{within}, the repair runs {after.seen.witness} times; bites only {_range(before)}"
    return f"{shown}; after: {account.training(after)}"


def _says(side: Side, text: str) -> bool:
    return text in side.error or text in side.output or any(text in warning for warning in side.warnings)


def inside(bites: Mapping[str, str], versions: Mapping[str, str]) -> bool:
    """Whether the bug exists in these versions: all ranges must hold; a package that is missing cannot be outside."""
    return all(
        SpecifierSet(spec).contains(versions[package], prereleases=True)
        for package, spec in bites.items()
        if package in versions
    )


def _range(side: Side) -> str:
    return " and ".join(package + spec for package, spec in side.declared.bites.items())


def main(argv: list[str] | None = None) -> int:
    """Run proof files and print their verdicts, for the author of a rule."""
    parser = argparse.ArgumentParser(prog="python -m codemods.verify.proof", description="Run proofs.")
    parser.add_argument("proofs", nargs="+", type=Path)
    parser.add_argument("--python", help="interpreter to run under")
    options = parser.parse_args(argv)
    failed = 0
    with Bench(options.python) as bench:
        for proof in options.proofs:
            before, after = run(proof, bench)
            right = judge(before, after)
            twins = judge(after, after), judge(before, before)
            passed = right.outcome is ProofOutcome.PROVED and all(
                twin.outcome is ProofOutcome.REFUTED for twin in twins
            )
            failed += not passed
            print(f"{'PASS' if passed else 'FAIL'} {proof}\n  before/after   {right}")
            print(f"  after/after    {twins[0]}\n  before/before  {twins[1]}")
            if not passed:
                print(*(f"--- {n}\n{s.output}{s.trace}" for n, s in (("before", before), ("after", after))), sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":  # pragma: no cover
    sys.exit(main())
