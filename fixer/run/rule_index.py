"""The cards of all rules, which say what there is and what may concern a file; the rules themselves load slowly.

`python -m fixer.run.rule_index` writes `fixer/run/rule_table.py` anew, after a rule, or what its gate is made with, has
changed.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from codemods import transforms
from codemods.engine.prefilter import Card
from fixer.run import rule_table

_CODEMODS = Path(transforms.__file__).parents[1]
_BESIDE = ("engine/prefilter.py", "model/names.py", "rules/rule.py")
"""What the gates of the rules are made with, beside the rules."""


@cache
def cards() -> tuple[Card, ...]:
    """The cards of all rules, by code. No rule is loaded where the table says it all.

    Raises:
        codemods.transforms.Unloadable, ValueError: as `codemods.transforms.load`.
    """
    if digest() == rule_table.DIGEST and not entry_points(group="fixer.rules"):
        return rule_table.CARDS
    return tuple(map(Card.of, transforms.load()))


def digest() -> str:
    """What stands for all that the cards of our own rules are made of."""
    made = hashlib.sha256()
    rooms = [path for room in ("transforms", "frameworks") for path in sorted(_CODEMODS.joinpath(room).rglob("*.py"))]
    for path in (*rooms, *(_CODEMODS / name for name in _BESIDE)):
        made.update(path.read_bytes())
    return made.hexdigest()


def written() -> str:
    """The table, as it should be."""
    own = [Card.of(rule) for rule in transforms.load() if rule.module.startswith("codemods.")]
    lines = [
        '"""The cards of the rules, made of them by `python -m fixer.run.rule_index`."""',
        "",
        "# fmt: off",
        "# ruff: noqa: E501",
        "from codemods.engine.prefilter import Card",
        "",
        f'DIGEST = "{digest()}"',
        '"""Of the files that the cards were made of; beside others they are not believed."""',
        "CARDS = (",
        *(f"    {card!r}," for card in own),
        ")",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(rule_table.__file__).write_text(written(), encoding="utf-8")
