"""The fixtures under `before_after/`, and how they are run.

Each case of a rule is a folder, `<rule>/<case>/`. It holds, as one file or as a project:

    before.py + after.py    what the rule's fix makes of it
    same.py                 nothing is found
    report.py + report.txt  findings without a (chosen) fix, as `line: safety message`
    proof.py                runs *before* and *after* (see `codemods/verify/proof.py`)

The file may also be a .yaml, .yml, .json, .toml, .sh or .ipynb. A project is a folder of that name: `before/` and
`after/` (only the files that change), `same/`, `report/`. A module that several proofs of a rule share lies beside the
cases, as `<rule>/stand_in.py`. The case `example` is the one that `fixer explain` shows and proves, and the only one
that an installed package carries.

A first line `# fixer: target=torch==2.4.1,lightning==2.5 unsafe strategy=clear-cache with=PL001` (any part may be
missing) sets options for that case: `with` runs other rules too. In a project it stands in a file `options`.
Lines of a report start with the path in a project.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from expected_failures import FIXTURES
from memory import Memory

from codemods.engine.rounds import Options, plan
from codemods.model.plan import Plan
from codemods.rules.rule import Rule
from codemods.sources.files import is_source
from codemods.transforms import load

ROOT = Path(__file__).parent / "before_after"
KINDS = ("before", "same", "report")
_OPTIONS = re.compile(r"# fixer: (?!ignore)(.*)")


@dataclass(frozen=True)
class Case:
    """One fixture."""

    rule: Rule
    name: str
    kind: str
    """One of `KINDS`."""
    path: Path
    options: dict[str, str] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, bytes]:
        return _files(self.path)

    @property
    def python(self) -> bool:
        """Whether the case is one Python file."""
        return self.path.suffix == ".py"

    @property
    def expected(self) -> dict[str, bytes]:
        """What `before` becomes: every file, changed or not."""
        return self.files | _files(self.path.with_stem("after"))

    @property
    def report(self) -> str:
        return self.path.with_name("report.txt").read_text()

    def engine_options(self) -> Options:
        codes = {self.rule.code, *self.options.get("with", "").split("+")}
        targets = dict(re.match(r"([\w-]+)(.*)", t).groups() for t in self.options.get("target", "").split(",") if t)
        strategy = self.options.get("strategy")
        return Options(
            rules=tuple(r for r in load() if r.code in codes),
            unsafe="unsafe" in self.options,
            strategies={self.rule.code: strategy} if strategy else {},
            targets=targets,
        )

    def run(self, files: dict[str, bytes] | None = None, *, fix: bool = True) -> Plan:
        files = self.files if files is None else files
        return plan(sources(files), Memory(files), self.engine_options(), fix=fix)


def sources(files: Iterable[str]) -> list[str]:
    """Those of the files that are looked at."""
    return [path for path in files if is_source(path)]


def cases(*, all: bool = False) -> list[Case]:
    """Every fixture of every rule; with `all`, those too whose rule does not yet do what they say."""
    found = [
        Case(rule, path.parent.name, path.stem, path, _options(path))
        for rule in load()
        for path in sorted((ROOT / rule.name).glob("*/*"))
        if path.stem in KINDS and path.name != "report.txt"
    ]
    return found if all else [case for case in found if f"{case.rule.name}/{case.name}" not in FIXTURES]


def _files(path: Path) -> dict[str, bytes]:
    return Memory.of(path).data if path.is_dir() else {f"case{path.suffix}": path.read_bytes()}


def _options(path: Path) -> dict[str, str]:
    stated = path.with_name("options") if path.is_dir() else path
    data = stated.read_bytes() if stated.exists() else b""
    first = re.split(rb"\r\n|\n|\r", data, maxsplit=1)[0].decode("latin-1").removeprefix("ï»¿")
    match = _OPTIONS.match(first)
    pairs = (part.partition("=") for part in match[1].split()) if match else ()
    return {key: value for key, _, value in pairs}


def listing(found: Plan, *, paths: bool) -> str:
    """Findings as a report file holds them."""
    lines = []
    for f in found.findings:
        where = f.location if paths else f.location.partition(":")[2]
        lines.append(f"{where}: {f.safety} {f.message}")
    return "".join(f"{line}\n" for line in lines)
