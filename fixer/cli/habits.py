"""What people type who know other tools: the word of this tool that does the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fixer.cli.application import COMMANDS
from fixer.errors import Refusal

START = """\
fixer finds and repairs mixed-precision and gradient-flow bugs in PyTorch code.

  fixer check                               report what is wrong here
  fixer apply --dry-run                     show the patch
  fixer apply                               write it
  fixer verify --run "python train.py"      run your code before and after it
  python train.py 2>&1 | fixer diagnose -   from an error to its fix
  fixer explain train.py:12                 why a line is fixed, or is not

`fixer --help` lists all commands, `fixer COMMAND --help` their options.
"""
"""What `fixer` alone says."""
_COMMANDS = {
    "version": "`fixer --version`",
    "help": "`fixer --help`",
    "lint": "`fixer check`",
    "fix": "`fixer apply`",
    "diff": "`fixer apply --dry-run`",
    "run": '`fixer verify --run "python train.py"`',
    "rule": "`fixer explain CODE`",
}
_OPTIONS = {
    "--fix": "`fixer apply` writes the fixes, `fixer apply --dry-run` shows them",
    "--diff": "`fixer apply --dry-run` prints the patch",
    "--output-format": "`--format` names the format, `--output` the file",
    "--show-fixes": "`fixer apply --dry-run` prints the patch",
    "--exit-non-zero-on-fix": "`--fail-on fixable` fails the check where something can be fixed",
}
_READING = ("check", "apply", "verify")
"""Commands that read files of a project."""


def check_words(words: Sequence[str]) -> None:
    """Name what does here what these words do elsewhere.

    Raises:
        Refusal: if the first word is no command, or an option is one of other tools.
    """
    first = next(iter(words), "-")
    if not first.startswith("-") and first not in COMMANDS:
        meant = _COMMANDS.get(first)
        if meant is None and (Path(first).exists() or first.endswith(".py")):
            meant = f"`fixer check {first}`"
        if meant is not None:
            raise Refusal(f"{first!r} is no command; {meant} is what you mean")
    for word in words[1:] if first in _READING else ():  # behind `probe` stands a command with options of its own
        option = word.partition("=")[0]
        if word == "--":
            return
        if option in _OPTIONS:
            raise Refusal(f"there is no option {option}: {_OPTIONS[option]}")
        if word == "-":
            raise Refusal(f"`fixer {first}` reads files, not standard input: name them; `fixer diagnose -` reads a log")
