"""Where a campaign stands, as a table on a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from codemods.model.visible import visible
from fixer.report.campaign import WAITING, summary

if TYPE_CHECKING:
    from rich.console import Console

    from fixer.bulk.drive import Standing
    from fixer.bulk.rows import Row

WIDEST = 2_000
STYLES = {
    "changed": "green",
    "nothing-to-do": "dim",
    "skipped-by-limit": "yellow",
    WAITING: "dim",
}


def as_text(standing: Standing) -> str:
    """The same where nobody looks at colours: a line stays a line, however long."""
    from rich.console import Console

    text = io.StringIO()
    show(Console(file=text, width=WIDEST, no_color=True, highlight=False, markup=False, emoji=False), standing)
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def show(console: Console, standing: Standing) -> None:
    """A line for each branch, those of a repository together."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("repository", overflow="fold")
    table.add_column("findings", justify="right")
    for name in ("branch", "pull request", "checks", "state"):
        table.add_column(name, overflow="fold")
    table.add_column("error", overflow="fold")
    for row in standing.rows:
        for cells in _lines(row):
            table.add_row(*cells)
    console.print(table)


def _lines(row: Row) -> Iterator[tuple[Text, ...]]:
    fixed = sum(place.fixed for place in row.places)
    found = f"{fixed:,} of {len(row.places):,}" if row.places else "·"
    for number, branch in enumerate(row.branches or (None,)):
        ending = str((branch.ending if branch else None) or row.ending or WAITING)
        detail = branch.detail or branch.verification if branch and len(row.branches) > 1 else row.detail
        cells = (
            row.name if number == 0 else "",
            found if number == 0 else "",
            branch.name if branch else "·",
            (f"#{branch.pull_request}" if branch.pull_request else "·") if branch else "·",
            (branch.verdict or "·") if branch else "·",
        )
        bad = ending not in STYLES
        yield (
            *(Text(visible(cell)) for cell in cells),
            Text(ending, STYLES.get(ending, "red")),
            Text(
                visible(" ".join(detail.split())) if bad or ending == "skipped-by-limit" else "", "red" if bad else ""
            ),
        )


def show_summary(console: Console, standing: Standing) -> None:
    """The endings counted, and what else a person should hear."""
    for row in standing.rows:
        for note in row.notes:
            console.print(Text(f"note: {visible(row.name)}: {visible(note)}"), soft_wrap=True)
    for note in standing.notes:
        console.print(Text(f"note: {visible(note)}"), soft_wrap=True)
    console.print(summary(standing.rows), soft_wrap=True)


def progress_line(done: int, total: int, row: Row) -> str:
    """`[12/400] svc-a: changed (fixer/amp)`."""
    ending = str(row.ending or WAITING)
    if row.ending is not None and row.ending.bad:
        more = f": {' '.join(row.detail.split())}"
    else:
        more = f" ({', '.join(branch.name for branch in row.branches)})" if row.branches else ""
    return visible(f"[{done:,}/{total:,}] {row.name}: {ending}{more}")
