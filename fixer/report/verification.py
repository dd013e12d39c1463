"""A verification for people and programs: terminal, JSON, and the section of a pull request."""

from __future__ import annotations

import dataclasses
import math
import os
import platform
import shlex
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from codemods import __version__
from codemods.model.edits import Safety
from codemods.model.effect import Effect
from codemods.verify.trace import Trace, called
from fixer.report.tally import plural

if TYPE_CHECKING:
    from rich.console import Console

    from codemods.verify.symptoms import Run
    from fixer.verify.verification import Verification

COLOURS = {
    "proved": "green",
    "warning-gone": "cyan",
    "not-reproduced": "cyan",
    "numbers-differ": "yellow",
    "refuted": "red",
    "healthy": "green",
    "unhealthy": "red",
    "could-not-run": "yellow",
}
MEANING = {
    "proved": "the symptom was there and is gone",
    "warning-gone": "the program was right before, and prints a warning less",
    "not-reproduced": "the bug did not show in this run",
    "numbers-differ": "the bug did not show in this run, and the numbers are others",
    "refuted": "it is worse with the fixes, or they change more than they may",
    "healthy": "nothing is wrong with the training run, and nothing was fixed",
    "unhealthy": "something is wrong with the training run, and nothing was fixed",
    "could-not-run": "nothing can be said",
}
EFFECTS = {
    Effect.EQUAL: "nothing",
    Effect.NEW_GRADIENTS: "parameters without a gradient may get one; the first loss and the other gradients stay",
    Effect.FACTOR: "all gradients of the first step by one factor, which is a loss scale or a number of batches",
    Effect.GRADIENTS: "gradients; the first loss stays",
    Effect.NUMBERS: "numbers: another precision",
}
FIXES = 5
"""That are named; the rest is counted."""
OPTIMIZERS = 4
"""With losses in rows of their own; of more, all losses stand in one."""
STEPS = 6
"""Of the first process, in the table of a pull request."""
OUTPUT = 15
"""Lines of the output that are shown where a run failed."""


def show(console: Console, verification: Verification, *, verbose: bool = False) -> None:
    """The verdict, the table of the runs, the fixes, and what was gone, new, the same or wrong: each fact once."""
    from rich.table import Table
    from rich.text import Text

    word = verification.verdict
    summary = verification.judged.short or verification.summary
    console.print(Text.assemble((word, f"bold {COLOURS[word]}"), f": {summary}"))
    below = [
        (mark, colour, sentence)
        for mark, colour, sentences in (("fix", "cyan", list(fixes(verification))), *evidence(verification))
        for sentence in sentences
        if sentence not in summary
    ]
    cells = list(rows(verification))
    if cells:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in columns(verification):
            table.add_column(name, overflow="fold")
        for row in cells:
            table.add_row(*map(Text, row))
        console.print()
        console.print(table)
    told = Table.grid(padding=(0, 2, 0, 0))
    for mark, colour, sentence in below:
        told.add_row(Text(mark, colour), Text(sentence))
    if told.row_count:
        console.print()
        console.print(told)
    failed = [run for run in (verification.before, verification.after) if run and not run.well and run.output.strip()]
    if failed and (verbose or word == "could-not-run"):
        lines = failed[-1].output.rstrip().splitlines()
        console.print(f"\nWhat it printed{' at its end' if len(lines) > OUTPUT and not verbose else ''}:", style="bold")
        for line in lines if verbose else lines[-OUTPUT:]:
            console.print(Text(f"  {line}"), soft_wrap=True)


def line(verification: Verification) -> str:
    """The verdict alone."""
    return f"{verification.verdict}: {verification.summary}"


def section(verification: Verification) -> str:
    """The section of a pull request."""
    word = verification.verdict
    lines = ["## Verification\n", f"**{word}** ({MEANING[word]}): {_cell(verification.summary)}\n"]
    cells = list(rows(verification))
    if cells:
        heads = columns(verification)
        sides = "before and after the fixes" if verification.after else "as it is"
        lines += [f"{_code(verification.command)}, run on the code {sides}:\n"]
        lines += [f"|{' |'.join(f' {name}'.rstrip() for name in heads)} |", "|---" * len(heads) + "|"]
        lines += [f"| {' | '.join(_cell(text) for text in row)} |" for row in cells]
    told = [f"- {mark}: {_cell(text)}" for mark, _, sentences in evidence(verification) for text in sentences]
    lines += ["", *told] if told and cells else told
    if cells:
        lines += ["", *_steps(verification), "<details><summary>How it was run</summary>\n"]
        lines += [f"- fix: {_cell(place)}" for place in fixes(verification)]
        lines += [f"- {name}: {_cell(value)}" for name, value in facts(verification)]
        lines += ["\n</details>"]
    return "\n".join(lines) + "\n"


def _steps(verification: Verification) -> Iterator[str]:
    """The losses and the norms of the gradients of the first steps of the first process, as a table."""
    sides = [(name, run) for name, run in (("before", verification.before), ("after", verification.after)) if run]
    traces = [run.traces[0] if run.traces else Trace() for _, run in sides]
    numbers = [trace.losses[:STEPS] for trace in traces] + [norms(trace)[:STEPS] for trace in traces]
    if any(numbers):
        suffixes = [f" {name}" for name, _ in sides] if verification.after else [""]
        heads = ["", *(f"loss{name}" for name in suffixes), *(f"gradient norm{name}" for name in suffixes)]
        yield f"|{' |'.join(f' {head}'.rstrip() for head in heads)} |"
        yield "|---" * len(heads) + "|"
        for number, row in enumerate(zip_longest(*numbers), 1):
            yield f"| {number} | " + " | ".join("" if each is None else f"{each:.6g}" for each in row) + " |"
        yield ""


def norms(trace: Trace) -> tuple[float, ...]:
    """The norm of all gradients together at each step that was looked at, of parameters that always have one."""
    always = [p.norms for p in trace.parameters.values() if p.norms and p.present == p.looks]
    return tuple(math.hypot(*step) for step in zip(*always, strict=False))


def facts(verification: Verification) -> Iterator[tuple[str, str]]:
    """How it was run, and how to run it again."""
    yield "command", verification.command
    if verification.codes:
        yield "rules", ", ".join(verification.codes)
    if verification.effect is not None:
        yield "the fixes may change", EFFECTS[verification.effect]
    once, again = verification.repeats
    if not once:
        yield "runs", "recorded by `fixer probe`, and judged later"
    else:
        with_fixes = f", {plural(again, 'run')} with the fixes" if again else ""
        yield "runs", f"{plural(once, 'run')} of the code as it is{with_fixes}"
        yield "machine", f"{platform.system()} {platform.machine()}, {plural(os.cpu_count() or 1, 'processor')}"
    if verification.commits:
        yield "commit", " → ".join(commit[:12] for commit in verification.commits)
    if versions := _versions(next(iter(verification.before.traces if verification.before else ()), Trace())):
        yield "versions", versions
    if verification.codes and once:
        run, codes = shlex.quote(verification.command), ",".join(verification.codes)
        unsafe = " --unsafe-fixes" if any(fix.safety is not Safety.SAFE for fix in verification.fixes) else ""
        yield "to repeat it", f"fixer verify --select {codes}{unsafe} --run {run}"


def document(verification: Verification) -> dict[str, Any]:
    """Everything as plain JSON values; inf and nan as text."""
    judged = verification.judged
    return {
        "version": __version__,
        "verdict": judged.word,
        "summary": judged.summary,
        "command": verification.command,
        "rules": list(verification.codes),
        "fixes": [
            {"code": finding.code, "path": finding.path, "line": finding.reported.line}
            for finding in verification.fixes
        ],
        "effect": None if verification.effect is None else str(verification.effect),
        "repeats": list(verification.repeats),
        "commits": list(verification.commits),
        "gone": list(judged.gone),
        "new": list(judged.new),
        "both": list(judged.both),
        "wrong": list(judged.wrong),
        "notes": list(judged.notes),
        "before": _run(verification.before),
        "after": _run(verification.after),
    }


def _run(run: Run | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "ended": run.how,
        "exit_code": run.code,
        "error": run.error() or None,
        "seconds": round(run.seconds, 3),
        "peak_memory": run.peak,
        "output": run.output,
        "processes": [_plain(dataclasses.asdict(trace)) for trace in run.traces],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value


def evidence(verification: Verification) -> Iterator[tuple[str, str, Sequence[str]]]:
    """What was gone, new or the same: a mark, its colour, and sentences."""
    judged = verification.judged
    yield "gone", "green", judged.gone
    yield "new", "red", judged.new
    yield "both", "yellow", judged.both
    yield "wrong", "red", judged.wrong
    yield "note", "dim", judged.notes


def fixes(verification: Verification) -> Iterator[str]:
    """The fixes that were tried and where: the first few, and how many more there are."""
    tried = verification.fixes
    yield from (f"{finding.code} {finding.location}" for finding in tried[:FIXES])
    if len(tried) > FIXES:
        yield f"{len(tried) - FIXES:,} more"


def columns(verification: Verification) -> tuple[str, ...]:
    """The heads of the table of the runs."""
    return ("", "before", "after") if verification.after else ("", "as it is")


def rows(verification: Verification) -> Iterator[tuple[str, ...]]:
    """The table of the runs: what is counted, before, after. An error that stands beside it is not repeated."""
    before, after = verification.before, verification.after
    if before is None:
        return
    beside = (sentence for _, _, sentences in evidence(verification) for sentence in sentences)
    told = "\n".join((verification.summary, *beside))
    for label, was, now in _both(before, after or before, told):
        yield (label, was, now) if after else (label, was)


def _both(before: Run, after: Run, told: str) -> Iterator[tuple[str, str, str]]:
    yield "ended", _end(before, told), _end(after, told)
    for number, (one, other) in enumerate(zip_longest(before.traces, after.traces)):
        where = called(max(before.traces, after.traces, key=len), number)
        split = all(len(_losses(trace)) > 1 for trace in (one, other) if trace)
        cells = [dict(_cells(trace, split)) if trace else {} for trace in (one, other)]
        for label in dict.fromkeys((*cells[0], *cells[1])):
            was, now = (side.get(label, "") for side in cells)
            if was or now:
                yield f"{where}: " * bool(where) + label, was or "none", now or "none"
    yield "time", _seconds(before), _seconds(after)
    if before.peak and after.peak:
        yield "memory", f"{before.peak / 1e9:.2f} GB", f"{after.peak / 1e9:.2f} GB"
    versions = [_versions(next(iter(run.traces), Trace())) for run in (before, after)]
    if any(versions):
        yield "with", versions[0], "the same" if versions[0] == versions[1] else versions[1]


def _cells(trace: Trace, split: bool) -> Iterator[tuple[str, str]]:
    skipped = f" ({trace.skipped:,} skipped)" if trace.skipped else ""
    trainable = trace.trainable()
    moved = sum(parameter.moved is True for parameter in trace.parameters.values() if parameter.trainable)
    yield "backward calls", f"{trace.backward:,}"
    yield "optimizer steps", f"{trace.steps:,}{skipped}"
    frozen = f"0 ({len(trace.parameters):,} are frozen)" if trace.parameters else ""
    yield "parameters with a gradient", f"{trace.reached():,} of {trainable:,}" if trainable else frozen
    yield "parameters that moved", f"{moved:,} of {trainable:,}" if trainable else ""
    if split:
        for stepper, losses in sorted(_losses(trace).items()):
            yield f"losses, {_optimizer(trace, stepper)}", _series(losses)
    else:
        yield "losses", _series(trace.losses)
    yield "loss scale", _series(trace.scales)
    yield "autocast", ", ".join(trace.autocast)


def _optimizer(trace: Trace, number: int) -> str:
    """What an optimizer is called, with its number where others are called the same."""
    name = trace.optimizers.get(number, "optimizer")
    alike = list(trace.optimizers.values()).count(name) != 1
    return f"{name} {number}" if alike else name


def _losses(trace: Trace) -> dict[int, list[float]]:
    """The losses before the steps of each optimizer; of too many optimizers nothing."""
    found: dict[int, list[float]] = {}
    start = 0
    for end, stepper in zip(trace.windows, trace.steppers, strict=False):
        if end > start:
            found.setdefault(stepper, []).extend(trace.losses[start:end])
            start = end
    return found if len(found) <= OPTIMIZERS else {}


def _series(numbers: Sequence[float]) -> str:
    """`2.31 → 1.95 → 1.8`; of a long one the first and the last."""
    shown = [f"{number:.5g}" for number in numbers]
    return " → ".join(shown if len(shown) <= 4 else [shown[0], "…", shown[-1]])


def _end(run: Run, told: str) -> str:
    limits = {"time": "its time", "memory": "its memory", "processes": "its number of processes"}
    if run.how in limits:
        return f"at the limit of {limits[run.how]}"
    if any(trace.stopped for trace in run.traces):
        return f"by --steps, after {max(trace.updates for trace in run.traces):,} steps"
    error = run.error() or "exit code 0"
    if run.code is None or error not in told:
        return error
    return f"signal {-run.code}" if run.code < 0 else f"exit code {run.code}"


def _seconds(run: Run) -> str:
    return f"{run.seconds:.1f} s"


def _versions(trace: Trace) -> str:
    return ", ".join(f"{name} {version}" for name, version in trace.versions.items())


def _cell(text: str) -> str:
    """Text inside of a Markdown table or list: on one line, and nothing of it taken for markup."""
    plain = " ".join(text.split())
    return "".join(f"\\{char}" if char in "\\`*_[]<>|~" else char for char in plain)


def _code(text: str) -> str:
    one_line = " ".join(text.split())
    return f"`` {one_line} ``" if "`" in one_line else f"`{one_line}`"
