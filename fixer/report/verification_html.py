"""A verification as one HTML page that needs nothing else: the verdict, what led to it, and the fixes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

from codemods.verify.trace import Trace, called
from fixer.report import series_chart
from fixer.report.html import LISTS, page, patched, table, text, words
from fixer.report.patch import patch
from fixer.report.verification import MEANING, columns, evidence, facts, norms, rows

if TYPE_CHECKING:
    from codemods.model.edits import Finding
    from codemods.verify.symptoms import Run
    from fixer.verify.verification import Verification

STYLE = f"""{LISTS}{series_chart.STYLE}
.verdict {{ margin: 1rem 0; padding: .75rem 1rem; border-left: 4px solid var(--fair); background: var(--card); }}
.verdict.proved, .verdict.warning-gone, .verdict.not-reproduced, .verdict.healthy {{ border-color: var(--good); }}
.verdict.refuted, .verdict.unhealthy {{ border-color: var(--bad); }}
"""
COLOURS = {"gone": "good", "new": "bad", "both": "fair", "wrong": "bad", "note": "soft"}


def render(verification: Verification) -> str:
    """The whole page."""
    word = verification.verdict
    body = [
        f"<h1>{text(word)}: <code>{text(verification.command)}</code></h1>",
        f'<p class="verdict {word}"><strong>{text(MEANING[word])}</strong><br>{words(verification.summary)}</p>',
        *_evidence(verification),
        *_runs(verification),
        *_charts(verification),
        *_fixes(verification),
        "<h2>How it was run</h2>",
        *table(("", ""), [(text(name), words(value)) for name, value in facts(verification)], 0),
    ]
    return page(f"{word}: {verification.command}", STYLE, body)


def _evidence(verification: Verification) -> Iterator[str]:
    told = [(mark, sentence) for mark, _, sentences in evidence(verification) for sentence in sentences]
    if told:
        yield "<ul>"
        for mark, sentence in told:
            yield f'<li><strong class="{COLOURS[mark]}">{mark}</strong> {words(sentence)}</li>'
        yield "</ul>"


def _runs(verification: Verification) -> Iterator[str]:
    cells = [tuple(map(text, row)) for row in rows(verification)]
    if cells:
        yield "<h2>What was seen</h2>"
        yield from table(columns(verification), cells, 0)


def _charts(verification: Verification) -> Iterator[str]:
    before, after = verification.before, verification.after
    failed = (before.error() if before else "", after.error() if after else "")
    pairs = list(zip_longest(before.traces if before else (), after.traces if after else (), fillvalue=Trace()))
    for number, (one, other) in enumerate(pairs):
        drawn = [
            (title, drawing)
            for title, was, now in (
                ("loss of each backward pass", one.losses, other.losses),
                ("norm of all gradients at each step", norms(one), norms(other)),
            )
            if (drawing := series_chart.chart(f"{title}, before and after", was, now, failed))
        ]
        if drawn and number == 0 and after:
            key = '<span class="key before">before, solid</span> · <span class="key after">after, dashed</span>'
            key += " · × failed there; at the top, inf or nan" if any(failed) or not _finite(before, after) else ""
            yield f"<h2>Losses and gradients</h2><p>{key}</p>"
        where = called(max(before.traces if before else (), after.traces if after else (), key=len), number)
        for title, drawing in drawn:
            yield f'<p class="soft">{text(f"{where}: " * bool(where) + title)}</p>{drawing}'


def _finite(*runs: Run | None) -> bool:
    numbers = (number for run in runs if run for trace in run.traces for number in (*trace.losses, *norms(trace)))
    return all(map(math.isfinite, numbers))


def _fixes(verification: Verification) -> Iterator[str]:
    if verification.fixes:
        yield "<h2>The fixes</h2><ul>"
        yield from (f"<li>{_place(finding)}</li>" for finding in verification.fixes)
        yield "</ul>"
        yield from patched(patch(verification.files))


def _place(finding: Finding) -> str:
    return f"<code>{text(finding.location)}</code> {text(finding.code)}: {words(finding.message)}"
