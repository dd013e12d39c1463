"""`fixer diagnose`: from a log to the messages in it, the places they come from, and the command that repairs them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from fixer.cli import options
from fixer.cli.options import Color, DiagnoseFormat
from fixer.errors import Refusal

STDIN = "-"
HOW = "name a log (`fixer diagnose train.log`), or pipe one: `python train.py 2>&1 | fixer diagnose -`"


EXAMPLES = """\
python train.py 2>&1 | fixer diagnose -      # a run, while it goes
fixer diagnose slurm-1234.out                # a log of another machine
fixer diagnose train.log src                 # in these files only
"""
SETTINGS = {"epilog": EXAMPLES}
"""How Typer makes this command."""


def diagnose(
    log: Annotated[
        str | None,
        typer.Argument(metavar="[LOG]", help="The log of a run; - is standard input.", show_default="standard input"),
    ] = None,
    paths: options.Paths = None,
    target: options.Target = None,
    exclude: options.Exclude = None,
    config: options.Config = None,
    isolated: options.Isolated = False,
    format: DiagnoseFormat = DiagnoseFormat.terminal,
    quiet: options.Quiet = False,
    color: options.ColorOption = Color.auto,
) -> None:
    """Say what a traceback or warning means, where it comes from, and which command repairs it.

    The log may be of another machine, of many ranks, and of any length. Exit code 0: a message is known; 1: none is;
    2: could not do the job.
    """
    from fixer.cli.screen import Screen
    from fixer.diagnose.answer import diagnose as answer
    from fixer.diagnose.messages import Messages
    from fixer.diagnose.reading import lines
    from fixer.diagnose.scan import Scanner
    from fixer.diagnose.topics import all_topics
    from fixer.report import diagnosis, diagnosis_json
    from fixer.run import cache_directory
    from fixer.run.rule_index import rule_infos

    screen, here = Screen(color, quiet), Path.cwd()
    rules = options.Rules(target=target, exclude=exclude)
    request = options.Running(config=config, isolated=isolated).request(paths, rules)
    infos = rule_infos(cache_directory.directory())
    index = Messages(infos, all_topics())
    name = "standard input" if log in (None, STDIN) else log
    with _opened(log) as stream:
        record = Scanner(index).read(lines(stream))
    if record.blank:
        raise Refusal(f"{name}: holds no text; errors go to standard error: `python train.py > train.log 2>&1`")
    repeated = _repeated(paths, target, exclude, config, isolated)
    found = answer(record, index, infos, request, here, repeated=repeated, progress=screen.progress)
    if format is DiagnoseFormat.json:
        screen.result(diagnosis_json.render(found, record, infos, here))
    else:
        diagnosis.show(screen.console(sys.stdout), found, {info.code: info for info in infos}, here)
    problems = found.outcome.problems if found.outcome else ()
    screen.errors(problems)
    raise typer.Exit(2 if problems else 0 if found.message else 1)


@contextmanager
def _opened(log: str | None) -> Iterator[BinaryIO]:
    """The log as a stream of bytes.

    Raises:
        Refusal: if there is none, or it cannot be read.
    """
    if log is None or log == STDIN:
        if sys.stdin is None or (log is None and sys.stdin.isatty()):
            raise Refusal(f"diagnose what? {HOW}")
        yield sys.stdin.buffer
        return
    try:
        if "\0" in log:
            raise Refusal(f"{log!r}: not a path; {HOW}")
        if Path(log).is_dir():
            raise Refusal(f"{log}: is a directory; {HOW}")
        with Path(log).open("rb") as stream:
            yield stream
    except FileNotFoundError:
        hint = '`fixer explain "MESSAGE"` says what is known of a message' if " " in log else HOW
        raise Refusal(f"{log}: no such file; {hint}") from None
    except OSError as error:
        raise Refusal(f"{log}: cannot be read ({error.strerror or error})") from error


def _repeated(
    paths: Sequence[str] | None,
    target: Sequence[str] | None,
    exclude: Sequence[str] | None,
    config: str | None,
    isolated: bool,
) -> list[str]:
    """What the commands of the answer need of this command line, to look at the same files in the same way."""
    words = [word for value in target or () for word in ("--target", value)]
    words += [word for value in exclude or () for word in ("--exclude", value)]
    words += ["--config", config] if config is not None else []
    return [*words, *(["--isolated"] if isolated else []), *(paths or ())]
