"""What a shell completes beside commands, options and files: codes of rules, consequences, strategies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemods.engine.prefilter import RuleInfo

Completions = list[tuple[str, str]]
"""Words, each with what it means: in a few words, for a shell takes each line as a word of its own."""


def codes(incomplete: str) -> Completions:
    """The codes and families of rules that begin so, behind the codes that are there already (`AMP001,PL`)."""
    before, comma, word = incomplete.rpartition(",")
    rules = _rules()
    known = {rule.code: rule.name for rule in rules}
    known |= {rule.family: f"the rules {rule.family}001 …" for rule in reversed(rules)}
    return [(before + comma + code, known[code]) for code in sorted(known) if code.startswith(word)]


def codes_and_consequences(incomplete: str) -> Completions:
    """The same, and what findings cost (`silent`)."""
    from fixer.project.selectors import CONSEQUENCES

    before, comma, word = incomplete.rpartition(",")
    costs = [(before + comma + cost, "what findings cost") for cost in CONSEQUENCES if word and cost.startswith(word)]
    return [*codes(incomplete), *costs]


def strategies(incomplete: str) -> Completions:
    """`CODE=NAME` of every strategy that begins so."""
    pairs = [(f"{rule.code}={name}", rule.name) for rule in _rules() for name in rule.strategies]
    return [(pair, name) for pair, name in pairs if pair.startswith(incomplete)]


def _rules() -> tuple[RuleInfo, ...]:
    from fixer.run import cache_directory
    from fixer.run.rule_index import rule_infos

    return rule_infos(cache_directory.directory())
