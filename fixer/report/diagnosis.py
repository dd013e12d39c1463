"""A diagnosis on a terminal: what the message means, where it comes from, what is wrong there, what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.text import Text

from codemods.model.plan import FilePlan
from codemods.model.visible import visible, visible_line
from fixer.diagnose.answer import Diagnosis, Other, PossibleCause, codes_of
from fixer.diagnose.commands import NextStep
from fixer.diagnose.places import InRepository
from fixer.diagnose.scan import Message
from fixer.report.patch import patch
from fixer.report.tally import in_other_versions, plural
from fixer.report.terminal import code, show_finding, show_patch

if TYPE_CHECKING:
    from rich.console import Console

    from codemods.engine.prefilter import RuleInfo

MOST_FINDINGS = 8
MOST_LINES = 80
"""Of the patch, before the rest is left to `--dry-run`."""
WIDTH = 79
"""The widest line of text."""


def show(console: Console, found: Diagnosis, rules: Mapping[str, RuleInfo], here: Path) -> None:
    """All of it."""
    if found.unknown is not None:
        _unknown(console, found)
    if found.message is None:
        _nearest(console, found)
        return
    _message(console, found.message, found.places if found.message.frames else ())
    topic = found.message.topic
    if topic is not None:
        _text(console, topic.meaning)
    elif found.codes:
        for each in found.codes:
            _print(console, rules[each].summary, label=f"{each} ")
        console.print()
    _findings(console, found, here)
    if topic is not None and not (found.is_placed and found.steps):
        _causes(console, found.causes, topic.step)
    _commands(console, *found.steps)
    for other in found.others:
        _other(console, other)


def _unknown(console: Console, found: Diagnosis) -> None:
    assert found.unknown is not None
    _print(console, f"Not known: {found.unknown.sentence}", style="bold red")
    _where(console, found.unknown.number, 1, () if found.message else found.places)
    if found.message is not None:
        _text(console, "The log ends with this exception, of which nothing is known. The log also holds:")


def _nearest(console: Console, found: Diagnosis) -> None:
    if found.near is not None:
        _text(console, f"The nearest message that is known, which is not the same: {found.near.pattern.text}")
        _commands(
            console, NextStep(f"fixer explain {quote(found.near.pattern.text)}", "says what is known of that one")
        )
    else:
        _text(console, "No message in this log is known.")
    run = 'fixer verify --no-fixes --run "python YOUR_SCRIPT.py"'
    _commands(
        console,
        NextStep("fixer check", "looks for the bugs of every rule"),
        NextStep(run, "runs your program and says what is wrong with it"),
    )


def _message(console: Console, message: Message, places: Sequence[InRepository]) -> None:
    _print(console, message.text, style="bold red")
    _where(console, message.number, message.count, places)


def _where(console: Console, number: int, count: int, places: Sequence[InRepository]) -> None:
    parts = [f"line {number:,} of the log" + (f", and {plural(count - 1, 'more time')}" if count > 1 else "")]
    if places:
        place = places[-1]
        inside = f", in {place.frame.function}" if place.frame.function.strip("<>") not in ("", "module") else ""
        parts.append(f"raised at {place.location}{inside}")
        if place.moved:
            parts.append("in the log that line reads otherwise")
    _print(console, "; ".join(parts), style="cyan", indent=2)
    if places and places[-1].code:
        line = Text(f"  {places[-1].line} | ", "blue").append(visible(places[-1].code), "default")
        console.print(line, soft_wrap=True)
    console.print()


def _text(console: Console, sentence: str) -> None:
    _print(console, sentence)
    console.print()


def _print(console: Console, sentence: str, *, label: str = "", style: str = "", indent: int = 0) -> None:
    """A sentence, wrapped; below a label its lines are indented once more."""
    begin, hang = " " * indent, " " * (indent + (3 if label else 0))
    whole = f"{label}{' '.join(visible(sentence).split())}"
    lines = wrap(whole, WIDTH, initial_indent=begin, subsequent_indent=hang, break_on_hyphens=False)
    for number, line in enumerate(lines):
        text = Text(line, style)
        if label and number == 0:
            text.stylize("cyan", 0, len(begin) + len(label))
        console.print(text, soft_wrap=True)


def _findings(console: Console, found: Diagnosis, here: Path) -> None:
    outcome = found.outcome
    if outcome is None:
        return
    if not found.findings:
        number = plural(len(found.codes), "rule")
        _text(
            console,
            f"{number} {'knows' if len(found.codes) == 1 else 'know'} this message and found nothing here: "
            f"{', '.join(found.codes)}.",
        )
    elif not found.is_placed:
        _text(console, "Nothing was found in the files of the traceback. In other files:")
    lines = {file.path: code(file) for file in outcome.plan.files if file.findings}
    for finding in found.findings[:MOST_FINDINGS]:
        show_finding(console, finding, outcome.root, here, lines[finding.path].get(finding.cell, ()))
        console.print()
    if (rest := len(found.findings) - MOST_FINDINGS) > 0:
        codes = ",".join(sorted({finding.code for finding in found.findings}))
        _text(console, f"… and {plural(rest, 'more finding')}: `fixer check --select {codes}` lists all.")
    for sentence in in_other_versions(outcome.plan):
        _text(console, sentence)
    ours = {place.path for place in found.places}
    changed = sorted(outcome.plan.changed, key=lambda file: (file.path not in ours, file.path))
    shown, left = _first_files(changed)
    show_patch(console, shown)
    if left:
        console.print(Text(f"… and {plural(left, 'more file')}: `{found.steps[0].command} --dry-run` shows them"))
    if shown:
        console.print()


def _first_files(files: Sequence[FilePlan]) -> tuple[list[FilePlan], int]:
    """As many files as fit, one at least, and how many are left."""
    shown: list[FilePlan] = []
    lines = 0
    for file in files:
        lines += patch([file]).count(b"\n")
        if shown and lines > MOST_LINES:
            break
        shown.append(file)
    return shown, len(files) - len(shown)


def _causes(console: Console, causes: Sequence[PossibleCause], step: str) -> None:
    """The known causes, numbered in the order in which to check them."""
    several = "Known causes, in the order in which to check them:" if len(causes) > 1 else "The known cause:"
    console.print(Text(several, "bold"))
    for number, each in enumerate(causes, start=1):
        cause, what = each.cause, each.cause.what
        is_word = what.split()[0].strip(",").isalpha()
        _print(console, what[:1].upper() + what[1:] if is_word else what, label=f"{number}. ")
        for clue in each.clues:
            line = Text(f"   {visible_line(clue.path)}:{clue.line}: ", "bold")
            line.append(visible(clue.code), "default not bold")
            console.print(line, soft_wrap=True)
        rules = ", ".join(cause.codes) + (" (found nothing)" if each.ruled_out else "")
        for label, said in (("see: ", cause.tell), ("then: ", cause.cure), ("rules: ", rules)):
            if said:
                _print(console, said, label=label, indent=3)
    console.print()
    if step:
        _text(console, f"Next: {step}")


def _commands(console: Console, *steps: NextStep) -> None:
    for number, step in enumerate(steps):
        _print(console, f"{'Next' if number == 0 else 'Or'} ({step.why}):")
        console.print(Text(f"  {visible(step.command)}", "bold green"), soft_wrap=True)
        console.print()


def _other(console: Console, other: Other) -> None:
    message = other.message
    _print(console, message.text, label="Also in the log: ")
    _where(console, message.number, message.count, ())
    if other.steps:
        _print(console, f"{plural(len(other.findings), 'finding')}:", indent=2)
        console.print(Text(f"  {visible(other.steps[0].command)}", "bold green"), soft_wrap=True)
        console.print()
    elif message.topic is not None:
        _print(console, message.topic.meaning, indent=2)
        console.print()
    elif other.codes:
        _print(console, f"{', '.join(other.codes)} found nothing here.", indent=2)
        console.print()


def show_known(console: Console, found: Sequence[Message], rules: Mapping[str, RuleInfo]) -> None:
    """What is known of messages, wherever they come from: `fixer explain "MESSAGE"`."""
    for message in found:
        topic = message.topic
        _print(console, message.text, style="bold red")
        console.print()
        if topic is not None:
            _text(console, topic.meaning)
            _causes(console, [PossibleCause(cause) for cause in topic.causes], topic.step)
        for rule in (rules[each] for each in codes_of(message) if each in rules):
            _print(console, f"{rule.name}: {rule.summary}", label=f"{rule.code} ")
        console.print()
    first = next((code for message in found for code in codes_of(message)), "")
    steps = [NextStep("fixer diagnose train.log", "finds the place that a traceback is about, and the fix")]
    if first:
        steps.append(NextStep(f"fixer explain {first}", "shows the page of a rule"))
    _commands(console, *steps)
