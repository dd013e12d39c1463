"""Generated programs around the fixtures of the rules: nothing may crash, break or be lost.

    pip install hypothesmith
    python tests/sweep_generated.py [PROGRAMS] [SEED]

Hypothesmith generates programs from the grammar of Python; one of them is put before, behind, or around (as the block
of an `if`) the program of a fixture, so that its rule, and rules beside it, have something to say in a place that
nobody has thought of. All rules run, unsafe fixes are taken. No rule may fail; what is written must compile, keep its
comments, have no new undefined name, and a second run must have nothing left that the first one would have fixed.
Prints each program that goes wrong and what is wrong with it, then the sums; exits with 1 if anything is wrong.
"""

from __future__ import annotations

import sys
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence

import conftest  # noqa: F401  its settings for properties hold here, too
from cases import Case, cases
from hypothesis import given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from memory import Memory
from sweep_corpus import broken

from codemods.engine.rounds import Options, plan
from codemods.model.edits import SkipReason
from codemods.model.plan import Plan
from codemods.transforms import load

PROGRAMS = 2000
NAME = "program.py"
OPTIONS = Options(rules=tuple(load()), unsafe=True)


def before(fixture: str, generated: str) -> str:
    """The generated program first."""
    return f"{generated}\n\n{fixture}"


def behind(fixture: str, generated: str) -> str:
    """The generated program last."""
    return f"{fixture}\n\n{generated}"


def around(fixture: str, generated: str) -> str:
    """The fixture as the block of an `if`, the generated program as that of its `else`."""
    return f"if flag:\n{textwrap.indent(fixture, '    ')}\nelse:\n{textwrap.indent(generated, '    ')}\n    pass\n"


def compiles(program: str) -> bool:
    """Whether a program is one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(program, NAME, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def wrong(program: str, counts: Counter[str]) -> Iterator[str]:
    """What goes wrong with a program."""
    files = {NAME: program.encode()}
    found = planned(files)
    counts["findings"] += len(found.findings)
    yield from failures(found)
    if (skipped := {skip.reason for skip in found.skips} - {SkipReason.NO_ROUND_TRIP, SkipReason.RULE_FAILED}) != set():
        counts[f"skipped: {', '.join(sorted(map(str, skipped)))}"] += 1
    after = {file.path: file.after for file in found.changed}
    if not after:
        return
    counts["changed"] += 1
    yield from broken(NAME, files[NAME], after[NAME])
    again = planned(after)
    yield from failures(again)
    fixed = {finding.code for finding in found.findings if finding.applied}
    if left := [finding.message for finding in again.findings if finding.applied and finding.code in fixed]:
        yield f"a second run fixes: {left[:3]}"


def planned(files: dict[str, bytes]) -> Plan:
    return plan([NAME], Memory(files), OPTIONS, fix=True)


def failures(found: Plan) -> Iterator[str]:
    yield from (f"{skip.reason}: {skip.detail}" for skip in found.skips if skip.reason is SkipReason.RULE_FAILED)


def sweep(programs: int, seed: int, fixtures: Sequence[Case]) -> tuple[list[tuple[str, str]], Counter[str]]:
    """Each program that goes wrong with what is wrong, and the sums."""
    import hypothesmith

    bad: list[tuple[str, str]] = []
    counts: Counter[str] = Counter()
    texts = st.sampled_from([case.files["case.py"].decode() for case in fixtures])
    generated = st.one_of(hypothesmith.from_node(), hypothesmith.from_grammar())

    @seeded(seed)
    @settings(max_examples=programs, database=None)
    @given(texts, generated, st.sampled_from([before, behind, around]))
    def look(fixture: str, beside: str, how: object) -> None:
        program = how(fixture, beside)  # type: ignore[operator]
        if not compiles(program):
            counts["no programs"] += 1
            return
        counts["programs"] += 1
        bad.extend((program, what) for what in wrong(program, counts))

    look()
    return bad, counts


def plain(case: Case) -> bool:
    """Whether a fixture is one program of text that asks for no options."""
    data = case.files.get("case.py", b"")
    return case.python and not case.options and data.isascii() and b"__future__" not in data and compiles(data.decode())


def main(arguments: Sequence[str]) -> int:
    """Sweep, print, and say whether nothing went wrong."""
    programs, seed = (*map(int, arguments), *(PROGRAMS, 1)[len(arguments) :])
    bad, counts = sweep(programs, seed, [case for case in cases() if case.kind == "before" and plain(case)])
    for program, what in bad:
        print(f"{what}\n{textwrap.indent(program, '    | ')}")
    print(", ".join(f"{count:,} {name}" for name, count in sorted(counts.items())) + f"; {len(bad):,} wrong")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
