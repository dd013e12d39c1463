"""Write the pages that are made from the code: the rules (`rules.md`, `rules/<CODE>.md`), the commands (`cli.md`), and
what releases changed (`releases/<LIBRARY>.md`).

    .venv/bin/python docs/generate.py

`tests/test_docs.py` says when a page is out of date. No torch is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from packaging.version import Version

from codemods.frameworks.removed_names.tables import LIBRARIES, RemovedName, rows
from codemods.rules.rule import Rule
from codemods.transforms import load
from codemods.verify.places import EXAMPLE, FIXTURES
from fixer.cli.application import application
from fixer.cli.help import GroupedCommand
from fixer.report.catalogue import page

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
WRITTEN = "<!-- Written by docs/generate.py; do not edit. -->\n"
FAMILIES = {
    "AMP": "Autocast",
    "ATT": "Attention",
    "CKP": "Activation checkpointing",
    "DST": "Distributed training",
    "GRD": "Gradients and losses",
    "HF": "Hugging Face: Accelerate, Transformers",
    "MOD": "Modules in training and in evaluation",
    "NUM": "Losses and numbers",
    "PFT": "Adapters: PEFT",
    "PL": "Lightning and Fabric",
    "SCH": "Learning-rate schedulers",
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
NO_RULES = """\
## Looked at, and not a rule

What people warn of, and what running it, or reading it in unseen repositories, did not bear out:

- `p.require_grad = False`, a name that torch does not read: 17 places were read, and none did harm.
- A scheduler that counts steps which the gradient scaler left out: the first steps of a run at most; none of 52 places
  did harm.
- A gradient scaler with bfloat16: it gives bit by bit what training without it gives.
- `use_cache=True` with activation checkpointing: Transformers switches it off, and says so.
- A region of autocast inside of one with another dtype: it raises, whichever comes first.
- Small learning rates with weights in bfloat16, and the gradient of a square root at 0: true, but no code shows that it
  happens. [HF016](rules/HF016.md) speaks of checkpoints.
- Of Lightning: several steps after one backward pass, a scaler of the module's own, `toggle_optimizer` without its
  counterpart, clipping by the Trainer in manual optimization, `backward` in automatic optimization: none in 183
  repositories, and the last three raise.
- Two forward passes before one backward pass under DistributedDataParallel: right since torch 2.12.
- `load_state_dict(…, strict=False)` whose answer nobody reads: a load that finds nothing says nothing, but what is
  missing stands in the checkpoint. Of ten such loads right before `train()` that were read, no code shows a missing
  weight, and two leave a head out on purpose.
- A region of autocast without a dtype, float16 on a GPU, around weights in bfloat16: 200 steps end at a loss of 0.0154,
  in a region in bfloat16 at 0.0155. It goes wrong where activations exceed 65,504, which no code shows.
- Training in float16 under autocast without a gradient scaler: a classifier, a convolutional net and an autoencoder
  have the gradients that they have with one; those of 131,072 pixels are off by 3.9 %, at a loss of 2e-4 by 10.7 %.
  None of 11 places that were read in repositories did harm."""
RELEASES = """\
Names that releases of {library} removed, renamed or deprecated, and defaults that they changed. `fixer check` finds the
old names where the project's requirements allow such a release, `fixer upgrade {library}@VERSION` carries a project to
one, and `fixer diagnose` knows the messages. `python -m tests.names` holds every line against the sources of the
releases."""
COMMANDS = """\
This page holds what `fixer COMMAND --help` says. [usage.md](usage.md) explains the options that need more than a line;
[branches-and-pull-requests.md](branches-and-pull-requests.md), [campaigns.md](campaigns.md) and
[verification.md](verification.md) show the commands at work."""
LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml", ".ipynb": "json"}
TYPICAL = ("left_alone", "right")
"""Cases that hold many small examples of what a rule leaves alone."""
ODD = re.compile("shadow|star|splat|keyword|not_applicable")
"""Cases that are there to lead a rule astray, and no examples for a reader."""
KIND = re.compile(r" <(?:list\[)?[a-z]+\]?>$")
"""The type that follows the name of an argument."""
DEFAULT = re.compile(r"\[default: \(?([^()]*)\)?((?:; .*)?)\]$")


def pages() -> Mapping[str, str]:
    """Every generated page, by its path below `docs/`."""
    rules = [rule for rule in load() if rule.module.startswith("codemods.")]
    return {
        "rules.md": _index(rules),
        **{f"rules/{rule.code}.md": _rule(rule) for rule in rules},
        **{f"releases/{library}.md": _releases(library) for library in LIBRARIES},
        "cli.md": _commands(),
    }


def stale() -> list[str]:
    """The pages that are not as they would be written, and those that belong to no rule."""
    wanted = pages()
    there = {path.relative_to(DOCS).as_posix() for name in ("rules", "releases") for path in (DOCS / name).glob("*.md")}
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
    return "\n\n".join([*parts, NO_RULES]) + "\n"


def _rule(rule: Rule) -> str:
    title, _, text = page(rule).replace("\r", "").partition("\n\n")
    cost = f"{rule.consequence} ({CONSEQUENCES[str(rule.consequence)]}), unless a finding says otherwise"
    facts = [("what is wrong", rule.summary), ("consequence", cost), ("fix", SAFETY[str(rule.safety)])]
    parts = [WRITTEN + title, _table(("", ""), facts), text.rstrip()]
    if not (FIXTURES / rule.name / EXAMPLE).is_dir():
        case = _shown(rule, "report")
        parts += ["## Example", _files(case), f"What `fixer check` says (line: safety message):\n\n{_told(case)}"]
    case, cases = _shown(rule, "same"), len(_cases(rule, "same"))
    where = (
        f"In `{case.parent.relative_to(ROOT).as_posix()}`, one of {cases} cases of this kind, the rule finds nothing:"
    )
    parts += ["## What is not flagged", where, _files(case)]
    if rule.errors:
        parts.append("## Messages that lead here")
        parts.append(
            "\n".join(f"- `{message}`" if "`" not in message else f"- ``{message}``" for message in rule.errors)
        )
    if rule.references:
        parts.append("## References")
        parts.append("\n".join(f"- <{url}>" for url in rule.references))
    return "\n\n".join(parts) + "\n"


def _releases(library: str) -> str:
    """What releases of a library removed or renamed, the newest first; a browser's search finds an old name."""
    mine = [row for row in rows() if row.library == library]
    parts = [f"{WRITTEN}# What releases of {library} changed", RELEASES.format(library=library)]
    by_release: dict[str, list[RemovedName]] = {}
    for row in mine:
        by_release.setdefault(row.gone or row.deprecated, []).append(row)
    for release in sorted(by_release, key=Version, reverse=True):
        parts.append(f"## {release}")
        lines = sorted(by_release[release], key=lambda row: (row.owner, row.old))
        parts.append(_table(("old name", "of", "what to write", "rule"), map(_change, lines)))
    return "\n\n".join(parts) + "\n"


def _change(row: RemovedName) -> tuple[str, ...]:
    owner = f"`{row.owner.rpartition('.')[2]}`" if row.owner else "imports"
    if row.kind == "rename":
        new = f"`{row.new}`"
        if row.values:
            new += ", with " + ", ".join(f"`{value}` for `{old}`" for old, value in row.values.items())
    elif row.kind == "default":
        new = f"was {row.was}, is {row.new}: {row.decide}"
    else:
        new = row.decide or "delete it"
    became = "" if row.gone else " (deprecated)"
    quiet = " (ignored in silence)" if row.silent else ""
    rule = f"[{row.rule}](../rules/{row.rule}.md)" if row.rule else "[VER008](../rules/VER008.md)"
    return f"`{row.old}`{became}{quiet}", owner, new, rule


def _cases(rule: Rule, kind: str) -> list[Path]:
    """The cases of a rule of that kind: files, or directories of files."""
    return sorted(
        path for path in (FIXTURES / rule.name).glob(f"*/{kind}*") if path.stem == kind and path.suffix != ".txt"
    )


def _shown(rule: Rule, kind: str) -> Path:
    """The case that says most to a reader: the typical one, else the shortest one without options."""

    def order(path: Path) -> tuple[Any, ...]:
        name, text = path.parent.name, _files(path)
        asked = "# fixer: " in text or (path / "options").is_file()
        return name not in TYPICAL, ODD.search(name) is not None, asked, len(text), name

    return min(_cases(rule, kind), key=order)


def _files(case: Path) -> str:
    """The files of a case, each as a block of code, with its name if it is one of several."""
    parts = []
    inside = sorted(path for path in case.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    for path in inside or [case]:
        if path != case:
            parts.append(f"`{path.relative_to(case).as_posix()}`")
        text = path.read_text(encoding="utf-8").rstrip()
        parts.append(f"```{LANGUAGES.get(path.suffix, 'text')}\n{text}\n```")
    return "\n\n".join(parts)


def _told(case: Path) -> str:
    return f"```text\n{case.with_name('report.txt').read_text(encoding='utf-8').rstrip()}\n```"


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
