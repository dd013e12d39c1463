"""Which rules run and which findings count; every word that names no rule and no consequence is refused."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemods.model.edits import Consequence, Finding
from fixer.errors import Refusal

if TYPE_CHECKING:
    from codemods.engine.prefilter import AnyRule, RuleInfo
    from codemods.model.plan import Target
    from codemods.rules.rule import Rule

CONSEQUENCES = tuple(map(str, sorted(Consequence, reverse=True)))


def split_codes(values: Iterable[str]) -> tuple[str, ...]:
    """`--select A,B --select C` as one tuple; codes may be written in lower case."""
    words = (word for value in values for word in re.split(r"[\s,]+", value) if word)
    return tuple(word if word in CONSEQUENCES or "-" in word else word.upper() for word in words)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which findings count, by consequence. Plain data: it crosses to worker processes."""

    select: tuple[str, ...] = ()
    """Consequences; none: every one."""
    codes: tuple[str, ...] = ()
    """Codes and prefixes that were selected beside them."""
    ignore: tuple[str, ...] = ()
    """Consequences that never count."""

    def __call__(self, finding: Finding) -> bool:
        """Whether a finding counts."""
        consequence = str(finding.consequence)
        if consequence in self.ignore:
            return False
        return not self.select or consequence in self.select or finding.code.startswith(self.codes)


EVERY = Wanted()


@dataclass(frozen=True, slots=True)
class NamedFindings:
    """Which findings count, by their fingerprints. Plain data: it crosses to worker processes."""

    only: tuple[str, ...] = ()
    """Fingerprints, or how they begin; none: every one."""
    known: frozenset[str] = frozenset()
    """Fingerprints that never count."""

    def __call__(self, finding: Finding) -> bool:
        """Whether a finding counts."""
        fingerprint = finding.fingerprint
        return fingerprint not in self.known and (not self.only or fingerprint.startswith(self.only))


ALL_FINDINGS = NamedFindings()


def fingerprints(values: Iterable[str], option: str = "--only") -> tuple[str, ...]:
    """`--only A,B --only C` as one tuple.

    Raises:
        Refusal: if a word cannot be how a fingerprint begins.
    """
    words = tuple(word.lower() for value in values for word in re.split(r"[\s,]+", value) if word)
    for word in words:
        if not re.fullmatch(r"[0-9a-f]{4,16}", word):
            raise Refusal(f"{option} {word!r}: write at least four digits of a `fingerprint` of `check --format json`")
    return words


def check_fingerprints(words: Iterable[str], findings: Sequence[Finding], option: str = "--only") -> None:
    """Refuse a word that no fingerprint begins with, or several.

    Raises:
        Refusal: with the findings that are meant.
    """
    for word in words:
        meant = {finding.fingerprint: finding for finding in findings if finding.fingerprint.startswith(word)}
        if not meant:
            raise Refusal(f"{option} {word}: no finding has this fingerprint; `fixer check --format json` tells them")
        if len(meant) > 1:
            some = ", ".join(f"{each.fingerprint} ({each.code} {each.location})" for each in [*meant.values()][:3])
            raise Refusal(f"{option} {word}: {len(meant)} findings begin with it, such as {some}: give more digits")


def wanted(select: Iterable[str], ignore: Iterable[str]) -> Wanted:
    """Which findings the words of a selection let through."""
    select, ignore = tuple(select), tuple(ignore)
    consequences = tuple(word for word in select if word in CONSEQUENCES)
    codes = tuple(word for word in select if word not in CONSEQUENCES)
    return Wanted(consequences, codes if consequences else (), tuple(word for word in ignore if word in CONSEQUENCES))


def enabled(
    rules: Sequence[AnyRule],
    *,
    select: Sequence[str] | None,
    ignore: Sequence[str],
    more_select: Sequence[str] = (),
    more_ignore: Sequence[str] = (),
) -> tuple[AnyRule, ...]:
    """The rules that run.

    The longest word that fits a rule decides; of equally long ones the command line's (`more_…`) does, then `ignore`.
    A selection on the command line replaces that of the configuration. Where a consequence is selected, every rule
    runs: only the finding tells what it costs.
    """
    chosen = tuple(more_select) or (("",) if select is None else tuple(select))
    words = [("" if word in CONSEQUENCES else word, 1 if more_select else 0, True) for word in chosen]
    words += [(word, 0, False) for word in ignore]
    words += [(word, 1, False) for word in more_ignore]

    def runs(rule: AnyRule) -> bool:
        fitting = [(len(word), level, not on) for word, level, on in words if rule.code.startswith(word)]
        return bool(fitting) and not max(fitting)[2]

    return tuple(rule for rule in rules if runs(rule))


def check_codes(codes: Iterable[str], rules: Sequence[Rule | RuleInfo], where: str) -> None:
    """Refuse a word that is neither a consequence nor a code or prefix that fits a rule, naming close ones.

    Args:
        where: what the person wrote it in, such as `--select`.
    """
    for code in codes:
        if code not in CONSEQUENCES and not any(rule.code.startswith(code) for rule in rules):
            raise Refusal(f"{where}: there is no rule {code!r}{close_to(code, rules)}")


def close_to(code: str, rules: Sequence[Rule | RuleInfo]) -> str:
    """`; did you mean PL001 or PL002?`, or a hint where to look."""
    by_name = {rule.name: rule.code for rule in rules}
    known = sorted({*(rule.code for rule in rules), *(rule.family for rule in rules)})
    close = [by_name[code]] if code in by_name else difflib.get_close_matches(code.upper(), known, n=3, cutoff=0.6)
    close = close or difflib.get_close_matches(code.lower(), CONSEQUENCES, n=1, cutoff=0.6)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return f"; {hint}`fixer rules` lists all" if not hint else f"; {hint.strip()}"


def is_known(word: str, rules: Sequence[Rule]) -> bool:
    """Whether a word is the code, the name or the family of a rule."""
    return any(word.upper() in (rule.code, rule.family) or word == rule.name for rule in rules)


def find(code: str, rules: Sequence[Rule]) -> Rule:
    """The rule of exactly that code.

    Raises:
        Refusal: if there is none.
    """
    for rule in rules:
        if rule.code == code.upper() or rule.name == code:
            return rule
    raise Refusal(f"there is no rule {code!r}{close_to(code, rules)}")


def of_family(word: str, rules: Sequence[Rule]) -> list[Rule]:
    """The rules of a family such as `AMP`; nothing where there is none of that name."""
    return [rule for rule in rules if rule.family == word.upper()]


def pairs(values: Iterable[str], option: str) -> dict[str, str]:
    """`CODE=NAME` words as a dictionary."""
    found = {}
    for value in values:
        key, equals, name = value.partition("=")
        if not (key and equals and name):
            raise Refusal(f"{option} {value!r}: write CODE=NAME")
        found[key.strip().upper()] = name.strip()
    return found


def check_strategies(strategies: Mapping[str, str], rules: Sequence[Rule | RuleInfo], where: str) -> None:
    """Refuse a strategy that its rule does not offer, naming those it does."""
    by_code = {rule.code: rule for rule in rules}
    for code, name in strategies.items():
        if code not in by_code:
            raise Refusal(f"{where}: there is no rule {code!r}{close_to(code, rules)}")
        offered = by_code[code].strategies
        if name not in offered:
            close = difflib.get_close_matches(name, offered, n=1)
            choice = f"choose one of {', '.join(offered)}" if offered else "it has a single way to repair"
            choice = f"did you mean {close[0]}? {choice}" if close else choice
            raise Refusal(f"{where}: {code} has no strategy {name!r}; {choice}")


def targets(values: Iterable[str], option: str = "--target", source: str = "--target") -> tuple[Target, ...]:
    """`torch=2.4` (any 2.4), `torch==2.4.1` or `torch>=2.4,<3`, each as the versions that hold whatever files say.

    Args:
        option: what the person wrote them in.
        source: what they are said to be from.
    """
    found: dict[str, Target] = {}
    for value in values:
        from codemods.project.versions import parse_target

        try:
            target = parse_target(value, option, source)
        except ValueError as error:
            raise Refusal(str(error)) from None
        found[target.package] = target
    return tuple(found.values())


def target_text(package: str, spec: str) -> str:
    """A package and its versions, from a table of settings, as one would write them behind `--target`."""
    return f"{package}{spec}" if spec.startswith(tuple("<>=!~^")) else f"{package}={spec}"
