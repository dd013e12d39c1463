"""The rules: one file each, by family.

They are found by walking this package and the entry-point group `fixer.rules`.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from codemods.engine.prefilter import RuleInfo
    from codemods.rules.rule import Rule


class Unloadable(ImportError):
    """A rule of another package cannot be loaded."""


@cache
def load() -> tuple[Rule, ...]:
    """Every rule, by code.

    Raises:
        Unloadable: if a package offers a rule that cannot be imported, or is none.
        ValueError: if two rules share a code or a name.
    """
    import pkgutil
    from importlib.metadata import entry_points

    from codemods.rules.rule import Rule

    rules: list[Rule] = []
    for info in pkgutil.walk_packages(__path__, __name__ + "."):
        if not info.ispkg and isinstance(rule := getattr(importlib.import_module(info.name), "rule", None), Rule):
            rule.module = info.name
            rules.append(rule)
    for entry in entry_points(group="fixer.rules"):
        rules.append(_plugged(entry))
    for key in ("code", "name"):
        seen: dict[str, str] = {}
        for rule in rules:
            value = getattr(rule, key)
            if value in seen:
                raise ValueError(f"two rules have the {key} {value!r}: {seen[value]} and {rule.module}")
            seen[value] = rule.module
    return tuple(sorted(rules, key=lambda rule: rule.code))


def loaded(info: Rule | RuleInfo) -> Rule:
    """The rule that data tells of; its module is imported, and no other rule.

    Raises:
        Unloadable, ValueError: as `load`, for a rule of another package.
    """
    from codemods.rules.rule import Rule

    if isinstance(info, Rule):
        return info
    if not info.module.startswith(f"{__name__}."):
        return next(rule for rule in load() if rule.code == info.code)
    rule: Rule = importlib.import_module(info.module).rule
    rule.module = info.module
    return rule


def _plugged(entry: EntryPoint) -> Rule:
    """The rule behind an entry point."""
    from codemods.rules.rule import Rule

    try:
        rule = entry.load()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise Unloadable(f"the rule {entry.value} cannot be loaded ({why}): repair or uninstall its package") from error
    if not isinstance(rule, Rule):
        must = f"the entry point {entry.name} must name a `codemods.rules.rule.Rule`"
        raise Unloadable(f"{entry.value} is no rule: {must}")
    rule.module = entry.module
    return rule
