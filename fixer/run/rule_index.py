"""What can be told of the rules without loading them. It is kept in the cache, because loading all rules takes longer
than a run in which no file concerns any of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from codemods import transforms
from codemods.engine.prefilter import RuleInfo

FILE = "rules.json"
_PACKAGE = Path(transforms.__file__).parents[1]
_ROOMS = ("model", "syntax", "sources", "project", "flow", "rules", "analysis", "frameworks", "engine", "transforms")


@cache
def rule_infos(directory: Path | None) -> tuple[RuleInfo, ...]:
    """All rules, by code, as data. No rule is loaded where the cache knows the rules as they are now.

    Args:
        directory: the cache; None: neither read nor write it.

    Raises:
        codemods.transforms.Unloadable, ValueError: as `codemods.transforms.load`.
    """
    if directory is None:
        return tuple(map(RuleInfo.of, transforms.load()))
    state = _state()
    with suppress(OSError, ValueError, TypeError, KeyError):
        seal, _, text = (directory / FILE).read_bytes().partition(b"\n")
        if seal == _seal(text) and (kept := json.loads(text))["state"] == state:
            return tuple(_read(each) for each in kept["rules"])
    infos = tuple(map(RuleInfo.of, transforms.load()))
    if not all(info.module.startswith("codemods.") for info in infos):
        return infos  # the rules of other packages may change without a sign
    with suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True)
        new = directory / f"{FILE}.{os.getpid()}"
        try:
            text = json.dumps({"state": state, "rules": list(map(_written, infos))}).encode()
            new.write_bytes(_seal(text) + b"\n" + text)
            new.replace(directory / FILE)
        finally:
            new.unlink(missing_ok=True)
    return infos


def _state() -> str:
    """A name for the files that the rules consist of, and for what is installed, by size and time of change.

    A package that offers rules adds a directory to one of those that Python imports from.
    """
    kept = (path for room in _ROOMS for end in ("*.py", "*.toml", "*.json") for path in (_PACKAGE / room).rglob(end))
    files = sorted(kept)
    stats = [(str(path), status.st_size, status.st_mtime_ns) for path in files for status in [path.stat()]]
    for place in sys.path:
        with suppress(OSError):
            stats.append((place, 0, Path(place).stat().st_mtime_ns))
    return hashlib.sha256(repr((sys.version_info[:2], stats)).encode("utf-8", "surrogateescape")).hexdigest()


def _seal(text: bytes) -> bytes:
    """What stands above a text that is whole."""
    return hashlib.sha256(text).hexdigest().encode()


def _written(info: RuleInfo) -> list[object]:
    elsewhere, somewhere = ([text.decode("latin-1") for text in texts] for texts in (info.elsewhere, info.somewhere))
    prefilter = [info.strategies, info.triggers, elsewhere, info.kinds, info.module]
    return [info.code, info.name, *prefilter, info.summary, info.errors, somewhere, info.imports, info.upgrading]


def _read(kept: list[Any]) -> RuleInfo:
    code, name, strategies, triggers, elsewhere, kinds, module, summary, errors, somewhere, imports, upgrading = kept
    if not (isinstance(code, str) and isinstance(name, str) and isinstance(module, str) and isinstance(summary, str)):
        raise TypeError("code, name, module and summary are strings")
    if not module.startswith("codemods."):
        raise ValueError("the rules of other packages are not kept")
    groups = tuple(tuple(group) for group in triggers)
    words, others = (tuple(text.encode("latin-1") for text in texts) for texts in (elsewhere, somewhere))
    about = (module, summary, tuple(errors), others, tuple(imports), bool(upgrading))
    return RuleInfo(code, name, tuple(strategies), groups, words, tuple(kinds), *about)
