"""Groups of identifiers, and whether a part of a file holds them, by the other names that the file gives them too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

from codemods.syntax.facts import Facts

Group: TypeAlias = tuple[str, ...]
"""Identifiers, as alternatives."""


class Words:
    """Groups of identifiers, with the names that one file gives to them: whether a part of the file holds them."""

    def __init__(self, groups: Sequence[Group], facts: Facts) -> None:
        self._patterns = [_any_of(_with_synonyms(group, facts)) for group in groups]

    def stand_in(self, text: str) -> bool:
        """Whether an identifier of each group stands in a text."""
        return all(pattern.search(text) for pattern in self._patterns)


@cache
def _any_of(identifiers: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(identifiers)))})\b" if "" not in identifiers else "")


def _with_synonyms(group: Group, facts: Facts) -> frozenset[str]:
    """Identifiers with the other names that a file gives them: `import no_grad as ng`, `self.ng = no_grad`."""
    found = set(group)
    given = {**facts.aliases}
    for each in facts.imports:
        given[each.name] = given.get(each.name, frozenset()) | frozenset(each.target.split("."))
    while new := {name for name, said in given.items() if name not in found and said & found}:
        found |= new
    return frozenset(found)
