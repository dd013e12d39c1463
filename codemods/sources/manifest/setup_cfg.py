"""The requirements of setup.cfg, read as the standard library's `configparser` reads it, with places."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator

from codemods.model.edits import Skip, SkipReason
from codemods.sources.manifest import pip
from codemods.sources.manifest.requirement import Entry, Include, Piece, RequirementList, python

_OPTION = re.compile(r"(?P<key>.*?)\s*[=:]\s*(?P<value>.*)")
_EXTRAS = "options.extras_require"


def requirements(path: str, text: str) -> Iterator[Entry] | Skip:
    """`install_requires`, `extras_require` and `python_requires`.

    Raises:
        configparser.Error: if it is not such a file.
    """
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    found = _options(text)
    for (section, key), pieces in found.items():
        if section.startswith("options"):
            if [piece.text for piece in pieces] != _lines(parser.get(section, key, fallback="")):
                return Skip(path, SkipReason.NO_ROUND_TRIP, f"the lines of {key} in [{section}] cannot be placed")
    return _entries(text, found)


def _lines(value: str) -> list[str]:
    return [line.strip() for line in value.split("\n") if line.strip()]


def _entries(text: str, found: dict[tuple[str, str], list[Piece]]) -> Iterator[Entry]:
    for (section, key), pieces in found.items():
        if section == "options" and key == "python_requires":
            yield from (python(piece, RequirementList("options.python_requires")) for piece in pieces[:1])
        elif (section == "options" and key == "install_requires") or section == _EXTRAS:
            site = RequirementList(f"{section}.{key}", f"extra {key}" if section == _EXTRAS else "")
            if pieces and pieces[0].text.startswith("file:"):
                names = " ".join(piece.text for piece in pieces).removeprefix("file:")
                yield from (Include(name, site.condition) for name in re.split(r"[,\s]+", names.strip()))
            else:
                for piece in pieces:
                    for part in _divided(piece) if len(pieces) == 1 and _behind_key(text, piece) else (piece,):
                        yield from pip.item(part, site)


def _behind_key(text: str, piece: Piece) -> bool:
    return not text[text.rfind("\n", 0, piece.start) + 1 : piece.start].isspace()


def _divided(piece: Piece) -> Iterator[Piece]:
    """A value on the line of its key: setuptools divides it at semicolons, so that no marker can stand there."""
    for part in re.finditer(r"[^;]+", piece.text):
        yield Piece(part[0], *piece.span(*part.span()))


def _options(text: str) -> dict[tuple[str, str], list[Piece]]:
    """(section, key) → the lines of its value that are not empty; a key given twice counts as given last."""
    found: dict[tuple[str, str], list[Piece]] = {}
    section, current, indent, start = "", None, 0, 0
    for line in re.split(r"(?<=\n)", text):
        bare = line.strip()
        first = start + len(line) - len(line.lstrip())
        start += len(line)
        if not bare or bare.startswith(("#", ";")):
            continue
        depth = first - (start - len(line))
        if current is not None and depth > indent:
            current.append(Piece(bare, first, first + len(bare)))
            continue
        indent, current = depth, None
        if header := re.match(r"\[(.+)\]", bare):
            section = header[1]
        elif option := _OPTION.fullmatch(bare):
            current = found[section, option["key"].lower()] = []
            if option["value"]:
                begin = first + option.start("value")
                current.append(Piece(option["value"], begin, begin + len(option["value"])))
    return found
