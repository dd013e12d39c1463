"""The gradient-flow report as a section of a pull request's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixer.report.flow import outcome, where

if TYPE_CHECKING:
    from fixer.verify.flow_report import FlowReport


def section(report: FlowReport) -> str:
    """A heading, the verdict, the runs as a table, the symptoms."""
    parts = [f"### Gradient flow of `{report.module}`", f"**{report.verdict}**: {_escaped(report.summary)}"]
    side = report.before if report.before.runs else report.after or report.before
    if side.runs:
        table = ["| run | before | after |", "| --- | --- | --- |"]
        for run in side.runs:
            after = "as before" if report.after is None else outcome(report.after.run(run))
            table.append(f"| {run.title} | {outcome(report.before.run(run))} | {after} |")
        parts.append("\n".join(table))
    if report.symptoms:
        lines = []
        for explained in report.symptoms:
            symptom = explained.symptom
            told = ". ".join(part for part in (symptom.sentence, symptom.cause, explained.sentence) if part)
            state = "note" if symptom.note and symptom.state in ("there", "uncovered") else symptom.state
            lines.append(f"- {state}: {_escaped(told)} ({where(symptom, side)})")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;").replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")
