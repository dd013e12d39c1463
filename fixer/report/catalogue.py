"""The rules themselves: the list, and the page of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from codemods.model.plan import FilePlan
from codemods.verify.evidence import read, sentence
from codemods.verify.places import EXAMPLE, FIXTURES, RECORD
from codemods.verify.proof import asked, sides
from fixer.report.patch import patch

if TYPE_CHECKING:
    from rich.console import Console

    from codemods.rules.rule import Rule


def as_json(rules: Sequence[Rule]) -> bytes:
    """The metadata of every rule."""
    content = [
        {
            "code": rule.code,
            "name": rule.name,
            "family": rule.family,
            "summary": rule.summary,
            "fix_title": rule.fix_title,
            "safety": str(rule.safety),
            "strategies": list(rule.strategies),
            "bites": dict(rule.bites),
            "errors": list(rule.errors),
            "references": list(rule.references),
        }
        for rule in rules
    ]
    return json.dumps(content, indent=2).encode() + b"\n"


def show(console: Console, rules: Sequence[Rule]) -> None:
    """A table: code, name, how safe the fix is, what is wrong."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("code", "name", "fix", "what is wrong"):
        table.add_column(column, no_wrap=column != "what is wrong", style="bold" if column == "code" else "")
    for rule in rules:
        table.add_row(rule.code, rule.name, str(rule.safety), rule.summary)
    console.print(table)


def table(rules: Sequence[Rule]) -> str:
    """The same as a Markdown table."""
    rows = ["| code | name | what is wrong | what the fix does | fix |", "| --- | --- | --- | --- | --- |"]
    for rule in rules:
        cells = (rule.code, rule.name, rule.summary, rule.fix_title, str(rule.safety))
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def page(rule: Rule) -> str:
    """The page of a rule in Markdown: its docstring, its facts, and its example as a diff."""
    parts = [f"# {rule.code} {rule.name}", rule.doc, f"Fix: {rule.fix_title} ({rule.safety})."]
    if rule.bites:
        parts.append(f"Versions: {', '.join(f'{package} {spec}' for package, spec in rule.bites.items())}.")
    if rule.strategies:
        names = ", ".join(f"`{name}`" for name in rule.strategies)
        parts.append(f"Strategies: {names} (the first is the default where the page says no other).")
    if run := sentence(read(RECORD), rule.code):
        parts.append(run)
    parts.append(example_of(rule))
    return "\n\n".join(part for part in parts if part) + "\n"


def show_page(console: Console, rule: Rule) -> None:
    """The same on a terminal."""
    from rich.markdown import Markdown

    console.print(Markdown(page(rule)))


def example_of(rule: Rule) -> str:
    """What the example of a rule becomes, as a diff under a heading; empty where there is none at hand."""
    proof = FIXTURES / rule.name / EXAMPLE / "proof.py"
    if not proof.is_file():
        return ""
    before, after = sides(proof)
    changed = [path for path in after if before.get(path) != after[path]]
    files = [FilePlan(path, before.get(path, "").encode(), after[path].encode()) for path in changed]
    strategy = asked(proof).get("strategy")
    title = f"## Example (`--strategy {rule.code}={strategy}`)" if strategy else "## Example"
    return f"{title}\n\n```diff\n{patch(files).decode('utf-8', 'replace')}```"
