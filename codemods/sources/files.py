"""Which file is what, by its name: Python, a notebook, a configuration, a packaging file, a script.

A new kind of source is one module here that reads it, and its names in this one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from codemods.model.edits import Skip
from codemods.sources import python, text
from codemods.sources.document import Document, Unit

PYTHON = (".py", ".pyw")
NOTEBOOK = ".ipynb"
CONFIG = (".yaml", ".yml", ".json", ".toml")
SHELL = (".sh", ".bash", ".slurm", ".sbatch")
MANIFEST = re.compile(
    r"(?:.*/)?(?:[^/]*(?:requirements?|constraints)[^/]*\.(?:txt|in)|requirements/[^/]+\.(?:txt|in)"
    r"|(?:packages?[-_]?list|dependencies)\.txt"
    r"|pyproject\.toml|setup\.(?:cfg|py)|Pipfile(?:\.lock)?|pixi\.toml|(?:uv|poetry|pdm|pixi)\.lock|pylock(?:\.[^/]+)?\.toml"
    r"|(?:conda|[^/]*environment)[^/]*\.ya?ml|(?:[^/]*[-_])?env\.ya?ml)"
)
"""Packaging files: what they ask for, and what a lock file has settled on."""
_MANIFEST_ENDS = (".txt", ".in", ".toml", ".cfg", "setup.py", "Pipfile", ".lock", ".yml", ".yaml")
"""Told of a name more quickly; most names have none of them."""
INSTALLER = re.compile(
    r"(?:.*/)?(?:(?:Docker|Container|Make|GNUmake|make|Just|just|Jenkins|Vagrant|Snake|Earth|Proc)file[^/]*"
    r"|(?:README|Readme|readme|INSTALL|Singularity|Apptainer)[^/]*|\.(?:gitmodules|envrc|tool-versions)"
    r"|[^/]*\.(?:[Dd]ockerfile|mk|def|ini|cfg|bat|cmd|ps1|nix|tf|hcl|env|pbs|job|qsub|lsf|zsh|fish|ksh|csh|js|mjs|cjs|ts"
    r"|rb|pl|jl|awk|sed|R|patch|diff)"
    r"|(?:constraints?|deps|dependencies)/[^/]+\.(?:txt|in|lst|list)"  # (listed_in_a_folder in test_releases_said)
    r"|[^/]*(?:req|dep|pip|pkg|pack|inst|lib|env|vers|pin|freeze|torch|cuda|setup|wheel|whl)[^/]*\.(?:txt|in|lst|list))"
)
"""What may install a package, run a program or write its files in a language that is not read: it is searched, and
never checked."""
LOCK = re.compile(r"(?:.*/)?(?:[^/]*\.lock|pylock[^/]*\.toml)")

RECORD = re.compile(r"(?:^|/)wandb/(?:latest-run|(?:offline-)?run-[^/]*)/")
"""What Weights & Biases keeps of a run, requirements and configuration among it: nobody reads it again."""

_SOURCE = (*PYTHON, NOTEBOOK, *SHELL, *CONFIG)
_INSIDE = f"{NOTEBOOK}::"
"""Parts the path of a notebook from that of a file that one of its cells writes."""


def is_python(path: str) -> bool:
    """Whether rules about Python look at a unit: by its suffix, or a script without one that somebody named."""
    name = path.rpartition("/")[2]
    return name.endswith((*PYTHON, NOTEBOOK)) or ("." not in name and not is_manifest(path) and not is_installer(path))


def is_manifest(path: str) -> bool:
    return path.endswith(_MANIFEST_ENDS) and MANIFEST.fullmatch(path) is not None and not RECORD.search(path)


def is_installer(path: str) -> bool:
    """Whether a file of that name may install a package in a way that is not read as a packaging file."""
    return INSTALLER.fullmatch(path) is not None and not is_manifest(path) and not RECORD.search(path)


def kind(path: str) -> str | None:
    """What a file is apart from Python: a "manifest", "shell", "config", or nothing."""
    if is_manifest(path):
        return "manifest"
    return "shell" if path.endswith(SHELL) else "config" if path.endswith(CONFIG) else None


def by_directory(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Paths by the directory that they lie in, in their order."""
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(path.rpartition("/")[0], []).append(path)
    return {directory: tuple(inside) for directory, inside in found.items()}


def is_document(path: str) -> bool:
    """Whether rules about other files look at a unit; `setup.py` is looked at as both."""
    return path.endswith((*SHELL, *CONFIG)) or is_manifest(path)


def is_source(path: str) -> bool:
    """Whether a file of that name is looked at without being named."""
    return (path.endswith(_SOURCE) and not RECORD.search(path)) or is_manifest(path)


def is_listed(path: str) -> bool:
    """Whether a file of that name is looked at, or searched for the sake of one that is."""
    return is_source(path) or is_installer(path)


def container(unit: str) -> str:
    """The file that a unit is a part of."""
    head, inside, _ = unit.partition(_INSIDE)
    return head + NOTEBOOK if inside else unit


def units(path: str, data: bytes) -> tuple[str, ...]:
    """The programs that a file holds: itself, and what the cells of a notebook write as files of their own."""
    if path.endswith(NOTEBOOK):
        from codemods.sources import notebook

        return notebook.units(path, data)
    return (path,)


def searchable(path: str, data: bytes) -> bytes:
    """Bytes in which a literal of the decoded text is found as it stands there."""
    if path.endswith(NOTEBOOK):
        return data.replace(b'\\"', b'"').replace(b"\\t", b"\t").replace(b"\\n", b"\n")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.replace(b"\0", b"")
    return data


def decode(unit: str, data: bytes) -> Unit | Skip:
    """A unit as text, from the bytes of the file that holds it."""
    if container(unit).endswith(NOTEBOOK):
        from codemods.sources import notebook

        return notebook.decode(unit, data)
    if is_python(unit):
        return python.decode(unit, data)
    return text.decode(unit, data, text.LARGEST_LOCK if LOCK.fullmatch(unit) else text.LARGEST)


def read(path: str, content: str) -> Document | Skip:
    """A file that is not (only) Python, as nodes with spans."""
    what = kind(path)
    if what == "manifest":
        from codemods.sources import manifest

        return manifest.read(path, content)
    if what == "shell":
        from codemods.sources import shell

        return shell.read(path, content)
    from codemods.sources import config

    return config.read(path, content)
