"""The gradient-flow report on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from codemods.model.visible import visible
from codemods.verify.flow import FlowRun, FlowSide
from codemods.verify.flow_symptoms import FlowSymptom
from fixer.report.flow_rows import LayerRow, rows
from fixer.report.tally import plural

if TYPE_CHECKING:
    from rich.console import Console

    from fixer.verify.flow_report import Explained, FlowReport

STATES = {"gone": "green", "new": "bold red", "uncovered": "yellow", "there": "red"}
WORDS = {"proved": "bold green", "healthy": "bold green", "not-reproduced": "bold green", "refuted": "bold red"}
MARKS = {  # "no gradient" is said by the number that is not there
    "raises here": "raises",
    "called with gradients off": "grad off",
    "loses requires_grad": "cut here",
    "weights cached without gradient": "cached",
    "never called": "unused",
    "no gradient": "",
}
DEPTH = 3
"""Levels of the tree that are shown without a reason."""


def show(console: Console, report: FlowReport, *, verbose: bool = False) -> None:
    """The runs, what is wrong in them, the layers, and the verdict."""
    console.print(head(report))
    side = report.before if report.before.runs else report.after or report.before
    if side.runs:
        console.print()
        console.print(matrix(report))
    if report.before.trace and report.before.trouble:
        console.print(Text(visible(report.before.trace), "dim"))
    for explained in report.symptoms:
        console.print()
        console.print(told(explained, side))
    for focus in focuses(report, everything=verbose):
        console.print()
        console.print(layers(report, focus, depth=99 if verbose else DEPTH, width=console.width))
    console.print()
    for note in report.notes:
        console.print(Text(f"note: {visible(note)}", "dim"))
    line = Text(report.verdict, WORDS.get(report.verdict, "bold yellow"))
    console.print(line.append(f": {visible(report.summary)}", "default not bold"))


def head(report: FlowReport) -> Text:
    """What was watched, and under what."""
    side = report.before if report.before.runs else report.after or report.before
    survey, line = side.survey, Text(visible(report.module), "bold")
    if survey.module:
        parameters = sum(len(layer.trainable) + len(layer.frozen) for layer in survey.layers)
        frozen = sum(len(layer.frozen) for layer in survey.layers)
        line.append(f" → {visible(survey.module)}", "bold")
        line.append(f": {plural(len(survey.layers), 'layer')}, {plural(parameters, 'parameter')}", "not bold")
        line.append(f" ({frozen} frozen)" if frozen else "", "not bold")
        line.append(f", {survey.elements:,} numbers", "not bold")
    versions = ", ".join(f"{name} {version}" for name, version in side.versions.items() if name == "torch")
    return line.append(f"; {versions}" if versions else "", "not bold")


def matrix(report: FlowReport) -> Table:
    """Mode by precision: what became of each run, before → after."""
    runs = (report.before if report.before.runs else report.after or report.before).runs
    columns = list(dict.fromkeys(_column(run) for run in runs))
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for column in columns:
        table.add_column(column)
    for mode in ("train", "eval"):
        cells = {_column(run): _cell(report, run) for run in runs if run.mode == mode}
        table.add_row(mode, *(cells.get(column, Text("")) for column in columns))
    return table


def _column(run: FlowRun) -> str:
    return run.precision if run.device == "cpu" else f"{run.precision} {run.device}"


def _cell(report: FlowReport, run: FlowRun) -> Text:
    wrong = any(run.title in e.symptom.runs for e in report.symptoms if not e.symptom.note)
    first = outcome(report.before.run(run))
    shown = Text(first, _style(first, wrong=wrong))
    if report.after is None or (second := outcome(report.after.run(run))) == first:
        return shown
    return shown.append(" → ", "dim").append(second, _style(second, wrong=wrong))


def outcome(run: FlowRun | None) -> str:
    """What became of a run, in a word: for training, the parameters with a gradient."""
    if run is None:
        return "not run"
    if run.status != "ok":
        return {"error": "error", "unsupported": "n/a", "absent": "–", "trouble": "killed"}[run.status]
    if run.non_finite:
        return "non-finite"
    if not run.gradients:
        return "ok"
    reached = sum(norm is not None for norm in run.gradients.values())
    return f"{reached}/{len(run.gradients)}"


def _style(word: str, *, wrong: bool) -> str:
    if word in ("n/a", "–", "not run"):
        return "dim"
    reached, slash, of = word.partition("/")
    if word == "ok" or (slash and reached == of):
        return "green"
    return "yellow" if slash and not wrong else "red"


def where(symptom: FlowSymptom, side: FlowSide) -> str:
    """The runs that a symptom was seen in, in short."""
    listed = []
    for mode, every in (("train", "every training run"), ("eval", "every evaluation")):
        titles = [run.title for run in side.runs if run.mode == mode]
        seen = [title for title in titles if title in symptom.runs]
        if seen == titles and len(titles) > 1:
            listed.append(every)
        elif seen:
            listed.append(f"{mode}: {', '.join(title.removeprefix(f'{mode}, ') for title in seen)}")
    return "in " + ", ".join(listed)


def told(explained: Explained, side: FlowSide) -> Table:
    """A symptom: its state, what is wrong, where, and why."""
    symptom = explained.symptom
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=8)
    table.add_column(overflow="fold")
    state = {"there": "wrong", "uncovered": "seen now"}.get(symptom.state, symptom.state)
    style = STATES[symptom.state]
    if symptom.note and symptom.state in ("there", "uncovered"):
        state, style = "note", "dim"
    table.add_row(Text(state, style), Text(visible(symptom.sentence)))
    for detail in (where(symptom, side), symptom.cause, explained.sentence):
        if detail:
            table.add_row("", Text(visible(detail), "dim"))
    return table


def focuses(report: FlowReport, *, everything: bool) -> Sequence[FlowRun]:
    """The training runs whose gradients are shown: the first with a symptom, or all of them."""
    side = report.before if report.before.runs else report.after or report.before
    trained = [run for run in side.runs if run.mode == "train" and (run.layers or run.gradients)]
    if everything:
        return trained
    bad = {title for explained in report.symptoms for title in explained.symptom.runs}
    return [*(run for run in trained if run.title in bad), *trained][:1]


def layers(report: FlowReport, focus: FlowRun, *, depth: int, width: int) -> Table:
    """The tree of layers: types of the outputs in each precision, gradients of one run before and after."""
    side = report.before if report.before.runs else report.after or report.before
    shown = [run for run in side.runs if run.mode == "train" and run.device == focus.device and run.status != "absent"]
    other = report.after.run(focus) if report.after is not None and side is report.before else None
    found = list(rows(side, shown, focus, other, depth=depth))
    cells = [
        [
            *(Text(kind, "dim") for kind in row.types),
            _norm(row, row.before, focus),
            Text(MARKS.get(row.note, row.note), "red"),
            *([_norm(row, row.after, other)] if other else []),
        ]
        for row in found
    ]
    headers = [*(run.precision.replace("-", "-\n") for run in shown)]
    headers += ["gradient", ""] if other is None else ["gradient\nbefore", "", "\nafter"]
    widths = [max(map(len, header.split("\n"))) for header in headers]
    widths = [max(wide, *(line[number].cell_len for line in cells)) for number, wide in enumerate(widths)]
    table = Table(
        box=None, pad_edge=False, header_style="bold", title=f"gradients: {focus.title}", title_justify="left"
    )
    # The names give way, not the numbers.
    room = width - sum(wide + 2 for wide in widths)
    table.add_column("layer", no_wrap=True, overflow="ellipsis", max_width=max(room, 16))
    for header in headers:
        number = header.startswith("gradient") or header == "\nafter"
        table.add_column(header, no_wrap=True, justify="right" if number else "left")
    for row, line in zip(found, cells, strict=True):
        table.add_row(_label(row), *line)
    return table


def _label(row: LayerRow) -> Text:
    line = Text()
    for more in row.guides[:-1]:
        line.append("│  " if more else "   ", "dim")
    if row.guides:
        line.append("├─ " if row.guides[-1] else "└─ ", "dim")
    name = f"{row.name}–{row.last}" if row.last else row.name
    line.append(visible(name), "bold").append(" " if name else "").append(visible(row.kind), "cyan")
    return line.append(f" ×{row.count}" if row.count > 1 else "", "dim")


def _norm(row: LayerRow, norm: float | None, run: FlowRun | None) -> Text:
    if norm is not None:
        return Text(f"{norm:.1e}", "" if norm > 0 else "yellow")
    if not row.trainable or run is None:
        return Text("")
    return Text("none", "red") if run.gradients else Text("–", "dim")
