"""What several mentions of a package in one project come to.

A lock file outweighs everything; a pin outweighs the ranges it lies in; what contradicts it, or holds only under a
condition, stays beside it as an alternative.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from codemods.model.plan import Target
from codemods.project.ranges import possible, verdict
from codemods.sources.manifest.requirement import PACKAGES
from codemods.sources.manifest.specifiers import alternatives

TWINS = ("lightning", "pytorch-lightning")
"""Two distributions of one thing: who asks for either is told about the one that is named."""

_FABRIC = "lightning-fabric"
"""A part of both that can be had alone (`fabric_alone`), or beside them in another release (`fabric_apart`)."""
MOST_MENTIONS = 100
"""Of one package in one project; more are taken for unknown."""


@dataclass(frozen=True, slots=True)
class Mention:
    """What one place says about one package; a `Requirement` without its place."""

    package: str
    specs: tuple[str, ...] | None
    source: str
    """The path of the file."""
    condition: str = ""
    locked: bool = False


def settled(said: list[list[Mention]]) -> dict[str, Target]:
    """What the mentions of each package, file by file, come to."""
    found = {package: target for package in PACKAGES if (target := _settled(package, said))}
    if named := [found[name] for name in (*TWINS, _FABRIC) if name in found]:
        both = Target(named[0].package, " || ".join(one.spec for one in named), named[0].source)
        widest = (one for one in named if all(_within(other.spec, one.spec) for other in named))
        target = next(widest, both)
        found |= dict.fromkeys(TWINS, replace(target, either=tuple(named)) if len(named) > 1 else target)
    return found


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
    return spec == other or ("||" not in other and verdict(spec, other)[1])


def _settled(package: str, said_by: list[list[Mention]]) -> Target | None:
    """What all mentions of a package in the files of one project come to."""
    said = [[mention for mention in mentions if mention.package == package] for mentions in said_by]
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


def _of_file(mentions: Sequence[Mention]) -> Iterator[_Choice]:
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
            if possible(spec):
                both[_Choice(spec, one.source if one.spec else choice.source, one.always)] = None
    return list(both) if len(both) <= MOST_MENTIONS else choices
