"""The proofs under several versions of torch, and the pages that show what came out.

    python -m codemods.verify.matrix --torch 2.4.1 2.8.0 2.10.0 2.13.0

makes an environment for each version (see `environments`; the CPU builds need about 1.5 GB each on disk), runs every
proof in each, and writes `docs/evidence.json` and the page `docs/evidence.md` made from it. What was recorded of the
same fixture in the same environment is taken from the record; `--again` runs it anyway. Exit code: 0 every proof held,
1 some did not, 2 an environment could not be had or the call was wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from codemods.transforms import load
from codemods.verify.bench import Bench
from codemods.verify.evidence import COULD_NOT_RUN, OUTCOMES, REFUTED, ProofRecord, Proved, Result, name_of, read
from codemods.verify.matrix import environments, pages
from codemods.verify.matrix.environments import Environment, Unavailable
from codemods.verify.matrix.offer import is_offered
from codemods.verify.matrix.record import alike, digest, merge, result
from codemods.verify.places import DOCS, FIXTURES
from codemods.verify.proof import ProofOutcome, asked, judge, run

Tell = Callable[[str], None]
TIME_LIMIT = 300.0
"""Seconds for one side: a machine may have other things to do."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the matrix and write its pages."""
    parser = argparse.ArgumentParser(
        prog="python -m codemods.verify.matrix",
        description="Run every proof under several versions of torch, each in an environment of its own.",
    )
    parser.add_argument("--torch", nargs="+", metavar="VERSION", help="default: those of the record")
    parser.add_argument("--only", nargs="+", default=[""], metavar="RULE", help="names or codes, or how they begin")
    parser.add_argument("--again", action="store_true", help="also run what the record already knows")
    parser.add_argument("--environments", type=Path, default=environments.cache_directory(), metavar="DIRECTORY")
    parser.add_argument("--docs", type=Path, default=DOCS, metavar="DIRECTORY")
    options = parser.parse_args(argv)
    record = options.docs / "evidence.json"
    try:
        old = read(record)
    except ValueError as error:
        parser.error(str(error))
    versions = tuple(dict.fromkeys(options.torch or old.versions))
    if not versions:
        parser.error("the record is empty: say under which versions, such as --torch 2.4.1 2.13.0")
    chosen = tuple(_chosen(options.only))
    if not chosen:
        parser.error(f"--only {' '.join(options.only)}: no such proof in {FIXTURES}")
    ready = prepare(versions, options.environments, _say)
    new = run_all(ready, chosen, ProofRecord() if options.again else old, _say)
    evidence = merge(old, new, [name_of(proof) for proof in sorted(FIXTURES.glob("*/*/proof.py"))])
    pages.write(evidence, options.docs)
    print(*table(new), sep="\n")
    if any(isinstance(each, str) for each in ready.values()):
        return 2
    outcomes = {each.outcome for proof in new.proofs.values() for each in proof.results.values()}
    return 1 if outcomes & {REFUTED, COULD_NOT_RUN} else 0


def prepare(versions: Sequence[str], cache: Path, tell: Tell) -> dict[str, Environment | str]:
    """The environment of each version, or why there is none. Downloads begin when all sizes have been told."""
    found: dict[str, Environment | str] = {}
    coming: list[Environment] = []
    for version in versions:
        try:
            env = found[version] = environments.environment(version, cache)
            if env.ready:
                tell(f"torch {version}: ready in {env.place}")
                continue
            with _cleared(env):
                tell(f"torch {version}: {environments.begin(env)} to download into {env.place}")
            coming.append(env)
        except Unavailable as error:
            tell(f"torch {version}: {error}")
            found[version] = str(error)
    for env in coming:
        try:
            with _cleared(env):
                environments.install(env)
            tell(f"torch {env.torch}: installed")
        except Unavailable as error:
            tell(f"torch {env.torch}: {error}")
            found[env.torch] = str(error)
    return found


@contextmanager
def _cleared(env: Environment) -> Iterator[None]:
    """Leave no half of an environment behind, whatever ends the work on it."""
    try:
        yield
    except BaseException:
        environments.discard(env)
        raise


def run_all(
    ready: Mapping[str, Environment | str], proofs: Sequence[Path], known: ProofRecord, tell: Tell
) -> ProofRecord:
    """Run the proofs in each environment; what is known of the same fixture in the same environment is taken over."""
    installed: dict[str, Mapping[str, str]] = {}
    results: dict[str, dict[str, Result]] = {name_of(proof): {} for proof in proofs}
    fixtures = {name_of(proof): digest(proof) for proof in proofs}
    for version, env in ready.items():
        if isinstance(env, str):
            installed[version] = {"trouble": env}
            continue
        installed[version] = environments.installed(env)
        same = alike(known.environments.get(version, {}), installed[version])
        with Bench(str(env.python), TIME_LIMIT) as bench:
            for proof in proofs:
                name = name_of(proof)
                was = known.proofs.get(name)
                if same and was and was.fixture == fixtures[name] and _answered(was, version):
                    results[name][version] = was.results[version]
                    continue
                found = results[name][version] = run_one(proof, bench)
                tell(f"torch {version}  {name}: {found.outcome}{found.why and f': {found.why}'}")
    codes = {rule.name: rule.code for rule in load()}
    return ProofRecord(
        installed,
        {
            name: Proved(codes[proof.parents[1].name], asked(proof).get("strategy", ""), fixtures[name], results[name])
            for proof in proofs
            for name in [name_of(proof)]
        },
    )


def _answered(proof: Proved, version: str) -> bool:
    return version in proof.results and proof.results[version].outcome != COULD_NOT_RUN


def run_one(proof: Path, bench: Bench) -> Result:
    """Run both sides of one proof and say what came out."""
    before, after = run(proof, bench)
    refuted = judge(before, after).outcome is ProofOutcome.REFUTED
    return result(before, after, offered=not refuted or is_offered(proof, before.versions))


def table(evidence: ProofRecord) -> Iterator[str]:
    """What a run came to: a line for each version, and one for each proof that did not hold."""
    for version, installed in evidence.environments.items():
        if "trouble" in installed:
            yield f"torch {version:8} no environment: {installed['trouble']}"
            continue
        outcomes = Counter(proof.results[version].outcome for proof in evidence.proofs.values())
        counts = "  ".join(f"{outcome} {outcomes[outcome]}" for outcome in OUTCOMES if outcomes[outcome])
        yield f"torch {version:8} {counts}"
    for name, proof in evidence.proofs.items():
        for version, found in proof.results.items():
            if found.why:
                yield f"{found.outcome}: {name} under torch {version}: {found.why}"


def _chosen(only: Sequence[str]) -> Iterator[Path]:
    """The proofs of the rules whose name or code begins so."""
    codes = {rule.name: rule.code for rule in load()}
    for proof in sorted(FIXTURES.glob("*/*/proof.py")):
        name = proof.parents[1].name
        if name in codes and (name.startswith(tuple(only)) or codes[name].startswith(tuple(only))):
            yield proof


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
