"""The texts of all rules and topics, searched for in one pass (Aho and Corasick, 1975)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from ahocorasick_rs import AhoCorasick

from fixer.diagnose.patterns import Pattern, Squeezed, squeezed
from fixer.diagnose.topics import Topic

if TYPE_CHECKING:
    from codemods.engine.prefilter import RuleInfo

BEFORE, AFTER = 700, 1200
"""Letters and digits around the part that was searched for, in which the rest of a message may stand."""
TRUNCATED = 24
"""Letters and digits of a message that was cut, at least."""
NEAR = 0.6
"""How much of a text must be the same for it to be called near."""


@dataclass(frozen=True, slots=True)
class KnownText:
    """One text that can be said something about."""

    pattern: Pattern
    codes: tuple[str, ...]
    """The rules that know it."""
    topic: Topic | None = None

    @property
    def key(self) -> str:
        """Equal for wordings of one message."""
        return self.topic.name if self.topic else " ".join(self.codes)


@dataclass(frozen=True, slots=True)
class Hit:
    """One text, found in some lines."""

    known: KnownText
    start: int
    end: int
    """In the squeezed text of these lines."""


class Messages:
    """All texts that rules and topics know."""

    def __init__(self, rules: Iterable[RuleInfo], topics: Sequence[Topic]) -> None:
        codes: dict[str, list[str]] = {}
        for rule in rules:
            for text in rule.errors:
                codes.setdefault(text, []).append(rule.code)
        self.known: list[KnownText] = [
            KnownText(Pattern.of(text, template=True), topic.codes, topic) for topic in topics for text in topic.texts
        ]
        for text, of in codes.items():
            with suppress(ValueError):  # a rule of another package may hold a text that is too short to be searched for
                self.known.append(KnownText(Pattern.of(text), tuple(of)))
        needles: dict[str, list[KnownText]] = {}
        for each in self.known:
            needles.setdefault(each.pattern.needle, []).append(each)
        self._needles = list(needles.items())
        self._automaton = AhoCorasick([needle for needle, _ in self._needles])

    def search(self, lines: Squeezed) -> Iterator[Hit]:
        """Every text that stands in these lines, no word of it cut."""
        text = lines.text
        for number, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True):
            for known in self._needles[number][1]:
                if known.pattern.is_literal:
                    if lines.is_whole(start, end):
                        yield Hit(known, start, end)
                    continue
                for match in known.pattern.regex.finditer(text, max(0, start - BEFORE), end + AFTER):
                    if match.start() <= start and end <= match.end() and lines.is_whole(*match.span()):
                        yield Hit(known, *match.span())
                        break

    def begun_by(self, text: str) -> KnownText | None:
        """The message that a text is the begin of, where it was cut; None where it may be of several."""
        begin = squeezed(text)
        if len(begin) < TRUNCATED:
            return None
        found = {each.key: each for each in self.known if squeezed(each.pattern.text).startswith(begin)}
        topics = [each for each in found.values() if each.topic]
        return topics[0] if len(topics) == 1 else next(iter(found.values())) if len(found) == 1 else None

    def nearest(self, text: str) -> KnownText | None:
        """The message that is most like a text; None where none is."""
        wanted = squeezed(text)[:400]
        best, much = None, NEAR
        for each in self.known:
            matcher = SequenceMatcher(None, squeezed(each.pattern.text), wanted, autojunk=False)
            if matcher.real_quick_ratio() > much and matcher.quick_ratio() > much and matcher.ratio() > much:
                best, much = each, matcher.ratio()
        return best
