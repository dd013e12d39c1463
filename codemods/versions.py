"""Which versions of torch, Lightning, transformers and friends a project allows, and whether a range holds for them.

Files are reached through a `Reader`; nothing is imported or executed. The nearest project that mentions a package
decides. In one project a lock file outweighs everything; a pin outweighs the ranges it lies in (`torch==2.4.1` in
requirements.txt, `torch>=2.0` in pyproject.toml); what contradicts it, or holds only under a marker, an extra or a
group, stays beside it as an alternative, for any version that some file allows may be the one in use.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from codemods.plan import Project, Target
from codemods.sources.mentions import CONDA, PACKAGES, Mention, alternatives
from codemods.sources.requirements import FILES, read

__all__ = ["PACKAGES", "Reader", "Versions", "may", "parse_target", "project_root", "surely", "targets"]

TWINS = ("lightning", "pytorch-lightning")
"""Two distributions of one thing: who asks for either is told about the one that is named."""

MOST_MENTIONS = 100
"""Of one package in one project; more are taken for unknown."""

HUGE = 10**9


class Reader(Protocol):
    """Access to files by POSIX path relative to one root, which itself is ""."""

    def read(self, path: str, /) -> bytes | None: ...
    def exists(self, path: str, /) -> bool: ...


class Versions:
    """The projects of one tree and the versions they allow; each directory is looked at once."""

    def __init__(self, reader: Reader, overrides: Mapping[str, str] | None = None) -> None:
        self.notes: list[str] = []
        """A sentence for each packaging file that could not be read."""
        self._reader = reader
        self._overrides = dict(overrides or {})
        self._metadata: dict[str, tuple[str, ...]] = {}
        self._own: dict[str, dict[str, Target]] = {}
        self._projects: dict[str, Project] = {}

    def root(self, path: str) -> str:
        """The nearest directory above `path` that holds packaging metadata, or ""."""
        return next((directory for directory in _above(path) if self._files(directory)), "")

    def project(self, root: str) -> Project:
        """The project in the directory `root`, with what it and the projects around it say about each package."""
        if root not in self._projects:
            found: dict[str, Target] = {}
            for directory in (root, *_above(root)):
                if self._files(directory):
                    found = {**self._targets(directory), **found}
            given = {package: Target(package, spec, "--target") for package, spec in self._overrides.items()}
            for name, twin in (TWINS, TWINS[::-1]):
                if name not in given and twin in given:
                    given[name] = given[twin]
            self._projects[root] = Project(root, {**found, **given})
        return self._projects[root]

    def _files(self, directory: str) -> tuple[str, ...]:
        if directory not in self._metadata:
            paths = (posixpath.join(directory, name) for name in FILES)
            self._metadata[directory] = tuple(path for path in paths if self._reader.exists(path))
        return self._metadata[directory]

    def _targets(self, directory: str) -> dict[str, Target]:
        """What the packaging files of one directory say."""
        if directory not in self._own:
            files = [list(self._mentions(path)) for path in self._files(directory)]
            found = {package: target for package in PACKAGES if (target := _settled(package, files))}
            if named := [found[name] for name in TWINS if name in found]:
                unknown = Target(named[0].package, "", named[0].source)
                widest = (one for one in named if all(_within(other.spec, one.spec) for other in named))
                found |= dict.fromkeys(TWINS, next(widest, unknown))
            self._own[directory] = found
        return self._own[directory]

    def _mentions(self, path: str) -> Iterator[Mention]:
        """What a file says, with the files it includes; an include that leads outside the tree is passed over."""
        waiting, seen = [(path, "")], {path}
        while waiting:
            path, condition = waiting.pop(0)
            if (data := self._reader.read(path)) is None:
                continue
            reading = read(path, data)
            if reading.note and reading.note not in self.notes:
                self.notes.append(reading.note)
            for said in reading.mentions:
                yield Mention(said.package, said.specs, said.source, condition or said.condition, said.locked)
            for include in reading.includes:
                inner = posixpath.normpath(posixpath.join(posixpath.dirname(path), include.path))
                if inner not in seen and "://" not in include.path and not inner.startswith(("/", "../")):
                    seen.add(inner)
                    waiting.append((inner, condition or include.condition))


def project_root(reader: Reader, path: str) -> str:
    """The nearest directory above `path` that holds packaging metadata, or "" (the root)."""
    return Versions(reader).root(path)


def targets(reader: Reader, path_or_root: str, overrides: Mapping[str, str] | None = None) -> dict[str, Target]:
    """Package → allowed versions for a file, or for the directory of a project; `overrides` come before all files.

    A package that no file mentions is absent. `Target.spec` is a PEP 440 specifier set, several joined with ` || `
    where any of them may be in force, or "" where the package is mentioned and any version will do or none can be told
    (an address instead of a version; `lightning` and `pytorch-lightning` named with versions that contradict).
    """
    versions = Versions(reader, overrides)
    path = _normal(path_or_root)
    return dict(versions.project(path if versions._files(path) else versions.root(path)).targets)


def parse_target(text: str) -> tuple[str, str]:
    """`--target`: `torch=2.4` (any 2.4), `torch==2.4.1`, `torch>=2.3,<3` as package and PEP 440 specifier set.

    Raises:
        ValueError: with a sentence, if it is not a known package with versions that can exist.
    """
    match = re.fullmatch(r"\s*([A-Za-z0-9][\w.-]*?)\s*([<>=!~^].*)", text)
    if not match:
        raise ValueError(f"--target {text}: write a package and a version, such as torch=2.4 or torch>=2.3")
    written, constraint = match[1], match[2].strip()
    name: str = canonicalize_name(written)
    name = CONDA.get(name, name)
    if name not in PACKAGES:
        raise ValueError(f"--target {text}: the version of {written} is not looked at, only of {', '.join(PACKAGES)}")
    specs = alternatives(constraint)
    if not specs or not all(specs):
        raise ValueError(f"--target {text}: {constraint} is not a version or range, such as =2.4, ==2.4.1 or >=2.3,<3")
    if not any(map(_possible, specs)):
        raise ValueError(f"--target {text}: there is no version in {constraint}")
    return name, " || ".join(specs)


def may(target: Target | None, range: str) -> bool:
    """Whether any allowed version is in `range`: the question for `bites`. Unknown versions are."""
    return target is None or _verdict(target.spec, range)[0]


def surely(target: Target | None, range: str) -> bool:
    """Whether every allowed version is in `range`: the question for `needs`. Unknown versions are not."""
    return target is not None and _verdict(target.spec, range)[1]


@lru_cache(maxsize=4096)
def _verdict(spec: str, range: str) -> tuple[bool, bool]:
    """Whether some and whether all versions of `spec` are in `range`; if none can be named, some may and not all."""
    wanted = SpecifierSet(range)
    allowed = (version for each in alternatives(spec) or () for version in _allowed(SpecifierSet(each), wanted))
    inside = [wanted.contains(version, prereleases=True) for version in allowed]
    return (any(inside), all(inside)) if inside else (True, False)


def _allowed(spec: SpecifierSet, other: SpecifierSet) -> Iterator[Version]:
    """Releases that `spec` allows: at least one from each stretch in which neither set changes its answer.

    Both answers change only right before or right after a version named in one of the sets (or, for `==2.4.*` and
    `~=2.4.1`, before the next version of a shorter prefix): so the named releases, the next one in each position, and 0
    are a sample without gaps. Releases have as many parts as the longest one named, three at least: that nothing lies
    between 2.4.0 and 2.4.1 is what people mean.

    A post-release counts as its release. Pre-releases count only where one is pinned; such a pin counts as the release
    to come and as the last one before it, for a nightly of 2.6 has some of the bugs of either. Else `>=2.6` would not
    exclude what `<2.6` excludes.
    """
    pins = {Version(clause.version.removesuffix(".*")): clause.operator in ("==", "===") for clause in spec}
    named = {*pins, *(Version(clause.version.removesuffix(".*")) for clause in other)}
    width = max(3, *(len(version.release) for version in named))
    sample = {(0,) * width}
    for version in named:
        release = _padded(version, width)
        sample |= {release, *((*release[:i], part + 1, *(0,) * (width - i - 1)) for i, part in enumerate(release))}
    for release in sample:
        if spec.contains(version := _version(release), prereleases=True):
            yield version
    for version, pinned in pins.items():
        if (version.is_postrelease or (version.is_prerelease and pinned)) and spec.contains(version, prereleases=True):
            release = _padded(version, width)
            yield _version(release)
            if version.is_prerelease and any(release):
                last = max(i for i, part in enumerate(release) if part)
                yield _version((*release[:last], release[last] - 1, *(HUGE,) * (width - last - 1)))


def _padded(version: Version, width: int) -> tuple[int, ...]:
    return (*version.release, *(0,) * (width - len(version.release)))


def _version(release: tuple[int, ...]) -> Version:
    return Version(".".join(map(str, release)))


def _possible(spec: str) -> bool:
    return len(alternatives(spec) or ()) == 1 and any(True for _ in _allowed(SpecifierSet(spec), SpecifierSet()))


@dataclass(frozen=True, slots=True)
class _Choice:
    """One specifier set that a project may mean, and whether it holds without conditions."""

    spec: str
    source: str
    always: bool

    @property
    def rank(self) -> int:
        return 2 if "==" in self.spec else 1 if self.spec else 0


def _within(spec: str, other: str) -> bool:
    """Whether `other` allows all that `spec` allows, as far as one specifier set can tell."""
    return spec == other or ("||" not in other and _verdict(spec, other)[1])


def _settled(package: str, files: list[list[Mention]]) -> Target | None:
    """What all mentions of a package in the files of one project come to."""
    said = [[mention for mention in mentions if mention.package == package] for mentions in files]
    every = list(dict.fromkeys(mention for mentions in said for mention in mentions))
    if locked := [mention for mention in every if mention.locked]:
        every, said = locked, [[mention] for mention in locked]
    if not every:
        return None
    if len(every) > MOST_MENTIONS or any(mention.specs is None for mention in every):
        return Target(package, "", next((mention for mention in every if mention.specs is None), every[0]).source)
    choices = list(dict.fromkeys(choice for mentions in said for choice in _of_file(mentions)))
    kept = [
        one for one in choices if not any(o.always and o.rank > one.rank and _within(o.spec, one.spec) for o in choices)
    ]
    widest: list[_Choice] = []
    for one in kept:
        if not any(_within(one.spec, other.spec) for other in widest):
            widest = [*(other for other in widest if not _within(other.spec, one.spec)), one]
    return Target(package, " || ".join(choice.spec for choice in widest), widest[0].source)


def _of_file(mentions: list[Mention]) -> Iterator[_Choice]:
    """One file with its includes: what always holds is narrowed down together, each condition narrows it once more."""
    always: list[_Choice] = []
    for mention in mentions:
        if not mention.condition:
            always = _narrowed(always, mention) or [*always, *_choices(mention)]
    yield from always
    for mention in mentions:
        if mention.condition:
            yield from _narrowed(always, mention) or _choices(mention)


def _choices(mention: Mention) -> list[_Choice]:
    return [_Choice(spec, mention.source, not mention.condition) for spec in mention.specs or ()]


def _narrowed(choices: list[_Choice], mention: Mention) -> list[_Choice]:
    """What `choices` and the mention allow together: nothing if they contradict each other."""
    both: dict[_Choice, None] = {}
    for choice, one in itertools.product(choices, _choices(mention)):
        for spec in alternatives(f"{choice.spec},{one.spec}") or ():
            if _possible(spec):
                both[_Choice(spec, one.source if one.spec else choice.source, one.always)] = None
    return list(both) if len(both) <= MOST_MENTIONS else choices


def _normal(path: str) -> str:
    """The path without `.` and `..`; one that leads outside becomes the root."""
    path = posixpath.normpath(path) if path else ""
    return "" if path in (".", "..") or path.startswith(("/", "../")) else path


def _above(path: str) -> Iterator[str]:
    """The directories above a path, nearest first, the root last."""
    path = _normal(path)
    while path:
        path = posixpath.dirname(path)
        yield path
