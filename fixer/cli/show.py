"""The result of `check` and `apply` in the format that was asked for."""

from __future__ import annotations

import os
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.model.visible import visible_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fixer.cli.screen import Screen
    from fixer.output.branches import Delivery
    from fixer.output.pull_requests import HandedOver
    from fixer.run.request import Outcome


def findings(
    screen: Screen,
    outcome: Outcome,
    here: Path,
    *,
    format: Enum,
    statistics: bool,
    profile: Mapping[str, object] | None = None,
) -> None:
    """What was found."""
    if format.value == "json":
        as_json(screen, outcome, here, statistics=statistics, profile=profile)
    elif format.value == "html":
        as_html(screen, outcome)
    elif format.value != "terminal":
        screen.result(for_ci(outcome, format.value))
    elif statistics:
        counts(screen, outcome)
    elif not outcome.plan.findings:
        screen.result(b"")
    elif screen.pretty:
        from fixer.report.terminal import show_findings

        show_findings(screen.console(sys.stdout), outcome.plan, outcome.root, here)
    else:
        from fixer.report.tally import worst_first
        from fixer.report.terminal import finding_line

        lines = [finding_line(finding, outcome.root, here) for finding in worst_first(outcome.plan.findings)]
        screen.result("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))


def patch(screen: Screen, outcome: Outcome) -> None:
    """What would change, as a patch."""
    if screen.pretty:
        from fixer.report.terminal import show_patch

        show_patch(screen.console(sys.stdout), outcome.plan.files)
    else:
        from fixer.report.patch import patch as render

        screen.result(render(outcome.plan.files))


def counts(screen: Screen, outcome: Outcome) -> None:
    """How often each rule spoke."""
    from fixer.report.terminal import show_statistics

    lines: list[str] = []
    show_statistics(lines.append, outcome.plan, outcome.unsafe)
    screen.result("".join(lines).encode())


def as_json(
    screen: Screen,
    outcome: Outcome,
    here: Path,
    *,
    written: frozenset[str] = frozenset(),
    statistics: bool = False,
    deliveries: Sequence[Delivery] | None = None,
    handed: Sequence[HandedOver] = (),
    profile: Mapping[str, object] | None = None,
) -> None:
    """Everything, for programs."""
    from codemods.transforms import load
    from fixer.report.branches import branches
    from fixer.report.json import document, render

    content = document(
        outcome.plan,
        root=Path(os.path.relpath(outcome.root, here)).as_posix(),
        rules={rule.code: rule for rule in load()},
        unsafe=outcome.unsafe,
        read=outcome.read,
        written=written,
        statistics=statistics,
    )
    if outcome.known is not None:
        content["summary"]["baseline"] = {"hidden": outcome.known.hidden, "gone": outcome.known.gone}
    if deliveries is not None:
        content["branches"] = branches(deliveries, handed)
    if profile is not None:
        content["profile"] = profile
    screen.result(render(content))


def as_html(screen: Screen, outcome: Outcome) -> None:
    """The findings as a page, each with its fix as a diff."""
    from codemods.transforms import load
    from fixer.report.findings_html import render

    rules = {rule.code: rule for rule in load()}
    name = outcome.root.resolve().name
    screen.result(render(outcome.plan, rules, name=name, unsafe=outcome.unsafe, read=outcome.read))


def for_ci(outcome: Outcome, format: str) -> bytes:
    """The findings in a format that a CI system reads or shows: `sarif`, `github`, `gitlab`, `junit` or `markdown`."""
    if format == "sarif":
        from codemods.transforms import load
        from fixer.report import sarif

        return sarif.render(outcome, {rule.code: rule for rule in load()})
    if format == "github":
        from fixer.report import github_annotations

        return github_annotations.render(outcome.plan)
    if format == "gitlab":
        from fixer.report import gitlab_quality

        return gitlab_quality.render(outcome.plan)
    if format == "markdown":
        from fixer.report import findings_markdown

        return findings_markdown.render(outcome.plan, outcome.unsafe)
    from fixer.report import junit

    return junit.render(outcome)


def files(screen: Screen, outcome: Outcome, here: Path, done: str = "fixed") -> None:
    """The files that were written, each with the rules and what was done about them; nothing with --quiet."""
    if screen.quiet:
        return
    lines = []
    for file in outcome.plan.changed:
        codes = sorted({finding.code for finding in file.findings if finding.applied})
        path = os.path.relpath(outcome.root / file.path, here)
        lines.append(f"{visible_line(path)}: {done} {', '.join(codes)}\n")
    screen.result("".join(lines).encode("utf-8", "backslashreplace"))


def commits(screen: Screen, deliveries: Sequence[Delivery]) -> None:
    """The commits that were made, oldest first; with --quiet only what failed is told."""
    if screen.quiet:
        return
    from fixer.report.branches import commit_lines

    screen.result("".join(f"{line}\n" for line in commit_lines(deliveries)).encode("utf-8", "replace"))


def as_markdown(screen: Screen, outcome: Outcome, deliveries: Sequence[Delivery] = ()) -> None:
    """The text of a pull request; of several, one after the other."""
    from codemods.transforms import load
    from fixer.report.markdown import pull_request

    rules = {rule.code: rule for rule in load()}
    texts = [
        pull_request(
            delivery.outcome.plan,
            rules,
            unsafe=delivery.outcome.unsafe,
            commits=[(commit.oid, commit.subject) for commit in delivery.commits],
            branch=delivery.branch,
            base=delivery.base_name,
            where=delivery.part.where if delivery.part else "",
        )
        for delivery in deliveries
    ] or [pull_request(outcome.plan, rules, unsafe=outcome.unsafe)]
    screen.result("\n---\n\n".join(texts).encode("utf-8", "replace"))
