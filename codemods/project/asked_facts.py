"""Facts of a file whose readers are noted: an answer rests on what was read of them, and on nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, ItemsView, Iterable, Iterator, Mapping, Set, ValuesView
from functools import partial
from typing import Any

from codemods.project.dependencies import Fact, Questions
from codemods.syntax.facts import Facts, Import


class AskedFacts:
    """Stands in for the facts of one file; each field that is read, and each name in it, is a question."""

    def __init__(self, facts: Facts, questions: Questions) -> None:
        self.path = facts.path
        self._facts, self._questions = facts, questions
        self._made: dict[tuple[str, str | None], Fact] = {}

    def _ask(self, field: str, name: str | None) -> None:
        if self._questions.noting:
            key = field, name
            if (question := self._made.get(key)) is None:
                question = self._made[key] = Fact(self.path, field, name)
            self._questions.ask(question)

    def named(self, name: str) -> Iterator[Import]:
        """As `Facts.named`."""
        self._ask("imports", name)
        return self._facts.named(name)

    def __getattr__(self, field: str) -> Any:
        value = getattr(self._facts, field)
        ask = partial(self._ask, field)
        if isinstance(value, (Mapping, frozenset)):
            by_name = _ByName(value, ask) if isinstance(value, Mapping) else _Names(value, ask)
            setattr(self, field, by_name)
            return by_name
        ask(None)
        return value


class _Asking(Collection[str]):
    """Names that are asked for one by one, or all at once."""

    def __init__(self, known: Any, ask: Callable[[str | None], None]) -> None:
        self._known, self._ask = known, ask

    def __contains__(self, name: object) -> bool:
        self._ask(str(name))
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        self._ask(None)
        return iter(self._known)

    def __len__(self) -> int:
        self._ask(None)
        return len(self._known)


class _ByName(_Asking, Mapping[str, Any]):
    def __getitem__(self, name: str) -> Any:
        self._ask(name)
        return self._known[name]

    def get(self, name: str, default: Any = None) -> Any:
        self._ask(name)
        return self._known.get(name, default)

    def items(self) -> ItemsView[str, Any]:
        self._ask(None)
        return self._known.items()  # type: ignore[no-any-return]

    def values(self) -> ValuesView[Any]:
        self._ask(None)
        return self._known.values()  # type: ignore[no-any-return]


class _Names(_Asking, Set[str]):
    def isdisjoint(self, other: Iterable[str]) -> bool:
        return not any(name in self for name in other)

    def __and__(self, other: Set[object]) -> Set[str]:
        return frozenset(name for name in other if isinstance(name, str) and name in self)

    __rand__ = __and__

    @classmethod
    def _from_iterable(cls, names: Iterable[str]) -> frozenset[str]:  # type: ignore[override]
        """What `|` and `-` give, for which all names are asked for."""
        return frozenset(names)
