"""Who is compared with whom: the rows of the table and their goals."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

from benchmarks import everyday, planted
from benchmarks.measure import Contestant, Failed
from benchmarks.pins import CONFIGURED, LARGE
from benchmarks.setting import Goal, Growth, Row, Setting


def cold_torch_free(setting: Setting) -> Row:
    """Many files, and nothing for us in nearly all of them."""
    return Row(
        "cold-torch-free",
        "cold check, all rules, torch-free packages",
        setting.check(setting.corpora.torch_free),
        setting.ruff(setting.corpora.torch_free),
        Goal(0.8),
    )


def cold_torch_heavy(setting: Setting) -> Row:
    """Files that our rules are about."""
    return Row(
        "cold-torch-heavy",
        "cold check, all rules, torch-heavy packages",
        setting.check(setting.corpora.torch_heavy),
        setting.ruff(setting.corpora.torch_heavy),
        Goal(5.0),
    )


def cold_configured(setting: Setting) -> Row:
    """Hundreds of configuration files, each of which may be read by any script: beside code without them."""
    nemo, large = (setting.corpora.alone[package] for package in (CONFIGURED, LARGE))
    title = f"cold check, NeMo with {len(planted.CONFIGURATIONS) // 2} configuration files, beside {LARGE}"
    return Row("cold-nemo", title, setting.check(nemo), setting.check(large), Goal(1.0))


def torchfix(setting: Setting) -> Row:
    """The peer that looks for bugs in PyTorch code."""
    command = (setting.tools.torchfix, "--select", "ALL", ".")
    return Row(
        "torchfix",
        "cold check, Accelerate and Lightning",
        setting.check(setting.corpora.pair),
        Contestant("torchfix --select ALL", command, setting.corpora.pair),
        Goal(60, times_faster=True),
    )


def one_changed_file(setting: Setting) -> Row:
    """The check before a commit; whether the file is wrong is written in two others."""
    since = "--since" in setting.options
    ours = setting.check(setting.corpora.repository, *(("--since", "HEAD") if since else (planted.CHANGED,)))
    said = subprocess.run(
        (*ours.command, "--format", "json"), cwd=ours.at, env=setting.environment, capture_output=True, check=False
    )
    if [(f["code"], f["path"]) for f in json.loads(said.stdout)["findings"]] != [("PL001", planted.CHANGED)]:
        raise Failed(f"`{ours.name}` did not find the one bug in {planted.CHANGED} of {setting.corpora.repository}")
    return Row(
        "one-changed-file",
        "cold check of one changed file in the whole repository, its base classes in two other files",
        ours,
        setting.version,
        Goal(4.0),
        "" if since else "the file is named, as there is no `--since` yet",
    )


def starting(setting: Setting) -> Row:
    """What a person waits for who asks what there is."""
    return Row(
        "help",
        "`fixer --help`",
        Contestant("fixer --help", (setting.tools.fixer, "--help"), setting.corpora.empty),
        Contestant('python -c "import typer"', (setting.tools.python, "-c", "import typer"), setting.corpora.empty),
        Goal(1.5),
    )


def branch(setting: Setting) -> Row:
    """From bugs to commits, beside the commits alone."""
    made = setting.branches
    return Row(
        "branch",
        f"`apply --branch`, {planted.COUNT:,} changed files of the repository, {made.commits} commits",
        made.ours,
        made.by_hand,
        Goal(2.0),
        "git by hand is given the new contents; ours includes finding them (next row)",
    )


def branch_planning(setting: Setting) -> Row:
    """How much of `apply --branch` is finding the fixes."""
    made = setting.branches
    return Row("branch-planning", "of which planning: the same with `--dry-run`", made.planning, made.by_hand)


def cold_as_shipped(setting: Setting) -> Row:
    """Files of kinds that we read and ruff does not."""
    at = setting.corpora.as_shipped
    title = "cold check, all rules, torch-free packages with 29,000 JSON files of translations"
    return Row("cold-as-shipped", title, setting.check(at), setting.ruff(at))


ROWS: dict[str, Callable[[Setting], Row]] = {
    "cold-torch-free": cold_torch_free,
    "cold-torch-heavy": cold_torch_heavy,
    **everyday.ROWS,
    "cold-nemo": cold_configured,
    "torchfix": torchfix,
    "one-changed-file": one_changed_file,
    "help": starting,
    "branch": branch,
    "branch-planning": branch_planning,
    "cold-as-shipped": cold_as_shipped,
}
"""Each makes a row; what it needs before the first round is done then, and not measured."""


def growth(setting: Setting) -> Growth:
    """From 1,000 files to all of them."""
    return Growth(
        sizes=tuple(size for size, _ in setting.corpora.growth),
        ours=tuple(setting.check(place) for _, place in setting.corpora.growth),
        nothing=setting.check(setting.corpora.empty),
        theirs=tuple(setting.ruff(place) for _, place in setting.corpora.growth),
    )
