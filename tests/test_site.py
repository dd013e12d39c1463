"""The site: it builds without a warning and fetches nothing, and what its pages tell people to type works."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer
from test_docs import DOCS, PAGES, ROOT
from world import fixer, git, repository, write

from codemods.transforms import load
from fixer.cli.application import application

BLOCK = re.compile(r"(?:^`(\S+)`\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A fenced block: the name of the file that it is, if it is one, its language, and its text."""
INLINE = re.compile(r"(?<!`)`(fixer [^`]+)`(?!`)")
PLACEHOLDERS = {"fixer COMMAND --help", "fixer LICENSE"}
SEPARATORS = {"&&", "|", ";"}
NOT_RUN = {
    "verify": "runs a training program, needs torch: test_verify_run_torch.py",
    "--verify": "runs a training program, needs torch: test_verify_run_torch.py",
    "--prove": "runs a proof, needs torch: test_explain_prove.py",
    "probe --": "starts the command of a person: test_kept_runs.py",
    "--pr": "needs a forge: test_forge.py",
    "--push": "needs a remote: test_push.py",
    "-i": "asks a person: test_interactive.py",
    "--interactive": "asks a person: test_interactive.py",
    "--watch": "does not end by itself: test_watch.py",
    "lsp": "does not end by itself: test_lsp.py",
    "--install-completion": "writes to the files of the shell that started it: test_manners.py",
    "--show-completion": "asks which shell started it: test_manners.py",
    "rules new": "writes a rule into this checkout: test_writing_a_rule.py",
    "GRD099": "is the rule that a reader has written by then: test_writing_a_rule.py",
}
"""Commands that hold these words are not run from the pages: why, and where they are tried."""
COMMAND = typer.main.get_command(application())


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


needs_mkdocs = pytest.mark.skipif(find_spec("material") is None, reason="needs mkdocs-material (the extra dev)")


def build(root: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build the site; not with `--quiet`, which lets `--strict` miss every warning."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", ".mkdocs.yml", "-d", str(site)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


@needs_mkdocs
def test_a_page_that_no_menu_lists_and_an_anchor_that_is_wrong_fail(tmp_path: Path) -> None:
    for name in (".mkdocs.yml", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(DOCS, tmp_path / "docs")
    write(tmp_path / "docs", {"stray.md": "# Stray\n", "api.md": "# API\n\n[there](usage.md#no-such-heading)\n"})
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode == 1 and "Aborted with 2 warnings" in done.stdout + done.stderr
    assert "stray.md" in done.stderr and "#no-such-heading" in done.stderr


@needs_mkdocs
def test_the_site_builds_without_a_warning_and_fetches_nothing(tmp_path: Path) -> None:
    done = build(ROOT, tmp_path)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    sites = {file.relative_to(tmp_path).as_posix(): file.read_text("utf-8") for file in tmp_path.rglob("*.html")}
    assert sites.keys() - {"404.html"} == {
        path.relative_to(DOCS).with_suffix(".html").as_posix() for path in DOCS.rglob("*.md")
    } | {"contributing.html"}
    for name, text in sites.items():
        fetched = re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=\"([^\"]*)\"", text)
        assert [url for url in fetched if re.match(r"https?:|//", url)] == [], name
    assert "class=mermaid" not in "".join(sites.values()), "diagrams would be drawn by a script from another host"
    for rule in load():
        if rule.module.startswith("codemods."):
            assert f'href="rules/{rule.code}.html"' in sites["rules.html"]


def test_every_rule_has_its_page() -> None:
    rules = [rule for rule in load() if rule.module.startswith("codemods.")]
    for rule in rules:
        text = page(f"rules/{rule.code}.md")
        assert text.startswith(f"<!-- Written by docs/generate.py; do not edit. -->\n# {rule.code} {rule.name}\n")
        for heading in ("Why is this bad?", "Fix safety", "When it is not offered", "Example", "What is not flagged"):
            assert f"\n## {heading}" in text, f"{rule.code}: {heading}"
    without = {rule.code for rule in rules if "\nBoth sides were run: torch " not in page(f"rules/{rule.code}.md")}
    repairing_nothing = {
        "AMP012",
        "DST009",
        "DST010",
        "HF020",
        "PFT005",
        "PL104",
        "SCH001",
        "SCH005",
        "SCL007",
        "SCL013",
        "SCL014",
        "VER004",
        "VER008",
        "VER009",
    }
    assert without == repairing_nothing


def typed(text: str) -> Iterator[list[str]]:
    """The words of each call of `fixer` in blocks of shell and of a console."""
    for _, language, block in BLOCK.findall(text):
        lines = block.replace("\\\n", " ").splitlines()
        if language == "console":
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        for line in lines if language in ("console", "sh") else ():
            yield from calls(line)


def named(text: str) -> Iterator[list[str]]:
    """The same in running text, where what an option takes may be left out."""
    for line in INLINE.findall(re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)):
        if (line := " ".join(line.split())) not in PLACEHOLDERS:
            yield from calls(line)


def calls(line: str) -> Iterator[list[str]]:
    """The words behind `fixer` of each command of a line."""
    words = shlex.split(line, comments=True)
    while words:
        end = next((number for number, word in enumerate(words) if word in SEPARATORS), len(words))
        if words[:1] == ["fixer"] or words[0].endswith("/fixer"):
            yield words[1:end]
        words = words[end + 1 :]


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words call, and what is left of them."""
    command, rest = COMMAND, list(words)
    while rest and rest[0] in (below := getattr(command, "commands", {})):
        command = below[rest.pop(0)]
    return command, rest


def is_run(line: str) -> bool:
    """Whether a command can be run here as it stands on a page."""
    return not any(f" {part} " in f" {line} " for part in NOT_RUN)


def problem(words: list[str], *, whole: bool) -> str:
    """What the command line has against a call: an option that there is not, or a value that it does not take."""
    command, rest = command_of(words)
    if whole and command is not COMMAND:  # the options of `fixer` itself act when they are read
        try:
            command.make_context("fixer", rest, resilient_parsing=not rest)
        except Exception as error:
            return f"fixer {shlex.join(words)}: {error}"
    options = {option for each in command.params for option in (*each.opts, *each.secondary_opts)} | {"-h", "--help"}
    unknown = {word.partition("=")[0] for word in rest if word.startswith("-") and word not in ("-", "--")} - options
    return f"fixer {shlex.join(words)}: there is no {', '.join(unknown)}" if unknown and "--" not in rest else ""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_are_accepted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = [problem(words, whole=True) for words in typed(text)] + [
        problem(words, whole=False) for words in named(text)
    ]
    assert [told for told in found if told] == []


def test_commands_that_are_wrong_are_noticed() -> None:
    blocks = "```sh\nfixer check --no-such  # why\n```\n```console\n$ cat x | fixer verify --run\n```\n"
    text = f"{blocks}Run `fixer undo\n--no-such`.\n"
    assert list(typed(text)) == [["check", "--no-such"], ["verify", "--run"]]
    assert list(named(text)) == [["undo", "--no-such"]]
    assert all(problem(words, whole=True) for words in typed(text))
    assert [problem(words, whole=False) for words in named(text)] == ["fixer undo --no-such: there is no --no-such"]


def test_start_here_is_followed(tmp_path: Path) -> None:
    """Its files, its commands, and what they print; `...` stands for what is left out."""
    steps = 0
    for name, language, text in BLOCK.findall(page("start.md")):
        if name:
            write(tmp_path, {name: text})
        if language != "console":
            continue
        for command, shown in re.findall(r"^\$ fixer (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
            result = fixer(*shlex.split(command), at=tmp_path, environment={"COLUMNS": "80"}, real=True)
            assert result.code in (0, 1), result.err
            printed, place = result.text + result.err, 0
            for part in shown.split("...\n"):
                assert part in printed[place:], f"$ fixer {command}\n{printed}"
                place = printed.index(part, place) + len(part)
            steps += 1
    assert steps == 7
    assert "    loss.backward()  # fixer: ignore[SCL003]\n" in (tmp_path / "train.py").read_text()


@pytest.fixture
def monorepo(tmp_path: Path) -> Path:
    """The project with five bugs as one of two services, beside repositories for a campaign."""
    demo = ROOT / "tests" / "before_after" / "demo"
    root = tmp_path / "work" / "training"
    shutil.copytree(demo, root, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(demo, root / "services" / "vision", ignore=shutil.ignore_patterns("__pycache__"))
    cell = '{"cell_type": "code", "source": ["x = 1"], "metadata": {}, "outputs": [], "execution_count": null}'
    notebook = f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'
    write(root, {"CODEOWNERS": "* @acme/ml\n/services/ @acme/vision\n", "demo.ipynb": notebook})
    repository(root, {})
    for name in ("audio", "text"):
        shutil.copytree(demo, tmp_path / "work" / "services" / name)
        repository(tmp_path / "work" / "services" / name, {})
    return root


def test_recipes_are_followed(monorepo: Path) -> None:
    """Every command of the page, one after the other, ends as it should; those that need more are tried elsewhere."""
    tried = []
    for recipe in page("recipes.md").split("\n## "):
        git("reset", "-q", "--hard", at=monorepo)
        git("clean", "-qfdx", at=monorepo)
        for name, language, text in BLOCK.findall(recipe):
            if name:
                write(monorepo, {name: text})
            for words in typed(f"```{language}\n{text}```"):
                if is_run(shlex.join(words)):
                    result = fixer(*words, at=monorepo, real=True)
                    assert result.code in (0, 1), f"fixer {shlex.join(words)}\n{result.err}"
                    tried.append(words[0])
    assert {word: tried.count(word) for word in sorted({*tried})} == {
        "apply": 8,
        "bulk": 4,
        "check": 13,
        "explain": 1,
        "guard": 3,
        "undo": 1,
        "upgrade": 2,
    }


def test_the_comparison_counts_what_check_finds() -> None:
    demo = ROOT / "tests" / "before_after" / "demo"
    assert "none of the 12 places" in page("comparison.md")
    assert len(fixer("check", "--quiet", at=demo, real=True).text.splitlines()) == 12
