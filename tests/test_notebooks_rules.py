"""Every rule in a notebook: the findings of a fixture, at the same places, and what its fix makes of the code.

A few fixtures of each rule are laid out as one cell, as a cell per statement, and with a magic in every block.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pytest
from cases import Case, hold

from codemods.model.edits import Finding, Safety
from codemods.model.plan import Plan
from codemods.transforms import load

MAGICS = ("%matplotlib inline", "!nvidia-smi | head -n 3", "%%time")


@dataclass(frozen=True)
class Layout:
    """The cells of a notebook that hold a file, line by line, and magics of their own."""

    cells: tuple[str, ...]

    @property
    def places(self) -> list[tuple[int, int]]:
        """Cell and line, from 1, of each line of the file."""
        return [
            (number, line)
            for number, source in enumerate(self.cells, 1)
            for line, text in enumerate(source.split("\n"), 1)
            if text.strip() not in MAGICS
        ]

    def joined(self, sources: Iterable[str]) -> str:
        """The file that the cells hold now; one that has lost all it held counts as a line that is gone."""
        both = [(_without_magics(old), _without_magics(new)) for old, new in zip(self.cells, sources, strict=True)]
        return "\n".join("\n".join(new) for old, new in both if old and (new != [""] or old == [""]))


def _without_magics(source: str) -> list[str]:
    lines = [line for line in source.split("\n") if line.strip() not in MAGICS]
    return lines or [""] * (source.strip() == "%%time")


def one_cell(text: str) -> Layout:
    return Layout((text,))


def cell_per_statement(text: str) -> Layout:
    """Comments go with the statement below; every other cell is timed, and magics stand between."""
    lines = text.split("\n")
    starts, end = [0], 0
    for node in ast.parse(text).body:
        first = _first_line(node)
        while first > end and lines[first - 1].startswith("#"):
            first -= 1
        if first >= end > 0:
            starts.append(first)
        end = node.end_lineno or 0
    cells: list[str] = []
    for number, (begin, stop) in enumerate(zip(starts, [*starts[1:], len(lines)], strict=True)):
        cells += [f"{MAGICS[0]}\n{MAGICS[1]}"] * bool(cells)
        cells.append("\n".join(["%%time"] * (number % 2) + lines[begin:stop]))
    return Layout(tuple(cells))


def magic_in_every_block(text: str) -> Layout:
    """Above every first statement of a block, indented as it is."""
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        for block in ("body", "orelse", "finalbody"):
            match [] if isinstance(node, ast.Module) else getattr(node, block, None):
                case [ast.stmt() as first, *_] if not _is_text(first):
                    at = _first_line(first)
                    written = lines[at].split("\n")[-1]
                    indent = written[: len(written) - len(written.lstrip())]
                    if len(indent) == first.col_offset and not written.lstrip().startswith("elif"):
                        end = "\r" * written.endswith("\r")
                        lines[at] = f"{indent}{MAGICS[1]}{end}\n{written}"
    return Layout(("\n".join(lines),))


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


LAYOUTS: dict[str, Callable[[str], Layout]] = {
    "one cell": one_cell,
    "a cell per statement": cell_per_statement,
    "a magic in every block": magic_in_every_block,
}
CAUTIOUS = {
    ("ATT001", "fastpath_off_global", "a cell per statement"): "the imports end where a magic stands",
    ("AMP001", "hoist", "a magic in every block"): "the block is not the first thing in its region",
    ("AMP010", "narrow_loop", "a magic in every block"): "the loop is not all that the region holds",
    ("CKP002", "example", "a magic in every block"): "not the text that freezes embeddings",
    ("GRD001", "shapes", "a magic in every block"): "a block that holds a magic stays",
    ("GRD001", "unsure", "a magic in every block"): "a block that holds a magic stays",
    ("GRD003", "shapes", "a magic in every block"): "a block that holds a magic stays",
    ("GRD003", "with_the_cut", "a magic in every block"): "a block that holds a magic stays",
    ("PL001", "shapes", "a magic in every block"): "a property with a magic in it is more than a constant",
}
"""Where a magic rightly makes a difference: a finding may be missing or less safe, and the text another."""


def notebook(sources: Iterable[str]) -> bytes:
    cells: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": re.findall(r"[^\n]*\n|[^\n]+", source),
        }
        for source in sources
    ]
    whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode()


def sources(data: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(data)["cells"]]


Place = tuple[int | None, int]


def said(finding: Finding, place: Place) -> tuple[tuple[Place, int, str], Safety, str | None, str]:
    return (place, finding.reported.column, finding.code), finding.safety, finding.strategy, finding.claim


@pytest.mark.law
@pytest.mark.parametrize("code", [rule.code for rule in load() if rule.triggers])
@pytest.mark.few(15)
def test_fixtures_in_a_notebook(code: str, chosen: list[Case]) -> None:
    def law(case: Case) -> None:
        text = case.files["case.py"].decode()
        as_file = case.run()
        for layout, cells in LAYOUTS.items():
            in_cells(case, layout, text, cells(text), as_file)

    hold(law, {f"{case.name}-{case.kind}": case for case in chosen if case.rule.code == code and case.python})


def in_cells(case: Case, layout: str, text: str, cut: Layout, there: Plan) -> None:
    """What a fixture, as a notebook, says and becomes: as the file does."""
    assert cut.joined(cut.cells) == text, layout
    before = notebook(cut.cells)
    here = case.run({"case.ipynb": before})
    assert [skip.detail for skip in here.skips] == [], layout
    found = [said(f, (f.cell, f.reported.line)) for f in here.findings]
    expected = [said(f, cut.places[f.reported.line - 1]) for f in there.findings]
    if (case.rule.code, case.name, layout) in CAUTIOUS:
        safest = {place: safety for place, safety, *_ in expected}
        assert all(safety <= safest[place] for place, safety, *_ in found), layout
        return
    assert found == expected, layout
    after = next((f.after for f in here.changed), before)
    assert cut.joined(sources(after)) == next((f.after for f in there.changed), text.encode()).decode(), layout
