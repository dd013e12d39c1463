"""Over real notebooks, lines are set to themselves and to something new: `python tests/sweep_notebooks.py DIR`.

For every notebook below DIR: decoding and encoding gives the same bytes; for at most 50 source lines, setting a line
to itself changes no byte, and appending to it changes only its own span, so that the JSON holds what was meant.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from codemods.model.edits import Skip
from codemods.sources import notebook
from codemods.sources.notebook import NotebookSource

LINES = 50


def main() -> None:
    counts: Counter[str] = Counter()
    for path in sorted(Path(sys.argv[1]).rglob("*.ipynb")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        counts["notebooks"] += 1
        counts["code cells"] += len(notebook.cells(data))
        for unit in notebook.units(str(path), data):
            source = notebook.decode(unit, data)
            if isinstance(source, Skip):
                counts["skipped"] += 1
                print(f"{source.path}: {source.detail}")
                continue
            counts["units"] += 1
            counts["cells read"] += len(source.parts)
            counts["masks"] += sum(len(part.masks) for part in source.parts)
            counts["installs"] += len(source.installs)
            for note in source.notes:
                counts["notes"] += 1
                print(f"{unit}: {note}")
            assert source.encode(source.text) == data, unit
            sweep(source, data, counts)
    print(", ".join(f"{name}: {count:,}" for name, count in counts.items()))


def sweep(source: NotebookSource, data: bytes, counts: Counter[str]) -> None:
    """Change lines of one unit, one at a time."""
    chosen = list(re.finditer(r"^.*?(?=\r?$)", source.text, re.MULTILINE))
    random.Random(source.path).shuffle(chosen)
    before = said(data)
    written = dict(notebook.cells(data))
    names = {mask.name for part in source.parts for mask in part.masks}
    for line in chosen[:LINES]:
        if line[0].startswith(source.mark) or not names.isdisjoint(re.findall(r"\w+", line[0])):
            counts["marks and magics"] += 1
            continue
        start, end = line.span()
        cell, number, column = source.position(start)
        if cell is None or written[cell].split("\n")[number - 1].rstrip("\r") != line[0]:
            counts["magics that go on"] += 1
            continue
        assert source.encode(source.text[:start] + line[0] + source.text[end:]) == data
        after = source.encode(f"{source.text[:end]}  # é{source.text[end:]}")
        counts["lines"] += 1
        assert said(after) == intended(before, cell, number), source.path
        head = common(data, after)
        tail = min(common(data[::-1], after[::-1]), len(data) - head)
        assert head + tail == len(data), f"{source.path}: more than one place changed"
        added = after[head : len(after) - tail]
        own = data.count(b"\n", 0, head) + 1 - added.count(b"\n") == source.file_line(start)
        if line[0] or b'"' not in added:
            assert own and column == 1 and len(added) <= len("  # \\u00e9"), (source.path, added)
        else:
            counts["strings added for an empty last line"] += 1


def common(a: bytes, b: bytes) -> int:
    """How many bytes both begin with."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low


def said(data: bytes) -> Any:
    """What a notebook says, each source as one string."""
    whole = json.loads(data)
    for cell in whole["cells"]:
        cell["source"] = "".join(cell.get("source", ""))
    return whole


def intended(before: Any, number: int, line: int) -> Any:
    """What it says once a comment is added to a line of a cell."""
    cell = before["cells"][number - 1]
    lines = cell["source"].split("\n")
    lines[line - 1] = re.sub(r"(\r?)\Z", r"  # é\1", lines[line - 1], count=1)
    changed = {**cell, "source": "\n".join(lines)}
    return {**before, "cells": [*before["cells"][: number - 1], changed, *before["cells"][number:]]}


if __name__ == "__main__":
    main()
