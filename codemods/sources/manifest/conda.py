"""What conda reads: the items of an environment file, with pip's own list among them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from codemods.model.edits import Skip
from codemods.sources.config.values import Array, Scalar, Table, Value, followed
from codemods.sources.manifest import pip
from codemods.sources.manifest.requirement import Entry, Piece, Requirement, RequirementList, quoted, requirement
from codemods.sources.manifest.specifiers import Dialect

_ITEM = re.compile(r"\s*(?:[^\s:]*::)?(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]*)\s*(?P<constraint>.*?)\s*")
_BUILD = re.compile(r"(={1,2}\s*[^=,|<>!~\s]+)=\S*|(={0,2}\d[^=,|<>!~\s]*)\s+[^=,|<>!~\s]\S*")


def item(piece: Piece, site: RequirementList) -> Iterator[Entry]:
    """`channel::name`, with `=2.4`, `==2.4.1`, `=2.4.1=build`, `>=2,<3` or nothing."""
    if match := _ITEM.fullmatch(piece.text):
        constraint = match.span("constraint") if match["constraint"] else (match.end("name"), match.end("name"))
        place, why_not = (match.start("name"), constraint[1]), ""
        if build := _BUILD.fullmatch(match["constraint"]):
            constraint = (constraint[0], constraint[0] + build.end(build.lastindex or 0))
            why_not = "it is pinned to one build"
        yield requirement(piece, site, match["name"], place, constraint, why_not)


def environment(path: str, text: str) -> Iterator[Entry] | Skip:
    """The `dependencies` of an environment file, with their nested `pip` lists."""
    from codemods.sources.config.yaml_nodes import compose

    roots = compose(path, text)
    if isinstance(roots, Skip):
        return roots
    return (entry for root in roots[:1] for entry in _listed(text, followed(root)))


def requirements(text: str, root: Value) -> Iterator[Requirement]:
    """What a document asks for that has both channels and dependencies, as environments of conda have."""
    if isinstance(root, Table) and root.get("channels") is not None and root.get("dependencies") is not None:
        yield from (each for each in _listed(text, root) if isinstance(each, Requirement))


def _listed(text: str, root: Value) -> Iterator[Entry]:
    ours, pips = RequirementList("dependencies", dialect=Dialect.CONDA), RequirementList("dependencies.pip")
    for value in _items(root.get("dependencies") if isinstance(root, Table) else None):
        for string in _strings(text, value):
            yield from item(string, ours)
        for each in _items(value.get("pip") if isinstance(value, Table) else None):
            for string in _strings(text, each):
                yield from pip.item(string, pips)


def _items(value: Value | None) -> Iterator[Value]:
    if isinstance(value, Array):
        yield from map(followed, value.items)


def _strings(text: str, value: Value) -> Iterator[Piece]:
    if isinstance(value, Scalar) and isinstance(value.value, str):
        yield quoted(text, value.start, value.end, len(value.style), value.value)
