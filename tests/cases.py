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

What holds of the engine and not of a rule is asked of a `few()` of them; `pytest --hypothesis-profile thorough` asks it
of all.

A first line `# fixer: target=torch==2.4.1,lightning==2.5 unsafe strategy=clear-cache with=PL001` (any part may be
missing) sets options for that case: `with` runs other rules too, `upgrade=torch@2.13.0` is what `fixer upgrade` asks
for. In a project, or beside a file, it stands in a file `options`. Lines of a report start with the path in a project.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest
from expected_failures import FIXTURES
from memory import Memory

from codemods.engine.rounds import Options, plan
from codemods.model.plan import UPGRADE, Plan, Target
from codemods.project.index import Index
from codemods.rules.rule import Rule
from codemods.sources.files import is_source
from codemods.transforms import load

ROOT = Path(__file__).parent / "before_after"
KINDS = ("before", "same", "report")
VERBS = {
    "AMP001": ("exit_return", "hoist", "inner_nocache"),
    "AMP002": ("annotations", "try_import", "version_guard"),
    "AMP010": ("narrow_split",),
    "ATT001": ("keyword_given",),
    "CKP002": ("input_grads",),
    "CKP003": ("input_grads",),
    "CKP004": ("trl",),
    "CKP007": ("shapes",),
    "GRD002": ("beside_fabric",),
    "PL001": ("with_detached_loss",),
    "SCL001": ("comments",),
    "SCL003": ("comments",),
    "SCL008": ("loop",),
}
"""Fixtures of a rule whose fixes are written by verbs that neither its example nor its longest fixture needs."""
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
        targets: dict[str, str | Target] = dict(
            re.match(r"([\w-]+)(.*)", t).groups() for t in self.options.get("target", "").split(",") if t
        )
        for package, _, version in (each.partition("@") for each in self.options.get("upgrade", "").split(",") if each):
            targets[package] = Target(package, f"=={version}", UPGRADE, given=True)
        strategy = self.options.get("strategy")
        return Options(
            rules=tuple(r for r in load() if r.code in codes),
            unsafe="unsafe" in self.options,
            strategies={self.rule.code: strategy} if strategy else {},
            targets=targets,
        )

    def run(self, files: dict[str, bytes] | None = None, *, fix: bool = True) -> Plan:
        files = self.files if files is None else files
        reader, options = Memory(files), self.engine_options()
        index = Index(reader, options.targets, noting=True)  # as a check does
        return plan(sources(files), reader, options, fix=fix, index=index)


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


def repaired() -> list[Case]:
    """The fixtures of one Python file in which something is repaired."""
    return [case for case in cases() if case.kind == "before" and case.python]


def few() -> list[Case]:
    """Of those, for each rule, the example, the longest, and what is needed for every verb."""
    longest: dict[str, Case] = {}
    for case in repaired():
        so_far = longest.setdefault(case.rule.code, case)
        longest[case.rule.code] = max(so_far, case, key=lambda each: each.path.stat().st_size)
    return [
        case
        for case in repaired()
        if case.name in ("example", longest[case.rule.code].name, *VERBS.get(case.rule.code, ()))
    ]


Subject = TypeVar("Subject")


def hold(law: Callable[[Subject], None], each: Mapping[str, Subject]) -> None:
    """Ask a law of many, by name; who breaks it is told together."""
    broken = []
    for name, subject in each.items():
        try:
            law(subject)
        except Exception as error:  # whatever it is, the others are asked, too
            broken.append(f"{name}: {type(error).__name__}: {error}")
    if broken:
        pytest.fail("\n\n".join(broken), pytrace=False)


def _files(path: Path) -> dict[str, bytes]:
    return Memory.of(path).data if path.is_dir() else {f"case{path.suffix}": path.read_bytes()}


def _options(path: Path) -> dict[str, str]:
    beside = path.with_name("options")
    stated = beside if path.is_dir() or beside.exists() else path
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
