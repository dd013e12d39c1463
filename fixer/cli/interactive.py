"""`apply --interactive`: finding by finding, with the change and its reasons. The answers become a narrower request.

What is written is the plan of that request, made by the engine as for everybody: `--only` with the findings that were
accepted, and the strategies that were chosen. So the same can be done again without questions; but for fixes that a
person has edited (`editing.py`), which are laid over that plan.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from codemods.model.visible import visible
from fixer.cli.editing import EditedFix, LineEdits, disturb, edited, is_editable, proposed, with_edited
from fixer.errors import Refusal
from fixer.report.tally import plural, worst_first
from fixer.report.terminal import code, location, show_fix, show_frame, show_prose

if TYPE_CHECKING:
    from codemods.model.edits import Finding
    from fixer.cli.screen import Screen
    from fixer.run.request import Outcome, Request

Keys = Callable[[], str]
"""Waits for a key, and gives it; empty where the terminal is gone."""
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)
"""What an arrow or another key without a character sends; it ends with a letter that nobody has typed."""
END = ("", "\x04")
"""The terminal is gone; Ctrl-D."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """What a person has chosen."""

    request: Request
    """What is to be planned and written."""
    words: Sequence[str]
    """The command line."""
    shown: Outcome = field(repr=False)
    """What the person was asked about."""
    edited: tuple[EditedFix, ...] = ()

    def completed(self, plan: Callable[[Request], Outcome]) -> Outcome:
        """What is written: the plan of the request, with what was edited.

        Raises:
            Refusal: if a file has changed since it was shown, or a fix and what was edited do not go together.
        """
        if self.request.only:
            outcome = plan(self.request)
        else:
            outcome = replace(self.shown, plan=replace(self.shown.plan, files=()))
        outcome = with_edited(outcome, self.edited)
        seen = {file.path: file.before for file in self.shown.plan.files}
        for file in outcome.plan.changed:
            if seen.get(file.path, file.before) != file.before:
                raise Refusal(f"{file.path} changed while you were asked; nothing was written: run fixer again")
        return outcome

    def repeated(self) -> Iterator[str]:
        """How the same is done without questions, as sentences."""
        if self.request.only:
            yield f"the same without questions: {command(self.request, self.words)}"
        if self.edited:
            places = ", ".join(f"{fix.finding.path}:{fix.finding.place.line}" for fix in self.edited)
            yield f"what you have edited ({visible(places)}) is repeated by no command: keep it in a commit"


def ask(screen: Screen, request: Request, here: Path, words: Sequence[str]) -> Accepted | None:
    """Ask about each fix of the chosen safety.

    Args:
        words: the command line behind `fixer apply`.

    Returns:
        None if nothing is to be written.

    Raises:
        Refusal: if there is no terminal to ask on.
    """
    if not has_terminal():
        raise Refusal("--interactive asks on a terminal, and there is none: `fixer apply --dry-run` shows the patch")
    conversation = _Conversation(screen, request, here)
    with keys() as key:
        accepted = conversation.hold(key)
    if not accepted:
        screen.note("nothing was accepted, so nothing was written")
        return None
    own = conversation.edited
    request = replace(conversation.request, only=tuple(each for each in accepted if each not in own))
    fixes = tuple(EditedFix(conversation.findings[each], own[each]) for each in accepted if each in own)
    return Accepted(request, words, conversation.shown, fixes)


def has_terminal() -> bool:
    """Whether somebody can read and answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


@contextmanager
def keys() -> Iterator[Keys]:
    """Keys as they are pressed, without Return; the terminal is as before afterwards."""
    if sys.platform == "win32":
        import typer

        yield typer.getchar
        return
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    waiting: list[str] = []

    def key() -> str:
        while not waiting:
            try:
                pressed = os.read(terminal, 64)
            except OSError:
                return ""
            if not pressed:
                return ""
            waiting.extend(_SEQUENCE.sub("", pressed.decode("utf-8", "replace")))
        return waiting.pop(0)

    tty.setcbreak(terminal, termios.TCSADRAIN)
    try:
        yield key
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


class _Conversation:
    """The questions and the answers up to now."""

    def __init__(self, screen: Screen, request: Request, here: Path) -> None:
        self.screen, self.request, self.here = screen, request, here
        self.console = screen.console(sys.stderr)
        self.outcome = self.shown = self._plan(request)
        self.findings = {each.fingerprint: each for each in self.outcome.plan.findings}
        self.order = [each.fingerprint for each in worst_first(self.findings.values()) if self._can_be_taken(each)]
        self.lines = {file.path: code(file) for file in self.outcome.plan.files}
        self.accepted: dict[str, None] = {}
        self.edited: dict[str, LineEdits] = {}
        """What is written instead of the fix, for those of the accepted ones that were edited."""
        self.answers: list[tuple[int, tuple[str, ...]]] = []
        """Where each was given, and what it accepted."""

    def hold(self, key: Keys) -> Sequence[str]:
        """Ask. Returns the fingerprints of what was accepted."""
        if not self.order:
            self.screen.note("there is no fix to ask about; `fixer check` tells what was found")
        at = 0
        while at < len(self.order):
            finding = self.findings[self.order[at]]
            if finding.fingerprint in self.accepted or not self._can_be_taken(finding):
                at += 1
                continue
            self._show(finding, at)
            answer = self._answer(finding, key)
            if answer == "q":
                return self._confirmed(key)
            if answer == "u":
                at, taken_back = self.answers.pop()
                for fingerprint in taken_back:
                    del self.accepted[fingerprint]
                    self.edited.pop(fingerprint, None)
            elif answer == "s":
                self._choose(finding, key)
            elif answer == "e" and not self._edit(finding):
                continue
            elif answer == "y" and self._is_disturbed(finding):
                self._warn("it changes lines that you have edited: edit it, too (e), or leave it (n)")
            else:
                ends = {"y": at + 1, "e": at + 1, "a": len(self.order), "n": at}
                some = tuple(each for each in self.order[at : ends[answer]] if self._goes_with(each, finding))
                self.accepted |= dict.fromkeys(some)
                self.answers.append((at, some))
                at += 1
        return list(self.accepted)

    def _goes_with(self, fingerprint: str, finding: Finding) -> bool:
        other = self.findings[fingerprint]
        if other.code != finding.code or fingerprint in self.accepted or not self._can_be_taken(other):
            return False
        return fingerprint in self.edited or not self._is_disturbed(other)

    def _is_disturbed(self, finding: Finding) -> bool:
        """Whether the fix changes lines that the person has edited."""
        if not self.edited:
            return False
        return any(disturb(proposed(finding, self.shown.read), own) for own in self.edited.values())

    def _edit(self, finding: Finding) -> bool:
        """Let the person edit what the fix writes. Returns whether it is to be written."""
        read = self.shown.read
        try:
            own = edited(finding, read)
        except ValueError as error:
            self._warn(f"not taken: {visible(str(error))}")
            return False
        if not own:
            self._warn(f"not taken: {'nothing was saved' if own is None else 'nothing would change'}")
            return False
        others = (self.edited.get(each) or proposed(self.findings[each], read) for each in self.accepted)
        if any(disturb(own, other) for other in others):
            self._warn("not taken: it changes lines that another accepted fix changes; u takes that one back")
            return False
        if own != proposed(finding, read):
            self.edited[finding.fingerprint] = own
        return True

    def _can_be_taken(self, finding: Finding) -> bool:
        return finding.fix is not None and self.outcome.wanted(finding)

    def _plan(self, request: Request) -> Outcome:
        from fixer.run.request import plan_directory

        return plan_directory(request, self.here, fix=False, progress=self.screen.progress)

    def _show(self, finding: Finding, at: int) -> None:
        """The finding, what shows it, and the change."""
        message = visible(" ".join(finding.claim.split()))
        where = location(finding, self.outcome.root, self.here)
        self._say("")
        said = f"{at + 1} of {len(self.order)}: {where}: {finding.code} [{finding.cost}] {message}"
        show_prose(self.console, Text(said, "bold"))
        show_frame(self.console, finding, self.lines.get(finding.path, {}).get(finding.cell, ()))
        if len(finding.strategies) > 1:
            self._say(f"strategy {finding.strategy} of {', '.join(finding.strategies)}", "dim")
        show_fix(self.console, finding, self.outcome.read)

    def _answer(self, finding: Finding, key: Keys) -> str:
        """One of `y n a s e u q`."""
        offered = {
            "y": "fix it",
            "n": "leave it",
            "a": f"fix this one and all that follow of {finding.code}",
            "s": "repair it in another way",
            "e": "edit what it writes in your editor (the variable VISUAL or EDITOR)",
            "u": "take the last answer back",
            "q": "ask no more",
        }
        if len(finding.strategies) < 2:
            del offered["s"]
        if not is_editable(finding):
            del offered["e"]
        if not self.answers:
            del offered["u"]
        while True:
            self._say(f"Fix it? [{' '.join(offered)} ?] ", end="")
            pressed = key()
            self._say("" if pressed in END else visible(pressed.strip()))
            if pressed in END:
                return "q"
            if pressed in offered:
                return pressed
            for each, meaning in offered.items():
                self._say(f"  {each}  {meaning}")

    def _confirmed(self, key: Keys) -> Sequence[str]:
        """What is written where the person stops before the end."""
        if not self.accepted:
            return []
        while True:
            self._say(f"Write {plural(len(self.accepted), 'accepted fix', 'accepted fixes')}? [y n] ", end="")
            pressed = key()
            self._say("" if pressed in END else visible(pressed.strip()))
            if pressed == "y":
                return list(self.accepted)
            if pressed == "n" or pressed in END:
                return []

    def _choose(self, finding: Finding, key: Keys) -> None:
        """Let the person choose how the rule repairs, here and where it was accepted before."""
        names = finding.strategies
        self._say("  ".join(f"{number} {name}" for number, name in enumerate(names, start=1)))
        self._say(f"Which one, for all that you accept of {finding.code}? [1-{len(names)}] ", end="")
        pressed = key()
        self._say("" if pressed in END else visible(pressed.strip()))
        if not (pressed.isdecimal() and 0 < int(pressed) <= len(names)):
            return
        name = names[int(pressed) - 1]
        others = (each for each in self.request.strategies if each.partition("=")[0].strip().upper() != finding.code)
        request = replace(self.request, strategies=(*others, f"{finding.code}={name}"))
        outcome = self._plan(request)
        found = {each.fingerprint: each for each in outcome.plan.findings}
        needed = [each for each in (finding.fingerprint, *self.accepted) if self.findings[each].code == finding.code]
        if any((new := found.get(each)) is None or new.strategy != name or not outcome.wanted(new) for each in needed):
            why = "it needs --unsafe-fixes" if self._is_unsafe(found, needed, name) else "it has no repair there"
            self._warn(f"{name} cannot be taken here: {why}")
            return
        self.request, self.outcome, self.findings = request, outcome, {**self.findings, **found}

    def _is_unsafe(self, found: Mapping[str, Finding], needed: Sequence[str], name: str) -> bool:
        return all(each in found and found[each].strategy == name for each in needed)

    def _warn(self, text: str) -> None:
        show_prose(self.console, Text(text, "yellow"))

    def _say(self, text: str, style: str = "", end: str = "\n") -> None:
        self.console.print(text, style=style, soft_wrap=True, end=end)


def command(request: Request, words: Sequence[str]) -> str:
    """The command that does the same without questions."""
    kept: list[str] = []
    own = iter(words)
    for word in own:
        if word == "--":
            kept += [word, *own]
        elif word in ("--only", "--strategy"):
            next(own, None)
        elif re.fullmatch(r"-[qv]*i[qvi]*", word):
            kept += [f"-{short}"] if (short := word[1:].replace("i", "")) else []
        elif word != "--interactive" and not word.startswith(("--only=", "--strategy=")):
            kept.append(word)
    strategies = (word for each in request.strategies for word in ("--strategy", each))
    return shlex.join(["fixer", "apply", "--only", ",".join(request.only), *strategies, *kept])
