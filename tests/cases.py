"""The fixtures under `before_after/`, and how they are run.

    <rule>/<case>.before.py + <case>.after.py    what the rule's fix makes of it
    <rule>/<case>.same.py                        nothing is found
    <rule>/<case>.report.py + <case>.report.txt  findings without a (chosen) fix, as `line: safety message`
    the same with .yaml, .json, .toml, .sh and .ipynb
    <rule>/<case>/before/ + after/               a project; only the files that change stand in after/
    <rule>/<case>/same/, <case>/report/ + report.txt

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
_OPTIONS = re.compile(r"# fixer: (?!ignore)(.*)")


@dataclass(frozen=True)
class Case:
    """One fixture."""

    rule: Rule
    name: str
    kind: str
    """before, same or report"""
    path: Path
    options: dict[str, str] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, bytes]:
        if self.path.is_dir():
            return Memory.of(self.path).data
        return {f"case{self.path.suffix}": self.path.read_bytes()}

    @property
    def python(self) -> bool:
        """Whether the case is one Python file."""
        return self.path.suffix == ".py"

    @property
    def expected(self) -> dict[str, bytes]:
        """What `before` becomes: every file, changed or not."""
        after = self.path.with_name(self.path.name.replace("before", "after"))
        return {
            **self.files,
            **(Memory.of(after).data if after.is_dir() else {f"case{after.suffix}": after.read_bytes()}),
        }

    @property
    def report(self) -> str:
        text = self.path.parent / "report.txt" if self.path.is_dir() else self.path.with_suffix(".txt")
        return text.read_text()

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
    found = []
    for rule in load():
        folder = ROOT / rule.name
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            match = re.fullmatch(r"(.+)\.(before|same|report)\.(?:py|ya?ml|json|toml|sh|ipynb)", path.name)
            if match:
                found.append(Case(rule, match[1], match[2], path, _options(path.read_bytes())))
            elif path.is_dir() and path.name != "__pycache__":
                options = path / "options"
                for kind in ("before", "same", "report"):
                    if (path / kind).is_dir():
                        head = options.read_bytes() if options.exists() else b""
                        found.append(Case(rule, path.name, kind, path / kind, _options(head)))
    return found if all else [case for case in found if f"{case.rule.name}/{case.name}" not in FIXTURES]


def _options(data: bytes) -> dict[str, str]:
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
