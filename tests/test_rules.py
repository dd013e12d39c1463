"""What every rule owes its users: a page, metadata, fixtures by hand."""

from __future__ import annotations

import ast
import hashlib
import random
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
from cases import ROOT, Case, cases

from codemods.engine.prefilter import RuleInfo
from codemods.model.edits import Safety
from codemods.rules.rule import Rule
from codemods.transforms import load
from fixer.run import rule_index
from fixer.run.rule_index import rule_infos

RULES = load()
CASES = cases()
each_rule = pytest.mark.parametrize("rule", [pytest.param(r, id=r.code) for r in RULES])


def mine(rule: Rule) -> list[Case]:
    return [case for case in CASES if case.rule is rule]


@each_rule
def test_names_agree(rule: Rule) -> None:
    assert re.fullmatch(r"[A-Z]{2,3}[0-9]{3}", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.module.rpartition(".")[2] == rule.name.replace("-", "_")
    assert (ROOT / rule.name).is_dir()


@each_rule
def test_metadata(rule: Rule) -> None:
    for line, first in ((rule.summary, str.islower), (rule.fix_title, str.isupper)):
        assert line and "\n" not in line and not line.endswith(".")
        assert line.startswith("`") or first(line[0])
    assert rule.triggers or rule.elsewhere
    assert all(len(t) >= 3 for t in (*(i for group in rule.triggers for i in group), *rule.elsewhere))
    kinds = {kind for kinds, _ in rule.checks for kind in kinds}
    assert bool(rule.triggers) == any(issubclass(kind, ast.AST) for kind in kinds)
    assert bool(rule.elsewhere) == any(not issubclass(kind, ast.AST) for kind in kinds)
    assert rule.checks
    assert rule.references
    assert all(isinstance(error, str) and len(error) > 15 for error in rule.errors)
    assert len(set(rule.strategies)) == len(rule.strategies)
    assert rule.effects.keys() <= set(rule.strategies)


@each_rule
def test_the_page_says_what_why_and_when_not(rule: Rule) -> None:
    headings = re.findall(r"(?m)^## (.*)$", rule.doc)
    assert headings[0].startswith("Why is this bad")
    assert any(h.startswith("Fix safety") for h in headings)
    assert any(h.startswith("When it is not offered") for h in headings)
    assert len(rule.doc.split("\n\n")[0]) < 300


@each_rule
def test_silence_is_shown_by_fixtures(rule: Rule) -> None:
    """No-op cases, and cases that no machine can derive: shadowing, star imports, splats, hidden keywords."""
    quiet = [case for case in mine(rule) if case.kind == "same"]
    assert len(quiet) >= 2
    if not rule.triggers:
        return
    for word in ("shadow", "star", "splat", "keyword"):
        by_name = [case for case in mine(rule) if word in case.name]
        said = [case for case in quiet if case.name == "not_applicable" and f"# {word}:" in case.path.read_text()]
        assert by_name or said, f"no fixture of {rule.name} shows what it does with: {word}"


@each_rule
def test_fixes_are_shown_by_fixtures(rule: Rule) -> None:
    made = [case for case in mine(rule) if case.kind == "before"]
    assert made or rule.safety is Safety.DISPLAY
    shown = {case.options.get("strategy") for case in made}
    for strategy in rule.strategies[1:]:
        assert strategy in shown, f"no fixture of {rule.name} takes the strategy {strategy}"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (
            "import nothing_of_this_name",
            "cannot be loaded (ModuleNotFoundError: No module named",
        ),
        ("rule = 1", "is no rule: the entry point mine must name a `codemods.rules.rule.Rule`"),
    ],
)
def test_a_package_whose_rule_is_broken_ends_with_a_sentence(code: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "broken_rule.py").write_text(code)
    (tmp_path / "broken-1.dist-info").mkdir()
    (tmp_path / "broken-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (tmp_path / "broken-1.dist-info" / "entry_points.txt").write_text("[fixer.rules]\nmine = broken_rule:rule\n")
    program = "import sys; sys.argv = ['fixer', 'rules']\nfrom fixer.cli import main; main()"
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT.parents[1]}", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("fixer: ") and done.stderr.count("\n") == 1
    assert why in done.stderr


def test_every_fixture_folder_belongs_to_a_rule() -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders - {"demo"} == {rule.name for rule in RULES}


def test_every_fixture_file_is_used() -> None:
    pattern = re.compile(
        r"\w+/((before|after|same|report)(\.(py|ya?ml|json|toml|sh|ipynb))?|report\.txt|options|proof\.py)|stand_in\.py"
    )
    for rule in RULES:
        folder = ROOT / rule.name
        for path in (*folder.glob("*"), *folder.glob("*/*")):
            name = path.relative_to(folder).as_posix()
            assert pattern.fullmatch(name) or (path.is_dir() and path.parent == folder), path


def test_the_readme_shows_what_really_happens() -> None:
    """Each before/after pair of the README is a fixture, and the fixtures are run."""
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    shown = re.findall(r"<!-- (\S+) -->\n```diff\n(.*?)```", readme, re.DOTALL)
    assert len(shown) == 5
    for name, diff in shown:
        before = (ROOT / name / "before.py").read_text()
        after = (ROOT / name / "after.py").read_text()
        removed = [line[1:] for line in diff.splitlines() if line.startswith("-")]
        added = [line[1:] for line in diff.splitlines() if line.startswith("+")]
        kept = [line[1:] for line in diff.splitlines() if line.startswith(" ")]
        assert removed or added
        for line in (*removed, *kept):
            assert line.strip() in before, f"{name}: {line}"
        for line in (*added, *kept):
            assert line.strip() in after, f"{name}: {line}"


class TestIndex:
    """What the cache says of the rules."""

    def test_it_is_written_once_and_read_without_loading_a_rule(self, tmp_path: Path) -> None:
        expected = tuple(map(RuleInfo.of, RULES))
        assert rule_infos.__wrapped__(tmp_path) == expected
        with mock.patch.object(rule_index.transforms, "load", side_effect=AssertionError):
            assert rule_infos.__wrapped__(tmp_path) == expected

    @pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"state": "other", "rules": []}'])
    @pytest.mark.parametrize("sealed", [False, True])
    def test_what_is_damaged_or_of_other_rules_is_not_believed(
        self, tmp_path: Path, damage: bytes, sealed: bool
    ) -> None:
        seal = hashlib.sha256(damage).hexdigest().encode() + b"\n" if sealed else b""
        (tmp_path / rule_index.FILE).write_bytes(seal + damage)
        assert rule_infos.__wrapped__(tmp_path) == tuple(map(RuleInfo.of, RULES))

    @pytest.mark.parametrize("seed", range(50))
    def test_bytes_that_flip(self, tmp_path: Path, seed: int) -> None:
        expected, chance = rule_infos.__wrapped__(tmp_path), random.Random(seed)
        data = bytearray((tmp_path / rule_index.FILE).read_bytes())
        for _ in range(chance.choice((1, 3, 50))):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        (tmp_path / rule_index.FILE).write_bytes(data)
        assert rule_infos.__wrapped__(tmp_path) == expected

    def test_a_changed_rule_is_loaded(self, tmp_path: Path) -> None:
        rule_infos.__wrapped__(tmp_path)
        with (
            mock.patch.object(rule_index, "_state", lambda: "changed"),
            mock.patch.object(rule_index.transforms, "load", lambda: RULES[:1]),
        ):
            assert [info.code for info in rule_infos.__wrapped__(tmp_path)] == [RULES[0].code]

    def test_without_a_cache_nothing_is_written(self) -> None:
        with mock.patch.object(Path, "write_bytes", side_effect=AssertionError):
            assert rule_infos.__wrapped__(None) == tuple(map(RuleInfo.of, RULES))
