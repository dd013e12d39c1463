"""Write the pages that are made from the code: the rules (`rules.md`, `rules/<CODE>.md`) and the commands (`cli.md`).

    .venv/bin/python docs/generate.py

`tests/test_docs.py` says when a page is out of date. No torch is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from codemods.rules.rule import Rule
from codemods.transforms import load
from fixer.cli.application import application
from fixer.cli.help import GroupedCommand
from fixer.report.catalogue import page

DOCS = Path(__file__).resolve().parent
WRITTEN = "<!-- Written by docs/generate.py; do not edit. -->\n"
FAMILIES = {
    "AMP": "Autocast",
    "ATT": "Attention",
    "CKP": "Activation checkpointing",
    "GRD": "Gradients and losses",
    "HF": "Hugging Face: Accelerate, Transformers",
    "PL": "Lightning and Fabric",
    "SCL": "Gradient scaler",
    "VER": "Dependency files",
}
SAFETY = {"safe": "safe", "unsafe": "unsafe", "display": "report only"}
CONSEQUENCES = {
    "silent": "trains wrong and prints nothing",
    "raises": "ends with an exception",
    "warns": "prints a warning and trains right",
    "deprecated": "works, and will be removed",
    "style": "harmless here, as far as the code shows",
}

INDEX = """\
`fixer rules` prints this list, `fixer explain CODE` the page of one rule. *Safe* fixes are applied by default, *unsafe*
ones with `--unsafe-fixes`; *report only* means that a person has to decide. [usage.md](usage.md#safety) says what the
words promise."""
COMMANDS = """\
This page holds what `fixer COMMAND --help` says. [usage.md](usage.md) explains the options that need more than a line;
[branches-and-pull-requests.md](branches-and-pull-requests.md), [campaigns.md](campaigns.md) and
[verification.md](verification.md) show the commands at work."""
KIND = re.compile(r" <(?:list\[)?[a-z]+\]?>$")
"""The type that follows the name of an argument."""
DEFAULT = re.compile(r"\[default: \(?([^()]*)\)?((?:; .*)?)\]$")


def pages() -> Mapping[str, str]:
    """Every generated page, by its path below `docs/`."""
    rules = [rule for rule in load() if rule.module.startswith("codemods.")]
    return {
        "rules.md": _index(rules),
        **{f"rules/{rule.code}.md": _rule(rule) for rule in rules},
        "cli.md": _commands(),
    }


def stale() -> list[str]:
    """The pages that are not as they would be written, and those that belong to no rule."""
    wanted = pages()
    there = {path.relative_to(DOCS).as_posix() for path in (DOCS / "rules").glob("*.md")}
    return sorted(
        name
        for name in wanted.keys() | there
        if name not in wanted
        or not (DOCS / name).is_file()
        or (DOCS / name).read_text(encoding="utf-8") != wanted[name]
    )


def _index(rules: Sequence[Rule]) -> str:
    parts = [
        f"{WRITTEN}# Rules",
        INDEX,
    ]
    for family in dict.fromkeys(rule.family for rule in rules):
        parts.append(f"## {family}: {FAMILIES.get(family, family)}")
        rows = (
            (f"[{r.code}](rules/{r.code}.md)", r.name, r.summary, r.fix_title, SAFETY[str(r.safety)])
            for r in rules
            if r.family == family
        )
        parts.append(_table(("code", "name", "what is wrong", "what the fix does", "fix"), rows))
    return "\n\n".join(parts) + "\n"


def _rule(rule: Rule) -> str:
    title, _, text = page(rule).replace("\r", "").partition("\n\n")
    cost = f"{rule.consequence} ({CONSEQUENCES[str(rule.consequence)]}), unless a finding says otherwise"
    facts = [("what is wrong", rule.summary), ("consequence", cost), ("fix", SAFETY[str(rule.safety)])]
    parts = [WRITTEN + title, _table(("", ""), facts), text.rstrip()]
    if rule.errors:
        parts.append("## Messages that lead here")
        parts.append(
            "\n".join(f"- `{message}`" if "`" not in message else f"- ``{message}``" for message in rule.errors)
        )
    if rule.references:
        parts.append("## References")
        parts.append("\n".join(f"- <{url}>" for url in rule.references))
    return "\n\n".join(parts) + "\n"


def _commands() -> str:
    parts = [
        f"{WRITTEN}# Commands",
        COMMANDS,
    ]
    for name, command in _all("fixer", typer.main.get_command(application())):
        context = command.make_context(name, [], resilient_parsing=True)
        usage = " ".join([name, *command.collect_usage_pieces(context)]).translate({ord("{"): "", ord("}"): ""})
        parts += [f"## {name}", f"    {usage}", re.sub(r"(?<=\S)\n(?=\S)", " ", command.help)]
        records = [each.get_help_record(context) for each in command.get_params(context)]
        described = [(_code(KIND.sub("", names)), DEFAULT.sub(r"(default: \1\2)", told)) for names, told in records]
        if rows := [row for row in described if row[0] != "`--help`"]:
            parts.append(_table(("", ""), rows))
        if isinstance(command, GroupedCommand) and command.epilog:
            parts.append(f"```sh\n{command.epilog}```")
    return "\n\n".join(parts) + "\n"


def _all(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """A command and those below it, each with the words that call it."""
    yield name, command
    for word, below in getattr(command, "commands", {}).items():
        yield from _all(f"{name} {word}", below)


def _code(text: str) -> str:
    return f"`{text}`"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def main() -> None:
    """Write every page that is out of date, and remove those of rules that are gone."""
    wanted = pages()
    for name in stale():
        if name in wanted:
            (DOCS / name).parent.mkdir(exist_ok=True)
            (DOCS / name).write_text(wanted[name], encoding="utf-8")
        else:
            (DOCS / name).unlink()
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
