"""What requirement files let in: for proofs of edits that raise a floor or leave a release out.

Read with `packaging` and `tomllib`, and not with what reads manifests elsewhere in this project, which made the edit.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from codemods.verify.observation import Observation

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

_LIGHTNING = (
    *("2.0.0", "2.0.1", "2.0.2", "2.0.3", "2.0.4", "2.0.5", "2.0.6", "2.0.7", "2.0.8", "2.0.9", "2.1.0", "2.1.1"),
    *("2.1.2", "2.1.3", "2.1.4", "2.2.0", "2.2.1", "2.2.2", "2.2.3", "2.2.4", "2.2.5", "2.3.0", "2.3.1", "2.3.2"),
    *("2.3.3", "2.4.0", "2.5.0", "2.5.1", "2.5.2", "2.5.3", "2.5.4", "2.5.5", "2.5.6", "2.6.0", "2.6.1", "2.6.2"),
    *("2.6.3", "2.6.4", "2.6.5", "2.6.6"),
)
RELEASES: Mapping[str, tuple[str, ...]] = {
    "torch": (
        *("2.0.0", "2.0.1", "2.1.0", "2.1.1", "2.1.2", "2.2.0", "2.2.1", "2.2.2", "2.3.0", "2.3.1", "2.4.0", "2.4.1"),
        *("2.5.0", "2.5.1", "2.6.0", "2.7.0", "2.7.1", "2.8.0", "2.9.0", "2.9.1", "2.10.0", "2.11.0", "2.12.0"),
        *("2.12.1", "2.13.0", "2.14.0", "2.14.1", "2.15.0"),
    ),
    "lightning": _LIGHTNING,
    "pytorch-lightning": _LIGHTNING,
}
"""Published on PyPI since 2.0, those that were withdrawn included."""


class Affected(Exception):
    """A requirement file lets in releases that have the bug; the text names both, and what they do."""


def demand_without(
    folder: Path, bug: Mapping[str, str], program: Callable[[], Observation] | None = None, symptom: str = ""
) -> Observation:
    """What a project shows whose requirement files must keep out releases with a bug.

    Args:
        folder: of the project.
        bug: package → releases that have it, as a specifier or as a list (`"2.6.2, 2.6.3"`); the files must keep out
            those of the first package. In the other packages, too, the bug needs these releases.
        program: trains with the releases that are installed; None where nothing can or should run.
        symptom: what `program` raises, as a part of the text, where the installed releases have the bug.

    Raises:
        Affected: files let such releases in. Where one of them is installed, the text ends with what `program` raised.
    """
    package, *_ = bug
    found = dict(_let_in(folder, package, bug[package]))
    seen, shown = Observation(numbers={f"affected releases of {package}": len(found)}), ""
    if program is not None and not _installed(bug):
        seen = program()
    elif program is not None and found:
        shown = f"; {package} {importlib.metadata.version(package)} is installed: {_raised(program, symptom)}"
    if found:
        raise Affected(
            "; ".join(f"{path} allows {package} {_few(releases)}" for path, releases in found.items()) + shown
        )
    return seen


def _raised(program: Callable[[], Observation], symptom: str) -> str:
    try:
        program()
    except Exception as error:
        if symptom not in str(error):
            raise
        return f"{type(error).__name__}: {error}"
    raise AssertionError(f"what is installed should have the bug, but does not say {symptom!r}")


def _few(releases: list[str]) -> str:
    first, *others = releases
    return f"{first} and {len(others)} more, up to {releases[-1]}" if others else first


def _let_in(folder: Path, package: str, bug: str) -> Iterator[tuple[str, list[str]]]:
    """Path of each file that lets releases in which have the bug, and these."""
    for path in sorted(folder.rglob("*")):
        wanted = [r.specifier for r in _requirements(path) if canonicalize_name(r.name) == package]
        bad = (release for release in RELEASES[package] if _has(release, bug))
        if found := [release for release in bad if any(specifier.contains(release) for specifier in wanted)]:
            yield path.relative_to(folder).as_posix(), found


def _requirements(path: Path) -> Iterator[Requirement]:
    """What a requirements file or the metadata of a project asks for; lines that are no requirement are passed over."""
    lines: list[Any] = []
    if path.name == "pyproject.toml":
        lines = tomllib.loads(path.read_text(encoding="utf-8")).get("project", {}).get("dependencies", [])
    elif path.name.startswith("requirements") and path.suffix == ".txt":
        lines = [line.partition(" #")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line and not line.startswith(("#", "-")):
            try:
                yield Requirement(line)
            except InvalidRequirement as error:
                raise AssertionError(f"{path.name}: {error}") from error


def _installed(bug: Mapping[str, str]) -> bool:
    """Whether what is installed has the bug."""
    return all(_has(importlib.metadata.version(package), releases) for package, releases in bug.items())


def _has(release: str, bug: str) -> bool:
    if bug[0].isdigit():
        return release in {part.strip() for part in bug.split(",")}
    return SpecifierSet(bug).contains(release, prereleases=True)
