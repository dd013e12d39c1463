"""Where a command's words go: the result to standard output or a file, everything else to standard error."""

from __future__ import annotations

import os
import sys
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from codemods.model.visible import harmless, visible_line
from fixer.cli.options import Color
from fixer.errors import Refusal

if TYPE_CHECKING:
    from rich.console import Console

    from fixer.run.execute import Tick
    from fixer.run.request import Outcome

WIDE = 160


@dataclass(frozen=True, slots=True)
class Screen:
    """The streams of one command."""

    color: Color = Color.auto
    quiet: bool = False
    verbose: bool = False
    output: str | None = None
    began: float = field(default_factory=time.monotonic, compare=False)

    @property
    def pretty(self) -> bool:
        """Whether the result is looked at by a person, in colours or without."""
        return self.output is None and (sys.stdout.isatty() or self._coloured(sys.stdout))

    def _coloured(self, stream: TextIO) -> bool:
        if self.color is not Color.auto:
            return self.color is Color.always
        if os.environ.get("NO_COLOR"):
            return False
        return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")

    def console(self, stream: TextIO) -> Console:
        """A rich console for a stream."""
        from rich.console import Console

        coloured = self._coloured(stream)
        return Console(
            file=stream,
            force_terminal=coloured,
            no_color=not coloured,
            color_system="auto" if coloured and stream.isatty() else "standard" if coloured else None,
            width=None if stream.isatty() else WIDE,
            highlight=False,
            markup=False,
            emoji=False,
        )

    def progress(self, phase: str, total: int) -> AbstractContextManager[Tick]:
        """Show how far a phase is that is about so many files, on a terminal that can move its cursor."""
        from fixer.run.execute import no_progress

        if self.quiet or not total or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            return no_progress(phase, total)
        from fixer.report.progress import bar

        return bar(self._line, phase, total, self.began)

    def _line(self) -> Console:
        """A console that draws on the terminal whether colours are wanted or not."""
        from rich.console import Console

        return Console(file=sys.stderr, force_terminal=True, no_color=not self._coloured(sys.stderr), emoji=False)

    def result(self, data: bytes) -> None:
        """The result itself, byte for byte."""
        try:
            if self.output is not None:
                Path(self.output).write_bytes(data)
                return
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            where = "standard output" if self.output is None else f"--output {self.output}"
            raise Refusal(f"{where}: {error.strerror}") from error

    def note(self, sentence: str) -> None:
        """Something to know; silent with `--quiet`."""
        if not self.quiet:
            print(harmless(f"note: {sentence}"), file=sys.stderr)

    def errors(self, sentences: tuple[str, ...]) -> None:
        """What could not be done."""
        for sentence in sentences:
            print(harmless(f"fixer: {sentence}"), file=sys.stderr)

    def summary(self, outcome: Outcome, done: str) -> None:
        """The table and the sentences at the end."""
        from fixer.run.request import FAILURES

        if self.quiet:
            skips = (skip for skip in outcome.plan.skips if skip.reason in FAILURES)
            self.errors(tuple(f"{visible_line(skip.path)}: {skip.detail or skip.reason}" for skip in skips))
            return
        if outcome.problems and not outcome.plan.files_seen:
            return  # what is wrong is said, and there is nothing else to say
        from fixer.report.tally import is_empty, nothing_found

        if is_empty(outcome.plan) and not outcome.vendored and not self.verbose:
            print(nothing_found(outcome.plan), file=sys.stderr)
            self._compare(outcome)
            return
        from fixer.report.terminal import show_summary

        console = self.console(sys.stderr)
        show_summary(
            console,
            outcome.plan,
            unsafe=outcome.unsafe,
            done=done,
            vendored=len(outcome.vendored),
            verbose=self.verbose,
        )
        self._compare(outcome)
        if self.verbose:
            for path in outcome.vendored:
                console.print(f"  {visible_line(path)}: vendored or generated")
            for source in outcome.settings.sources:
                console.print(f"Settings from {source}.")

    def _compare(self, outcome: Outcome) -> None:
        """What became of the baseline."""
        if (known := outcome.known) is None:
            return
        from fixer.report.tally import plural

        if known.hidden:
            print(f"{plural(known.hidden, 'finding')} of {known.name} left out.", file=sys.stderr)
        if known.gone:
            are, them = ("is", "it") if known.gone == 1 else ("are", "them")
            anew = f"`fixer check --write-baseline {known.name}` writes it without {them}"
            print(f"{plural(known.gone, 'finding')} of {known.name} {are} gone: {anew}.", file=sys.stderr)
