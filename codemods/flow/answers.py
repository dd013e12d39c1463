"""Answers to questions about a program: yes, no, or unknown because of a place.

`no` needs a closed world: everything that could make it a yes was followed to its end. Whatever stops on the way gives
`unknown`, with the place where it stopped. A rule lists the answers that its finding rests on, and the engine derives
from them how sure the claim is and how careful the fix (`codemods/engine/safety.py`).

A question is a function decorated with `question`. Tests force each one to unknown, one at a time (`forced`): no safe
fix that rests on it may survive.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import ParamSpec

from codemods.model.edits import Evidence

P = ParamSpec("P")


class Truth(enum.Enum):
    """What an answer says."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a question, and the places that show it."""

    truth: Truth
    places: tuple[Evidence, ...] = ()
    """Of `unknown`: where the program was followed no further, and what may happen there."""
    questions: frozenset[str] = frozenset()
    """The questions that it rests on."""

    @property
    def is_yes(self) -> bool:
        return self.truth is Truth.YES

    @property
    def is_no(self) -> bool:
        return self.truth is Truth.NO

    @property
    def is_unknown(self) -> bool:
        return self.truth is Truth.UNKNOWN

    def __bool__(self) -> bool:
        """Refuse to be a truth value.

        Raises:
            TypeError: always; an answer has three values.
        """
        raise TypeError("an answer may be unknown: ask is_yes, is_no or is_unknown")

    def __and__(self, other: Answer) -> Answer:
        return every((self, other))

    def __or__(self, other: Answer) -> Answer:
        return ~every((~self, ~other))

    def __invert__(self) -> Answer:
        opposite = {Truth.YES: Truth.NO, Truth.NO: Truth.YES}
        return replace(self, truth=opposite.get(self.truth, self.truth))


def yes(*places: Evidence) -> Answer:
    """It surely is so."""
    return Answer(Truth.YES, places)


def no(*places: Evidence) -> Answer:
    """It surely is not so."""
    return Answer(Truth.NO, places)


def unknown(*places: Evidence) -> Answer:
    """It cannot be told, because of these places.

    Raises:
        ValueError: if there is none.
    """
    if not places:
        raise ValueError("what is unknown has a place")
    return Answer(Truth.UNKNOWN, places)


def unless(places: Iterable[Evidence]) -> Answer:
    """`yes`, unless there are places that make it unknown."""
    found = tuple(dict.fromkeys(places))
    return unknown(*found) if found else yes()


def in_turn(*questions: Callable[[], Answer]) -> list[Answer]:
    """The answers to questions of which the dearer stand last: none is asked after one that is unknown."""
    found: list[Answer] = []
    for ask in questions:
        found.append(ask())
        if found[-1].is_unknown:
            break
    return found


def every(answers: Iterable[Answer]) -> Answer:
    """Whether all of it is so: no if one answer is, else unknown if one answer is."""
    given = tuple(answers)
    asked = frozenset[str]().union(*(each.questions for each in given))
    for truth in (Truth.NO, Truth.UNKNOWN):
        if found := [each for each in given if each.truth is truth]:
            return Answer(truth, tuple(dict.fromkeys(p for each in found for p in each.places)), asked)
    return Answer(Truth.YES, tuple(dict.fromkeys(p for each in given for p in each.places)), asked)


# -- questions

QUESTIONS: dict[str, str] = {}
"""The name of each question, with the first line of its docstring."""
_forced: ContextVar[frozenset[str]] = ContextVar("forced", default=frozenset())


def question(ask: Callable[P, Answer]) -> Callable[P, Answer]:
    """A function that answers a question under its own name.

    Raises:
        ValueError: if another question has the name.
    """
    name = ask.__name__
    if name in QUESTIONS:
        raise ValueError(f"two questions are called {name}")
    QUESTIONS[name] = (ask.__doc__ or "").partition("\n")[0]

    @functools.wraps(ask)
    def asked(*args: P.args, **kwargs: P.kwargs) -> Answer:
        answer = ask(*args, **kwargs)
        truth = Truth.UNKNOWN if name in _forced.get() else answer.truth
        return replace(answer, truth=truth, questions=answer.questions | {name})

    return asked


@contextmanager
def forced(names: Collection[str]) -> Iterator[None]:
    """Answer these questions with `unknown`, whatever is known."""
    token = _forced.set(frozenset(names))
    try:
        yield
    finally:
        _forced.reset(token)
