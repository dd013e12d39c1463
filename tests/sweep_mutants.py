"""Small mistakes put into `codemods`, one at a time: the tests that reach the place must fail.

    pip install --no-deps mutmut
    python tests/sweep_mutants.py [--each N] [--seed S] [--contexts FILE] [PACKAGE...]

The mistakes are those of mutmut (`a < b` becomes `a <= b`, an argument is left out, a branch is never taken …). N of
them are drawn from each package, at places of which all are as likely. Each is written into a copy of this tree, where
those tests run that reach its line: first MOST of them, from each file of tests those that reach the fewest lines,
then, if none fails, all others; for a line that only an import reaches, those that reach its file. Which test reaches
what is measured first, once (minutes; kept in FILE, if that is given). Proofs, laws and tests of `fixer` that take long
do not run. A mutant that no test reaches survives. Left out is what changes nothing by its nature: annotations, blocks
for type checkers, strings in three quotes, and `frozen` and `slots` of a dataclass.

Prints each mutant that survives, and a table; a survivor may well be equivalent: somebody has to read it.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import libcst as cst
from coverage import CoverageData
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

ROOT = Path(__file__).parents[1]
PACKAGES = ("model", "sources", "syntax", "analysis", "project", "engine", "frameworks", "transforms")
COPIED = ("codemods", "fixer", "tests", "docs", "pyproject.toml", "README.md")
MOST = 150
"""Tests that run first."""
LIMITS = (120.0, 900.0)
"""Seconds after which a mutant counts as one that does not end, of the first tests and of all others."""
SLOW = re.compile("cli|hostile|laws.py|matrix|proof|prove|site|verif|writer")
"""Tests with this in the name of their file do not run."""
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not law and not torch")
BLOCKS = (cst.SimpleStatementLine, cst.BaseCompoundStatement, cst.MatchCase, cst.ExceptHandler, cst.Else)


@dataclass(frozen=True)
class Mutant:
    """One mistake."""

    path: str
    lines: tuple[int, int]
    """From the first line of its statement to its own."""
    operator: str
    before: str
    after: str
    """The whole text of the file."""

    def __str__(self) -> str:
        pairs = zip(self.before.splitlines(), self.after.splitlines(), strict=False)
        old, new = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
        return f"{self.path}:{self.lines[1]} {self.operator}: {old.strip()} -> {new.strip()}"


def mutants(path: str, text: str, chance: random.Random) -> Iterator[Mutant]:
    """One mutant for each place of a file that has any, in the order of chance."""
    from mutmut.mutation.mutators import mutation_operators  # type: ignore[import-not-found]

    wrapper = MetadataWrapper(cst.parse_module(text))
    places = wrapper.resolve(PositionProvider)
    parents = wrapper.resolve(ParentNodeProvider)
    nodes = [node for node in places if any(isinstance(node, kind) for kind, _ in mutation_operators)]
    for node in chance.sample(nodes, len(nodes)):
        found = [
            (operator.__name__.removeprefix("operator_"), other)
            for kind, operator in mutation_operators
            if isinstance(node, kind)
            for other in operator(node)
        ]
        if not found:
            continue
        name, other = chance.choice(found)
        after = wrapper.module.deep_replace(node, other)
        assert isinstance(after, cst.Module)
        block = node
        while not isinstance(block, (*BLOCKS, cst.Module)):
            block = parents[block]
        lines = (min(places[block].start.line, places[node].start.line), places[node].start.line)
        if differs(text, after.code):
            yield Mutant(path, lines, name, text, after.code)


def differs(before: str, after: str) -> bool:
    """Whether a mutant is a program, and another one for whoever does not look at annotations."""
    try:
        compile(after, "", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return ast.dump(_Bare().visit(ast.parse(before))) != ast.dump(_Bare().visit(ast.parse(after)))


class _Bare(ast.NodeTransformer):
    """Takes out what does not run."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant("")
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST | None:
        return None if node.arg in ("frozen", "slots") else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING" else self.generic_visit(node)


def drawn(package: str, number: int, seed: int) -> list[Mutant]:
    """Mutants of one package: of each file as many as it has lines of all."""
    chance = random.Random(f"{seed} {package}")
    texts = {str(p.relative_to(ROOT)): p.read_text() for p in sorted((ROOT / "codemods" / package).rglob("*.py"))}
    weights = [len(text) for text in texts.values()]
    files = Counter(chance.choices([*texts], weights, k=number))
    return [m for path, count in sorted(files.items()) for m in _first(count, mutants(path, texts[path], chance))]


def _first(count: int, found: Iterator[Mutant]) -> list[Mutant]:
    return [mutant for _, mutant in zip(range(count), found, strict=False)]


class Reached:
    """Which test reaches which line."""

    def __init__(self, contexts: Path) -> None:
        self._data = CoverageData(str(contexts))
        self._data.read()
        self._files = {file[file.index("codemods/") :]: file for file in self._data.measured_files()}
        self._lines: Counter[str] = Counter()
        self._of: dict[str, dict[int, set[str]]] = {}
        for name, file in self._files.items():
            by_line: dict[int, set[str]] = defaultdict(set)
            for line, found in self._data.contexts_by_lineno(file).items():
                by_line[line] = {context.rpartition("|")[0] for context in found}
                self._lines.update(by_line[line])
            self._of[name] = by_line

    def by(self, mutant: Mutant, known: frozenset[str]) -> list[str]:
        """The tests to run for a mutant."""
        by_line = self._of.get(mutant.path, {})
        first, last = mutant.lines
        reaching = set().union(*(by_line.get(line, ()) for line in range(first, last + 1)))
        tests = reaching & known
        if not tests and reaching:  # by an import alone
            here = Counter(test for found in by_line.values() for test in found if test in known)
            return sorted(here, key=lambda test: (-here[test] / self._lines[test], test))
        files: dict[str, list[str]] = defaultdict(list)
        for test in sorted(tests, key=lambda test: (self._lines[test], test)):
            files[test.partition("::")[0]].append(test)
        return [test for each in zip_longest(*files.values()) for test in each if test]


@dataclass
class Copy:
    """A copy of this tree, in which tests run."""

    root: Path
    failed: set[str] = field(default_factory=set)
    """Tests that failed because of a mutant."""

    @classmethod
    def made(cls, scratch: Path) -> Copy:
        """A copy whose modules are those that its tests import."""
        for name in COPIED:
            source, to = ROOT / name, scratch / name
            if source.is_dir():
                shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, to)
        copy = cls(scratch)
        # What is compiled is compared by what it was compiled from, not by time and size, which a mutant may share.
        copy.run(sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "codemods", "fixer")
        where = copy.run(sys.executable, "-c", "import codemods; print(codemods.__file__)").stdout
        if not Path(where.strip()).is_relative_to(scratch):
            raise RuntimeError(f"the tests would import {where}")
        return copy

    def run(self, *command: str, limit: float | None = None) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, text=True, check=False, timeout=limit
        )

    def tests(self) -> list[str]:
        """The files of tests that run."""
        files = sorted((self.root / "tests").glob("test_*.py"))
        named = (file for file in files if not SLOW.search(file.name))
        return [f"tests/{file.name}" for file in named if "\nfrom codemods" in file.read_text()]

    def measure(self, contexts: Path) -> None:
        """Run all tests and keep which reaches what."""
        settings = self.root / "contexts.ini"
        settings.write_text("[run]\nsource = codemods\nomit = */codemods/verify/*\n")
        cover = ("--cov=codemods", f"--cov-config={settings}", "--cov-context=test", "--cov-report=")
        self.run(*PYTEST, *cover, *self.tests())
        shutil.copy(self.root / ".coverage", contexts)

    def known(self) -> frozenset[str]:
        """The tests that there are."""
        listed = self.run(*PYTEST, "--co", "-o", "addopts=--import-mode=importlib", *self.tests()).stdout
        return frozenset(line for line in listed.splitlines() if "::" in line)

    def outcome(self, mutant: Mutant, tests: Sequence[str]) -> str:
        """What becomes of a mutant: killed, survived or timed out."""
        file = self.root / mutant.path
        file.write_text(mutant.after)
        try:
            return next(filter(None, map(self._outcome, (tests[:MOST], tests[MOST:]), LIMITS)), "survived")
        finally:
            file.write_text(mutant.before)

    def _outcome(self, tests: Sequence[str], limit: float) -> str | None:
        if not tests:
            return None
        try:
            done = self.run(*PYTEST, "-x", "--no-header", "-rf", *tests, limit=limit)
        except subprocess.TimeoutExpired:
            return "timed out"
        lines = done.stdout.splitlines()
        self.failed.update(test for test in tests if any(line.startswith(f"FAILED {test}") for line in lines))
        return "killed" if done.returncode else None

    def wrong(self) -> list[str]:
        """The tests that fail without a mutant, of those that failed with one."""
        lines = self.run(*PYTEST, "-rf", *sorted(self.failed)).stdout.splitlines() if self.failed else []
        return [line for line in lines if line.startswith(("FAILED", "ERROR"))]


def main(arguments: Sequence[str]) -> int:
    """Sweep over the packages."""
    command = argparse.ArgumentParser(prog="python tests/sweep_mutants.py")
    command.add_argument("--each", type=int, default=40, metavar="N", help="mutants of each package")
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--contexts", type=Path, metavar="FILE", help="which test reaches what, made if it is missing")
    command.add_argument("packages", nargs="*", metavar="PACKAGE", help="by default all but verify")
    chosen = command.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory(prefix="sweep-mutants-") as scratch:
        copy = Copy.made(Path(scratch))
        contexts = chosen.contexts or copy.root / "contexts"
        if not contexts.exists():
            copy.measure(contexts)
        reached, known = Reached(contexts), copy.known()
        for package in chosen.packages or PACKAGES:
            counts: Counter[str] = Counter()
            for mutant in drawn(package, chosen.each, chosen.seed):
                tests = reached.by(mutant, known)
                outcome = copy.outcome(mutant, tests)
                counts[outcome] += 1
                if outcome != "killed":
                    print(f"{outcome if tests else 'not reached'}: {mutant}", flush=True)
            total = counts.total()
            killed = counts["killed"], counts["survived"], counts["timed out"]
            rows.append((package, total, *killed, f"{100 * (total - counts['survived']) // max(total, 1)} %"))
            print(*rows[-1], flush=True)
        for line in copy.wrong():
            print(f"fails without a mutant: {line}")
    for row in (("package", "mutants", "killed", "survived", "timed out", "score"), *rows):
        print("".join(f"{cell!s:>12}" for cell in row))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
