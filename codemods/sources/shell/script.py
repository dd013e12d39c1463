"""Shell scripts, read for the programs they start and with which arguments. They are reported on, never changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from codemods.model.edits import Edit, Skip
from codemods.sources.shell.commands import Command, UnreadableScript, Word, scan

_SHELLS = re.compile(r"#!.*?\b(?:ba|da|z|k|mk|a)?sh\b")
_PYTHON = re.compile(
    r"(?:.*/)?(?:python[\d.]*|pypy[\d.]*|ipython\d?|torchrun|deepspeed|accelerate|fabric|lightning)"
    r"|\$\{?\w*python\w*\}?",
    re.IGNORECASE,
)
"""What is given a Python program to run, by its name or by a variable that is named after it."""
_RUNNERS = frozenset(
    {"env", "exec", "nohup", "sudo", "nice", "stdbuf", "setsid", "timeout", "xvfb-run", "numactl", "taskset"}
    | {"srun", "mpirun", "mpiexec", "horovodrun", "jsrun", "bsub", "ibrun", "aprun", "flux"}
    | {"poetry", "uv", "pdm", "pipenv", "conda", "mamba", "micromamba", "pixi", "hatch", "rye"}
    | {"singularity", "apptainer", "docker", "podman", "coverage", "py-spy", "nsys", "ncu"}
)
"""Programs that start the one named among their arguments."""
_RUNNING_MODULES = frozenset(
    {"torch.distributed.launch", "torch.distributed.run", "accelerate.commands.launch", "deepspeed.launcher.runner"}
    | {"debugpy", "pdb", "cProfile", "coverage", "scalene"}
)
"""Modules that run the program named among their arguments."""


@dataclass(frozen=True, slots=True, eq=False)
class Script:
    """A shell script: every simple command in it, in the order in which they end."""

    KIND: ClassVar[str] = "shell"
    path: str
    text: str
    commands: tuple[Command, ...]

    @property
    def start(self) -> int:
        return 0

    @property
    def end(self) -> int:
        return len(self.text)

    def nodes(self) -> Iterator[Script | Command | Word]:
        yield self
        for command in self.commands:
            yield command
            yield from (*command.assignments, *command.words)

    def together(self, fix: Mapping[Any, object]) -> tuple[Edit, ...] | None:
        """Shell scripts are never changed."""
        return None if fix else ()

    def label(self, node: object) -> str:
        """The command's first two words, and the word itself: `python train.py --precision=16`."""
        for command in self.commands:
            words = [*command.assignments, *command.words]
            if node is command or any(node is word for word in words):
                shown = [word for i, word in enumerate(words) if i < 2 or word is node]
                return " ".join(word.text for word in shown)
        return ""


def read(path: str, text: str) -> Script | Skip:
    """The commands of a script; a script for another interpreter than a shell has none."""
    if text.startswith("#!") and not _SHELLS.match(text.partition("\n")[0]):
        return Script(path, text, ())
    try:
        return Script(path, text, scan(text))
    except UnreadableScript as error:
        line = text.count("\n", 0, error.at) + 1
        return Skip(path, error.reason, f"line {line}: {error}")


@dataclass(frozen=True, slots=True)
class Launch:
    """A Python program that a command starts."""

    program: str
    """`train.py`, `$DIR/train.py`, or a module: `package.train`."""
    module: bool
    arguments: tuple[Word, ...]
    """What the program itself is given."""


def launched(command: Command) -> Launch | None:
    """The Python program that a command starts, whatever starts it: `srun torchrun --nproc_per_node 8 train.py …`.

    None where the command starts none, or code that stands in the command itself.
    """
    words = command.words
    python = False
    for i, word in enumerate(words):
        if not i and not (_PYTHON.fullmatch(word.text) or _name(word) in _RUNNERS or word.text.endswith(".py")):
            return None
        if word.text.endswith(".py") and not word.text.startswith("-") and (python or not i or _uv(words[:i])):
            return Launch(word.text, False, words[i + 1 :])
        if python and word.text in ("-c", "-"):
            return None
        if python and word.text in ("-m", "--module") and words[i + 1 :]:
            if words[i + 1].text not in _RUNNING_MODULES:
                return Launch(words[i + 1].text, True, words[i + 2 :])
        python = python or _PYTHON.fullmatch(word.text) is not None
    return None


def _name(word: Word) -> str:
    return word.text.rpartition("/")[2]


def _uv(before: tuple[Word, ...]) -> bool:
    """Whether these words make uv run the Python file that comes next: `uv run --with rich`."""
    return bool(before) and _name(before[0]) == "uv" and any(word.text == "run" for word in before)
