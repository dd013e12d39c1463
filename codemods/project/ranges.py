"""Whether some or all versions of a set lie in another; unknown ones may be anywhere, and are surely nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from codemods.sources.manifest.specifiers import alternatives

HUGE = 10**9


def some(specs: tuple[str, ...] | None, range: str) -> bool:
    """Whether any version that one of the specifier sets allows is in `range`; None: none can be told, so it may."""
    return specs is None or verdict(" || ".join(specs), range)[0]


def every(specs: tuple[str, ...] | None, range: str) -> bool:
    """Whether all versions that the specifier sets allow are in `range`; None: none can be told, so not surely."""
    return specs is not None and verdict(" || ".join(specs), range)[1]


def meet(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> bool:
    """Whether any version satisfies both; None: may be."""
    if one is None or other is None:
        return True
    return any(possible(f"{a},{b}".strip(",")) for a in one for b in other)


@lru_cache(maxsize=4096)
def verdict(spec: str, range: str) -> tuple[bool, bool]:
    """Whether some and whether all versions of `spec` are in `range`; if none can be named, some may and not all."""
    wanted = SpecifierSet(range)
    allowed = (version for each in alternatives(spec) or () for version in _allowed(SpecifierSet(each), wanted))
    inside = [wanted.contains(version, prereleases=True) for version in allowed]
    return (any(inside), all(inside)) if inside else (True, False)


def possible(spec: str) -> bool:
    """Whether a specifier set allows any version at all."""
    return len(alternatives(spec) or ()) == 1 and any(True for _ in _allowed(SpecifierSet(spec), SpecifierSet()))


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
    width = max([3, *(len(version.release) for version in named)])
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
