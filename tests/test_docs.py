"""The README and the pages: generated ones are up to date, links lead somewhere, and what they name exists."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from test_layers import ROOMS

from fixer.bulk import campaign
from fixer.project.configuration import COMMIT, KEYS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
ARCHITECTURE = (DOCS / "architecture.md").read_text(encoding="utf-8")


def test_generated_pages_are_up_to_date() -> None:
    generate = runpy.run_path(str(DOCS / "generate.py"))
    assert generate["stale"]() == [], "run `python docs/generate.py` and commit docs/"


def _anchors(page: Path) -> set[str]:
    """What a forge calls the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if not target.startswith("https://"):
            linked = page.parent / path if path else page
            assert linked.exists(), target
            assert not anchor or anchor in _anchors(linked), target


def test_every_page_is_linked_from_the_readme_or_contributing() -> None:
    linked = {
        match for page in PAGES[:2] for match in re.findall(r"\]\((docs/[^)#]+)", page.read_text(encoding="utf-8"))
    }
    listed = {path.relative_to(ROOT).as_posix() for path in DOCS.glob("*.md")}
    assert listed - linked == {"docs/architectures.md"}


def _rows(text: str) -> list[list[str]]:
    """The cells of all rows of tables."""
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:1] == "|"]


def _first_cells(text: str) -> set[str]:
    """What stands in backticks in the first cells of tables."""
    return {name for row in _rows(text) for name in re.findall(r"`([^`]+)`", row[0])}


def test_every_key_of_the_configuration_is_described() -> None:
    keys, _, commit = (DOCS / "configuration.md").read_text(encoding="utf-8").partition("### commit\n")
    assert _first_cells(keys) == set(KEYS)
    assert _first_cells(commit) == set(COMMIT)
    for key in KEYS:
        assert f"\n### {key}\n\n```toml\n" in keys + "### commit\n" + commit


def test_every_key_of_a_campaign_is_described() -> None:
    tables = ("pull-request", "limits", "verify-limits")
    flat: dict[str, Any] = {key: value for key, value in campaign.KEYS.items() if key not in tables}
    flat |= {f"{table}.{key}": None for table in tables for key in campaign.KEYS[table]}
    keys = (DOCS / "campaigns.md").read_text(encoding="utf-8").partition("## Keys")[2].partition("\n## ")[0]
    assert _first_cells(keys) == set(flat)


def test_the_architecture_lists_the_rooms_in_their_order() -> None:
    tree = ARCHITECTURE.partition("```text\n")[2].partition("```")[0]
    package, listed = "", []
    for line in tree.splitlines():
        if match := re.match(r"(codemods|fixer)/$", line):
            package = match[1]
            listed.append(package)
        elif match := re.match(r"  (\w+)(?:/|\.py) ", line):
            listed.append(f"{package}.{match[1]}")
    assert listed == ROOMS


def test_the_path_of_a_finding_names_what_there_is() -> None:
    path = ARCHITECTURE.partition("## The path of one finding")[2].partition("\n## ")[0]
    rows = [row for row in _rows(path) if row[1].startswith("`")]
    assert len(rows) > 15
    for _, file, names in rows:
        tree = ast.parse((ROOT / file.strip("`")).read_bytes())
        defined = {
            name
            for node in tree.body
            for name in (
                [target.id for target in node.targets if isinstance(target, ast.Name)]
                if isinstance(node, ast.Assign)
                else [getattr(node, "name", "")]
            )
        }
        assert set(re.findall(r"`(\w+)`", names)) <= defined, file


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_that_are_named_exist(page: Path) -> None:
    """Paths of this repository in backticks; those with a placeholder are left out."""
    for name in re.findall(r"`((?:codemods|fixer|tests|docs)/[\w./-]+)`", page.read_text(encoding="utf-8")):
        assert re.search("uncalled[-_]no[-_]grad", name) or (ROOT / name).exists(), name
