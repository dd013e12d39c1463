"""Every `fixer …` on every page is run, or stands in the one table of those that cannot be, with the reason."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from unittest import mock

import pytest
from test_docs import PAGES, ROOT
from test_site import BLOCK, NOT_RUN, is_run, named, page, typed
from world import fixer, git, repository, write

FOLLOWED = {"start.md", "recipes.md"}
"""Their blocks are run in their order, with their files, by `test_site.py`."""
COMPLETED = {
    ".": "check .",
    "apply --add-ignore": "apply --add-ignore SCL003",
    "apply --branch": "apply --branch fix/amp",
    "apply --branch --dry-run": "apply --branch fix/amp --dry-run",
    "check --select": "check --select AMP",
    "diagnose": "diagnose train.log",
    "explain": "explain PL001",
    "guard": "guard pre-commit",
    "guard github": "guard github --from git+https://git.example.org/ml/fixer@v1",
    "probe": "probe --to before --print-environment",
    "apply --plan FILE": "apply --plan plan.json",
    "upgrade": "upgrade torch@2.13.0",
    "bulk": "bulk status CAMPAIGN.toml",
    "bulk run": "bulk run CAMPAIGN.toml",
}
"""Commands of running text that are named without what they take, or that are answered with the right one."""
MEANT = {
    "LOG": "train.log",
    "FILE": "train.py",
    "FILE:LINE": "train.py:12",
    "CODE": "PL001",
    "CODES": "SCL003",
    "DIR": "before",
    "MESSAGE": "Attempted step but _scale is None",
    "pre-commit|github|gitlab": "pre-commit",
    "PACKAGE@VERSION": "torch@2.13.0",
    "accelerate@VERSION": "accelerate@1.15.0",
    "datasets@VERSION": "datasets@5.2.0",
    "lightning@VERSION": "lightning@2.6.6",
    "peft@VERSION": "peft@0.21.2",
    "torch@VERSION": "torch@2.13.0",
    "transformers@VERSION": "transformers@5.23.0",
    "trl@VERSION": "trl@1.16.0",
    "git+URL@COMMIT": "git+https://git.example.org/ml/fixer@v1",
}
"""What placeholders stand for."""
BEFORE = {
    "--baseline": "check --write-baseline fixer-baseline.json --exit-zero",
    "--plan": "check --write-plan plan.json --exit-zero",
    "undo": "apply",
    "bulk report": "bulk run CAMPAIGN.toml",
    "bulk status": "bulk run CAMPAIGN.toml",
}
"""What a person has run before."""
OTHER_PROGRAMS = {
    "python": "runs a training program; what is piped from it is piped by `test_demo.py`",
    "srun": "needs Slurm; `tests/test_kept_runs.py` and `tests/test_verify_run.py` hold what is behind it",
    "python3": "makes an environment from a package index; `.ci/run` does it",
    "pip": "installs from a package index",
    ".venv/bin/pip": "installs from a package index",
    "pipx": "installs from a package index",
    "npm": "installs from a package index",
    "git": "git itself",
    ".venv/bin/pytest": "these tests",
    ".venv/bin/python": "the tools of this project, most need torch; `tests/test_writing_a_rule.py`, `test_docs.py`",
    "uv": "fetches the build system from a package index",
    "uvx": "asks a package index, and a database of advisories",
    ".venv/bin/mkdocs": "builds the site: `tests/test_site.py`",
}
"""Other programs that blocks of shell start, and why none is started here."""
CAMPAIGN = 'name = "amp-2026"\nrepositories = ["../services/*"]\nselect = ["AMP", "PL001"]\nengine = "local"\n'


def completed(words: list[str]) -> str:
    """The command that a page means."""
    line = COMPLETED.get(shlex.join(words), shlex.join(words))
    return shlex.join(MEANT.get(word, word) for word in shlex.split(line))


def commands() -> list[str]:
    """What is to be run, each once."""
    found: dict[str, None] = {}
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        blocks = () if path.name in FOLLOWED else typed(text)
        found |= {completed(words): None for words in (*blocks, *named(text))}
    followed = {shlex.join(words) for name in FOLLOWED for words in typed(page(name))}
    return [line for line in found if is_run(line) and line not in followed]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What the pages speak of: the project with five bugs, "Start here" with its log, a notebook, owners."""
    demo = ROOT / "tests" / "before_after" / "demo"
    bytecode = shutil.ignore_patterns("__pycache__")
    root = tmp_path / "work"
    start = {name: text for name, _, text in BLOCK.findall(page("start.md")) if name in ("train.py", "train.log")}
    cell = '{"cell_type": "code", "source": ["x = 1\\n", "y = 2"], "metadata": {}, "outputs": []}'
    notebook = f'{{"cells": [{", ".join([cell] * 3)}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 4}}'
    shutil.copytree(demo, root / "src", ignore=bytecode)
    shutil.copytree(demo, root / "services" / "vision", ignore=bytecode)
    shutil.copytree(demo, root / "tests" / "before_after" / "demo", ignore=bytecode)
    write(
        root,
        {
            "train.py": start["train.py"],
            "a.py": start["train.py"],
            "CODEOWNERS": "* @acme/ml\n/services/ @acme/vision\n",
            "nb.ipynb": notebook,
            "wheels/ampfix.whl": "",
            "CAMPAIGN.toml": CAMPAIGN,
        },
    )
    repository(root, {})
    git("update-ref", "refs/remotes/origin/main", "HEAD", at=root)
    (root / "train.py").write_text(start["train.py"] + "\n")
    write(root, {"train.log": start["train.log"], "slurm-1234.out": start["train.log"]})
    write(tmp_path / "other", {"train.py": start["train.py"]})
    shutil.copytree(demo, tmp_path / "services" / "audio", ignore=bytecode)
    repository(tmp_path / "services" / "audio", {})
    return root


@pytest.mark.parametrize("line", commands())
def test_a_command_works(line: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(project.parent / "cache"))
    monkeypatch.setenv("FIXER_CACHE_DIR", str(project.parent / "cache"))  # `fixer cache clear` clears this one
    piped = TextIOWrapper(BytesIO((project / "train.log").read_bytes()))
    words = shlex.split(line)
    for key, before in BEFORE.items():
        if f" {key} " in f" {line} ":
            assert fixer(*shlex.split(before), at=project, real=True).code in (0, 1)
    if "FINGERPRINT" in words:
        found = json.loads(fixer("check", "--format", "json", "--select", "PL001", at=project, real=True).out)
        words[words.index("FINGERPRINT")] = found["findings"][0]["fingerprint"]
    with mock.patch.object(sys, "stdin", piped):
        done = fixer(*words, at=project, real=True)
    assert done.code in (0, 1) and "Traceback" not in done.err, f"fixer {line}\n{done.err}"


def test_the_table_names_what_the_pages_hold() -> None:
    """No reason is left over, and each leads to a test that there is."""
    lines = {
        completed(words) for path in PAGES for words in (*typed(path.read_text("utf-8")), *named(path.read_text()))
    }
    for part, reason in NOT_RUN.items():
        assert any(f" {part} " in f" {line} " for line in lines), part
        assert (ROOT / "tests" / reason.rpartition(": ")[2]).is_file(), reason


def test_other_programs_are_known() -> None:
    started = set()
    for path in PAGES:
        for _, language, block in BLOCK.findall(path.read_text(encoding="utf-8")):
            lines = block.replace("\\\n", " ").splitlines()
            if language == "console":
                lines = [line[2:] for line in lines if line.startswith("$ ")]
            elif language != "sh":
                continue
            for line in lines:
                words = shlex.split(line, comments=True)
                started |= {re.sub(r"^\.venv/bin/fixer$", "fixer", words[0])} if words else set()
    assert started - {"fixer"} == set(OTHER_PROGRAMS)
