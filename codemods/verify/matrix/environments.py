"""Environments to run proofs in: one for each version of torch, with what fitted it when it was new.

Made by `venv` and `pip` under the user's cache directory, kept for the next run, and announced with their size before
anything is downloaded. The CPU builds of torch come from PyTorch's own index; where that cannot be reached, pip takes
the build that PyPI has, which for Linux brings CUDA with it and is ten times as large.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

CPU_BUILDS = "https://download.pytorch.org/whl/cpu"
PINS: Mapping[str, Mapping[str, str]] = {
    "2.4": {
        "lightning": "2.4.0",
        "transformers": "4.44.2",
        "accelerate": "1.1.1",
        "peft": "0.13.2",
        "jsonargparse[signatures]": "4.53.0",
        "deepspeed": "0.19.8",
        "numpy": "1.26.4",
    },
    "2.8": {
        "lightning": "2.5.2",
        "transformers": "4.55.4",
        "accelerate": "1.10.1",
        "peft": "0.17.1",
        "jsonargparse[signatures]": "4.53.0",
        "deepspeed": "0.19.8",
        "numpy": "2.2.6",
    },
    "2.10": {
        "lightning": "2.6.1",
        "transformers": "4.57.6",
        "accelerate": "1.12.0",
        "peft": "0.18.1",
        "jsonargparse[signatures]": "4.53.0",
        "deepspeed": "0.19.8",
        "numpy": "2.2.6",
    },
    "2.13": {
        "lightning": "2.6.6",
        "transformers": "5.23.0",
        "accelerate": "1.15.0",
        "peft": "0.21.2",
        "trl": "1.16.0",
        "jsonargparse[signatures]": "4.53.0",
        "deepspeed": "0.19.8",
        "numpy": "2.4.6",
    },
}
"""What goes with a torch: the row of the newest torch that is not newer than it. Of jsonargparse and DeepSpeed, which
only read configuration files here, the newest fit all."""
BUILT = "deepspeed"
"""The one package without wheels; it builds in seconds, for it compiles nothing before it is used."""
INSTALLER = "pip>=25.1"
"""The first that resolves from metadata alone, so that sizes are known before anything large is downloaded."""
ROOM = 3.5
"""Disk space that an installation needs, as a multiple of its download: the wheels, and what they unpack to."""
PATIENCE = 3600.0
"""Seconds that one call of pip may take."""


class Unavailable(Exception):
    """An environment cannot be had; the text says why, in a sentence."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment, made or to be made."""

    torch: str
    requirements: tuple[str, ...]
    place: Path

    @property
    def python(self) -> Path:
        return self.place / "bin" / "python"

    @property
    def ready(self) -> bool:
        """Whether it was made, to the end, for these requirements and this Python."""
        return self.made_for == (platform.python_version(), *self.requirements)

    @property
    def made_for(self) -> tuple[str, ...]:
        """The Python and the requirements of the last installation that came to its end."""
        made = self.place / "made-for.txt"
        return tuple(made.read_text(encoding="utf-8").splitlines()) if made.is_file() else ()

    def finish(self) -> None:
        """Note that the installation came to its end."""
        recipe = (platform.python_version(), *self.requirements)
        (self.place / "made-for.txt").write_text("\n".join(recipe) + "\n", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Download:
    """What pip would fetch for an environment."""

    packages: tuple[str, ...]
    size: int
    """Bytes, of those packages whose size could be told."""
    unknown: int
    """How many packages did not tell theirs."""

    def __str__(self) -> str:
        unsure = f", and {self.unknown} packages of unknown size" if self.unknown else ""
        return f"{_amount(self.size)} in {len(self.packages)} packages (the first: {self.packages[0]}{unsure})"


def cache_directory() -> Path:
    """Where environments are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fixer" / "environments"


def environment(torch: str, cache: Path) -> Environment:
    """The environment of a version of torch.

    Raises:
        Unavailable: if that is no version, or older than all that we know companions of.
    """
    try:
        wanted = Version(torch)
    except InvalidVersion:
        raise Unavailable(f"{torch!r} is not a version; write one such as 2.10.0") from None
    rows = [row for row in PINS if Version(row) <= wanted]
    if not rows:
        raise Unavailable(
            f"no companions are known for torch {torch}; the oldest known are those of {min(PINS, key=Version)}"
        )
    pins = PINS[max(rows, key=Version)]
    twin = {"pytorch-lightning": pins["lightning"]}
    requirements = tuple(f"{name}=={version}" for name, version in {"torch": torch, **pins, **twin}.items())
    return Environment(torch, requirements, cache / f"torch-{torch}")


def begin(env: Environment) -> Download:
    """Make an environment with nothing but pip in it, or take one of the same Python, and ask what would be fetched.

    Raises:
        Unavailable: if pip finds no such packages, or there is no room for them.
    """
    if env.made_for[:1] != (platform.python_version(),):
        shutil.rmtree(env.place, ignore_errors=True)
        env.place.parent.mkdir(parents=True, exist_ok=True)
        _call([sys.executable, "-I", "-m", "venv", str(env.place)])
        _pip(env, INSTALLER)
    report = env.place / "report.json"
    options = ("--dry-run", "--use-feature=fast-deps", "--report", str(report))
    _pip(env, *options, *env.requirements)
    found = json.loads(report.read_bytes())["install"]
    sizes = [_size(item["download_info"]["url"]) for item in found]
    names = tuple(f"{item['metadata']['name']} {item['metadata']['version']}" for item in found) or ("none",)
    download = Download(names, sum(filter(None, sizes)), sizes.count(None))
    free = shutil.disk_usage(env.place).free
    if free < ROOM * download.size:
        raise Unavailable(f"{env.place} needs {_amount(ROOM * download.size)}, but {_amount(free)} are free")
    return download


def install(env: Environment) -> None:
    """Fetch and install what `begin` announced.

    Raises:
        Unavailable: if that fails.
    """
    _pip(env, *env.requirements)
    _call([str(env.python), "-I", "-c", "import torch"])
    env.finish()


def installed(env: Environment) -> dict[str, str]:
    """The versions of what the proofs import, as they are installed, and of Python."""
    names = [re.split(r"[=\[]", requirement)[0] for requirement in env.requirements]
    program = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    answer = _call([str(env.python), "-I", "-c", program, *names])
    return {"python": platform.python_version(), **json.loads(answer)}


def discard(env: Environment) -> None:
    """Remove what there is of an environment."""
    shutil.rmtree(env.place, ignore_errors=True)


def _pip(env: Environment, *arguments: str) -> None:
    binary = ("--only-binary=:all:", f"--no-binary={BUILT}")
    options = ("--quiet", *binary, "--no-cache-dir", "--retries=1", "--disable-pip-version-check")
    _call([str(env.python), "-I", "-m", "pip", "install", *options, f"--extra-index-url={CPU_BUILDS}", *arguments])


def _call(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{_named(command)} took longer than {PATIENCE:.0f} s") from None
    except OSError as error:
        raise Unavailable(f"{_named(command)}: {error.strerror}") from error
    if done.returncode:
        lines = (done.stderr + done.stdout).strip().splitlines() or ["it says nothing"]
        said = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
        raise Unavailable(f"{_named(command)}: {said[-1] if said else lines[-1]}")
    return done.stdout


def _named(command: list[str]) -> str:
    """What a person would call it."""
    return command[command.index("-m") + 1] if "-m" in command else Path(command[0]).name


def _amount(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _size(url: str) -> int | None:
    """The bytes behind a URL, asked for without fetching them."""
    parts = urllib.parse.urlsplit(url)
    try:
        if parts.scheme == "file":
            return Path(urllib.request.url2pathname(parts.path)).stat().st_size
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=30) as answer:
            return int(answer.headers["Content-Length"])
    except (OSError, ValueError, TypeError, urllib.error.URLError):
        return None
