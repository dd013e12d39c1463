"""Messages about names that releases removed, made of the tables that the rules read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codemods.frameworks.removed_names.drafts import said
from codemods.frameworks.removed_names.tables import RemovedName, rows
from fixer.diagnose.topics import Cause, Topic

_GONE = "got an unexpected keyword argument '{}'"
_STEP = "This is about versions: running the program again tells no more. Change the call at the frame shown."
_DISTINCT = 12
"""Letters of an argument's name that nothing else is called."""


def _topics() -> Iterator[Topic]:
    by_name: dict[tuple[str, str], list[RemovedName]] = {}
    taken: Counter[str] = Counter()
    for row in rows():
        if row.rule and row.place in _TEXTS:
            by_name.setdefault((row.place, row.old), []).append(row)
    for (place, _), same in by_name.items():
        for code in dict.fromkeys(row.rule for row in same):
            mine = [row for row in same if row.rule == code]
            texts = tuple(dict.fromkeys(text for row in mine for text in _TEXTS[place](row, len(same) == len(mine))))
            if texts:
                topic = _topic(mine, texts)
                taken[topic.name] += 1  # names that differ in capitals only
                yield topic if taken[topic.name] == 1 else replace(topic, name=f"{topic.name}-{taken[topic.name]}")


def _topic(same: Sequence[RemovedName], texts: tuple[str, ...]) -> Topic:
    """What is known of one old name."""
    first = same[0]
    meaning = "; ".join(dict.fromkeys(said(row, gone=bool(row.gone)) for row in same[:3])).rstrip(".") + "."
    release = f"{first.library} {first.gone or first.deprecated}"
    cure = f"`{first.new}`" if first.kind == "rename" else first.decide or f"delete `{first.old}`"
    written = Cause(f"the code was written before {release}", f"`pip show {first.library}`", cure, (first.rule,))
    name = re.sub(r"[^a-z0-9]+", "-", f"{first.rule}-{first.place}-{first.old}".lower().replace("._", ".private-"))
    return Topic(name, texts, meaning, (written,), (first.rule,), watch=False, step=_STEP)


def _argument(row: RemovedName, distinct: bool) -> Iterator[str]:
    last = row.owner.rpartition(".")[2]
    if row.gone:
        if distinct and len(row.old) >= _DISTINCT:
            yield f"__init__() {_GONE.format(row.old)}"
        elif last[:1].isupper():
            yield f"{last}.__init__() {_GONE.format(row.old)}"
    if distinct and len(row.old) >= _DISTINCT and row.deprecated:
        yield f"`{row.old}` is deprecated"


def _name(row: RemovedName, _: bool) -> Iterator[str]:
    module, _dot, name = row.old.rpartition(".")
    for each in dict.fromkeys((module, module.replace("lightning.pytorch", "pytorch_lightning", 1))):
        yield f"cannot import name '{name}' from '{each}'"
        yield f"module '{each}' has no attribute '{name}'"


def _attribute(row: RemovedName, _: bool) -> Iterator[str]:
    if row.gone:
        yield f"'{row.owner.rpartition('.')[2]}' object has no attribute '{row.old}'"


def _hook(row: RemovedName, _: bool) -> Iterator[str]:
    if row.gone and not row.silent:
        yield f"Support for `{row.old}` has been removed in v{row.gone}"


_TEXTS = {"argument": _argument, "name": _name, "attribute": _attribute, "hook": _hook}

TOPICS = tuple(_topics())
