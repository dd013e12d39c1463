"""The gradient-flow report as one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemods.verify.flow import FlowRun, Layer
from codemods.verify.flow_symptoms import unused
from fixer.report.flow import outcome, where
from fixer.report.flow_chart import chart
from fixer.report.flow_rows import notes, types
from fixer.report.html import page as shell
from fixer.report.html import text
from fixer.report.tally import plural

if TYPE_CHECKING:
    from codemods.verify.flow import FlowSide
    from fixer.verify.flow_report import FlowReport

STYLE = """
:root { --before: #bc4c00; --after: #0969da; }
@media (prefers-color-scheme: dark) { :root { --before: #f0883e; --after: #58a6ff; } }
.verdict { margin: 1rem 0; padding: .75rem 1rem; border-left: 4px solid var(--soft); background: var(--card); }
.verdict.proved, .verdict.healthy, .verdict.not-reproduced { border-color: var(--good); }
.verdict.refuted, .verdict.unhealthy, .verdict.unrepaired { border-color: var(--bad); }
.state { font-weight: 600; }
ul.symptoms { list-style: none; padding: 0; } .symptoms li { margin: 0 0 .9rem; }
svg { display: block; width: 100%; min-width: 40rem; height: auto; }
svg text { font-size: 11px; fill: var(--ink); } svg .tick { fill: var(--soft); } svg .grid { stroke: var(--line); }
svg .link { stroke: var(--soft); stroke-width: 1.5; opacity: .6; }
svg .before { fill: none; stroke: var(--before); stroke-width: 2; } svg .after { fill: var(--after); }
svg .none { stroke: var(--bad); stroke-width: 2; fill: none; } svg .none.later { stroke-dasharray: 3 2; }
"""
WORDS = {"gone": ("gone", "good"), "new": ("new", "bad"), "uncovered": ("seen now", "bad"), "there": ("wrong", "bad")}


def page(report: FlowReport) -> str:
    """The whole page."""
    side = report.before if report.before.runs else report.after or report.before
    body = [
        f"<h1>Gradient flow of <code>{text(report.module)}</code></h1>",
        f'<p class="soft">{text(_subject(side))}</p>',
        f'<p class="verdict {report.verdict}"><strong>{report.verdict}</strong>: {text(report.summary)}</p>',
    ]
    if report.before.trouble and report.before.trace:
        body.append(f"<pre>{text(report.before.trace)}</pre>")
    if side.runs:
        body += ["<h2>Runs</h2>", _runs(report, side)]
    if report.symptoms:
        body += ["<h2>What is wrong</h2>", _symptoms(report, side)]
    trained = [run for run in side.runs if run.mode == "train" and run.layers]
    if trained:
        bad = {title for explained in report.symptoms for title in explained.symptom.runs}
        focus = next((run for run in trained if run.title in bad), trained[0])
        body.append("<h2>Gradient norms, layer by layer</h2>")
        body += [_run(report, side, run, opened=run is focus) for run in trained]
    if report.notes:
        body += ["<h2>Notes</h2>", "<ul>", *(f"<li>{text(note)}</li>" for note in report.notes), "</ul>"]
    return shell(f"Gradient flow of {report.module}", STYLE, body)


def _subject(side: FlowSide) -> str:
    survey = side.survey
    parameters = sum(len(layer.trainable) + len(layer.frozen) for layer in survey.layers)
    versions = ", ".join(f"{name} {version}" for name, version in side.versions.items())
    if not survey.module:
        return versions
    counted = f"{plural(len(survey.layers), 'layer')}, {plural(parameters, 'parameter')}, {survey.elements:,} numbers"
    return f"{survey.module}: {counted}; {versions}"


def _runs(report: FlowReport, side: FlowSide) -> str:
    lines = ["<table><tr><th>run</th><th>before</th><th>after the fixes</th><th></th></tr>"]
    for run in side.runs:
        before, after = report.before.run(run), report.after.run(run) if report.after else None
        last = outcome(after) if report.after else "nothing to fix"
        error = next((side.error for side in (after, before, run) if side is not None and side.error), "")
        lines.append(
            f"<tr><td>{text(run.title)}</td><td>{text(outcome(before))}</td><td>{text(last)}</td>"
            f'<td class="soft">{text(error[:300])}</td></tr>'
        )
    caption = "Of a training run that went through: how many of the trainable parameters got a gradient."
    return "\n".join((*lines, "</table>", f'<p class="soft">{caption}</p>'))


def _symptoms(report: FlowReport, side: FlowSide) -> str:
    lines = ['<ul class="symptoms">']
    for explained in report.symptoms:
        symptom = explained.symptom
        quiet = symptom.note and symptom.state in ("there", "uncovered")
        word, style = ("note", "soft") if quiet else WORDS[symptom.state]
        details = "<br>".join(
            f'<span class="soft">{text(part)}</span>'
            for part in (where(symptom, side), symptom.cause, explained.sentence)
            if part
        )
        lines.append(f'<li><span class="state {style}">{word}</span>: {text(symptom.sentence)}<br>{details}</li>')
    return "\n".join((*lines, "</ul>"))


def _run(report: FlowReport, side: FlowSide, run: FlowRun, *, opened: bool) -> str:
    other = report.after.run(run) if report.after is not None and side is report.before else None
    return (
        f"<details{' open' if opened else ''}><summary>{text(run.title)}</summary>\n"
        f'<div class="wide">{chart(side.survey.layers, run, other)}</div>\n'
        f'<details><summary>all layers</summary><div class="wide">{_layers(side, run, other)}</div></details></details>'
    )


def _layers(side: FlowSide, run: FlowRun, other: FlowRun | None) -> str:
    lines = ["<table><tr><th>layer</th><th>class</th><th>output</th><th>before</th><th></th><th>after</th></tr>"]
    idle = frozenset(unused(run, side))
    for layer in side.survey.layers:
        cells = (layer.name or "(the module)", layer.kind, types((layer,), run))
        lines.append(
            "<tr>"
            + "".join(f"<td>{text(cell)}</td>" for cell in cells)
            + f'<td class="number">{_norm(layer, run)}</td><td class="bad">{text(notes(layer, run, idle))}</td>'
            + f'<td class="number">{_norm(layer, other)}</td></tr>'
        )
    return "\n".join((*lines, "</table>"))


def _norm(layer: Layer, run: FlowRun | None) -> str:
    if run is None or not layer.trainable or not run.gradients:
        return ""
    norm = run.gradient(layer)
    return '<span class="bad">none</span>' if norm is None else f"{norm:.3g}"
