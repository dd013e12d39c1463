"""What is wrong, where, and what to do about it: a log and a repository as one answer, in plain data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.model.edits import Finding
from fixer.diagnose import commands
from fixer.diagnose.commands import NextStep, RunCommand
from fixer.diagnose.messages import KnownText, Messages
from fixer.diagnose.places import Clue, InRepository, Places, clues
from fixer.diagnose.scan import LogRecord, Message, Sort, ordered
from fixer.diagnose.topics import Cause
from fixer.diagnose.tracebacks import Raised
from fixer.project.discover import root_of
from fixer.project.worktree import WorkTree
from fixer.run.request import Outcome, Request, plan_directory

if TYPE_CHECKING:
    from codemods.engine.prefilter import RuleInfo
    from fixer.run.execute import Progress


@dataclass(frozen=True, slots=True)
class Other:
    """Another message of the log, and what can be done about it."""

    message: Message
    codes: tuple[str, ...] = ()
    """The rules that were run."""
    findings: tuple[Finding, ...] = ()
    steps: tuple[NextStep, ...] = ()


@dataclass(frozen=True, slots=True)
class PossibleCause:
    """One of the known causes, and the lines of code that are worth a look."""

    cause: Cause
    clues: tuple[Clue, ...] = ()
    ruled_out: bool = False
    """Whether rules looked for it and found nothing."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a log and a repository tell together."""

    root: Path
    message: Message | None
    """What answers why the run ended; None: no message is known."""
    unknown: Raised | None = None
    """The exception at the end of the log, where it is none that is known."""
    near: KnownText | None = None
    """Where no message is known, the one that is most like what the log says."""
    places: tuple[InRepository, ...] = ()
    """The frames of the message, or of the unknown exception, that lie in the repository; the outermost first."""
    codes: tuple[str, ...] = ()
    """The rules that were run."""
    outcome: Outcome | None = None
    """What they found, and the fixes that the first step applies."""
    findings: tuple[Finding, ...] = ()
    """Those in the files of the traceback first."""
    causes: tuple[PossibleCause, ...] = ()
    """In the order in which to check them: those that the message points at, then those with lines to look at."""
    steps: tuple[NextStep, ...] = ()
    """What to do next, the best first."""
    others: tuple[Other, ...] = ()

    @property
    def is_placed(self) -> bool:
        """Whether something was found in a file of the traceback, or found at all where no frame is ours."""
        files = {place.path for place in self.places}
        return any(finding.path in files for finding in self.findings) or (bool(self.findings) and not files)


def diagnose(
    record: LogRecord,
    index: Messages,
    rules: Sequence[RuleInfo],
    request: Request,
    here: Path,
    *,
    repeated: Sequence[str] = (),
    progress: Progress,
) -> Diagnosis:
    """The answer to a log.

    Args:
        record: what the log says.
        request: which files are looked at; its `select` is set here.
        repeated: options and paths of the command line that the commands of the answer need, too.

    Raises:
        Refusal: if the command line, or the configuration of the root, cannot be understood.
    """
    _complete(record, index)
    messages = ordered(record)
    root = root_of(request.paths, here)
    reader = WorkTree(root)
    places = Places(root, reader.files(), reader.read)
    first = messages[0] if messages else None
    last = record.last
    unknown = _unknown(messages, last)
    if first is None:
        text = last.text if last else " ".join(record.begin)
        near = index.nearest(text) if text else None
        return Diagnosis(root, None, unknown, near, places.of(last.frames) if last else ())
    ours = places.of(first.frames)
    planner = _Planner(request, here, tuple(rule.code for rule in rules), {p.path for p in ours}, repeated, progress)
    codes = planner.known_codes(first)
    outcome, steps = planner.found(codes)
    findings = _near_first(outcome.plan.findings if outcome else (), ours)
    made = Diagnosis(root, first, unknown, None, ours, codes, outcome, findings, steps=steps)
    if not (steps and made.is_placed):
        program = commands.program(record, [*first.frames, *(last.frames if last else ())], places, root, here)
        looked_at = {program.path: 0} if program.path and not ours else {}
        for place in reversed(ours):
            looked_at.setdefault(place.path, place.line)
        made = replace(made, causes=_causes(first, () if findings else codes, looked_at, reader.read))
        if first.topic is not None and first.topic.again:
            steps = (*steps, commands.again(program, first.topic.again))
        if first.topic is None or first.topic.watch:
            steps = (*steps, planner.watch(program))
        made = replace(made, steps=steps)
    return replace(made, others=tuple(planner.other(message, codes) for message in messages[1:]))


def _unknown(messages: Sequence[Message], last: Raised | None) -> Raised | None:
    """The exception at the end, if it is not known, and does not only follow from what another rank has raised."""
    if last is None or any(message.raised and message.raised.sentence == last.sentence for message in messages):
        return None
    first = messages[0].raised if messages else None
    return None if first is not None and first.source != last.source else last


def _complete(record: LogRecord, index: Messages) -> None:
    """Take the exception at the end, where its text was cut, for the message that it is the begin of."""
    last = record.last
    if last is None or any(message.raised == last for message in record.messages.values()):
        return
    if (known := index.begun_by(last.text.rstrip(" .…"))) is not None and known.key not in record.messages:
        cut = Message(last.sentence, last.number, known.codes, known.topic, Sort.EXCEPTION, last, last.frames)
        record.messages[known.key] = cut


def _causes(
    message: Message, clean: Sequence[str], places: Mapping[str, int], read: Callable[[str], bytes | None]
) -> tuple[PossibleCause, ...]:
    """The known causes of a message; `clean` are rules that found nothing, `places` lines in files to look at."""
    found = []
    for cause in message.topic.causes if message.topic else ():
        ruled_out = bool(cause.codes) and set(cause.codes) <= set(clean)
        found.append(PossibleCause(cause, clues(cause.signs, places, read), ruled_out))

    def later(each: PossibleCause) -> tuple[bool, bool, bool]:
        cause, functions = each.cause, [frame.function for frame in message.frames if frame.function]
        said = bool(cause.said and re.search(cause.said, message.text))
        inside = bool(cause.inside) and any(re.search(cause.inside, function) for function in functions)
        missing = bool((cause.signs and places) or (cause.inside and functions))
        return not (said or inside), not each.clues, missing

    return tuple(sorted(found, key=later))


def _near_first(findings: Iterable[Finding], places: Sequence[InRepository]) -> tuple[Finding, ...]:
    """Findings in the files of the traceback first, the innermost frame before the others; then by what they cost."""
    depth = {place.path: number for number, place in enumerate(places)}
    return tuple(sorted(findings, key=lambda f: (-depth.get(f.path, -1), -f.weight, -f.consequence, f.order)))


def codes_of(message: Message) -> tuple[str, ...]:
    """The rules that know a message, or a cause of it; in the order of the causes."""
    topic = message.topic
    causes = [code for cause in topic.causes for code in cause.codes] if topic else []
    return tuple(dict.fromkeys((*causes, *(topic.codes if topic else ()), *message.codes)))


@dataclass(frozen=True, slots=True)
class _Planner:
    """Runs rules over the repository, and says how their fixes are applied."""

    request: Request
    here: Path
    rules: tuple[str, ...]
    files: set[str]
    """Of the traceback."""
    repeated: Sequence[str]
    progress: Progress

    def known_codes(self, message: Message) -> tuple[str, ...]:
        """The rules that know a message and exist."""
        return tuple(code for code in codes_of(message) if code in self.rules)

    def found(self, codes: Sequence[str]) -> tuple[Outcome | None, tuple[NextStep, ...]]:
        """What these rules find, and the commands that repair it: safe fixes first, unless only others are near."""
        if not codes:
            return None, ()
        safe = self._plan(codes)
        open_ = [f for f in safe.plan.findings if not f.applied]
        if any(f.fix is not None and not safe.wanted(f) for f in open_):
            unsafe = self._plan(codes, unsafe_fixes=True)
        else:
            unsafe = None
        tried = [outcome for outcome in (safe, unsafe) if outcome is not None and outcome.plan.changed]
        if tried:
            tried.sort(key=lambda outcome: not self._is_near(outcome))
            return tried[0], tuple(commands.apply(outcome, self.repeated) for outcome in tried)
        if offered := [f for f in open_ if f.fix is None and f.strategies]:
            strategies = tuple(dict.fromkeys(f"{f.code}={f.strategies[0]}" for f in offered))
            chosen = self._plan(codes, unsafe_fixes=True, strategies=strategies)
            if chosen.plan.changed:
                return chosen, (commands.apply(chosen, self.repeated, strategies),)
        return safe, ()

    def watch(self, program: RunCommand) -> NextStep:
        """The command that runs the program once and says what is wrong with the run."""
        return commands.watch(program, self.repeated)

    def other(self, message: Message, done: Sequence[str]) -> Other:
        """What can be done about another message of the log."""
        codes = self.known_codes(message)
        if not codes or set(codes) <= set(done):
            return Other(message)
        outcome, steps = self.found(codes)
        return Other(message, codes, outcome.plan.findings if outcome else (), steps[:1])

    def _is_near(self, outcome: Outcome) -> bool:
        return any(file.path in self.files for file in outcome.plan.changed)

    def _plan(
        self, codes: Sequence[str], unsafe_fixes: bool | None = None, strategies: tuple[str, ...] = ()
    ) -> Outcome:
        request = replace(self.request, select=tuple(codes), unsafe_fixes=unsafe_fixes, strategies=strategies)
        return plan_directory(request, self.here, fix=True, progress=self.progress)
