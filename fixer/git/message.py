"""The words of a commit: subject, body and trailers, by template."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemods import __version__
from codemods.model.edits import Finding
from codemods.model.visible import visible, visible_line
from fixer.errors import Refusal
from fixer.report.tally import plural

if TYPE_CHECKING:
    from codemods.rules.rule import Rule

SUBJECT = "fix({codes}): {title}"
BODY = "{summary}\n\n{why}\n\n{findings}"
WIDTH = 72
LISTED = 30
"""Findings named in a commit message; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How commits are to read."""

    subject: str = SUBJECT
    body: str = BODY
    trailers: tuple[str, ...] = ()
    signed_off_by: str | None = None
    ticket: str | None = None
    """Stands where a template says `{ticket}`; in a trailer where none does."""
    part: str = ""
    """The name of the part of a split plan, and whose files it changes."""
    owners: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        fill(self.subject, dict.fromkeys(FIELDS, ""), "subject")
        fill(self.body, dict.fromkeys(FIELDS, ""), "body")
        for trailer in self.trailers:
            if not re.fullmatch(r"[A-Za-z0-9-]+=\S.*", trailer) or "\n" in trailer:
                raise Refusal(f"trailer {trailer!r}: write KEY=VALUE, such as Ticket=ML-12")
        if self.ticket is not None and not re.fullmatch(r"\S(?:.*\S)?", self.ticket):
            raise Refusal(f"ticket {self.ticket!r}: write one line, such as ML-12")
        if self.ticket is None and self._asks_for_ticket:
            raise Refusal("a template says {ticket}: give --ticket ID")

    @property
    def _asks_for_ticket(self) -> bool:
        return "{ticket}" in self.subject + self.body

    def last_lines(self, *own: str) -> str:
        """The trailers of a message, `own` ones first."""
        trailers = [*own, f"Fixer-Version: {__version__}"]
        trailers += [": ".join(part.strip() for part in trailer.split("=", 1)) for trailer in self.trailers]
        if self.ticket is not None and not self._asks_for_ticket:
            trailers.append(f"Ticket: {self.ticket}")
        if self.signed_off_by:
            trailers.append(f"Signed-off-by: {self.signed_off_by}")
        return "\n".join(trailers)


FIELDS = (
    *("codes", "names", "title", "summary", "why", "findings", "files", "count", "safety", "version"),
    *("ticket", "part", "owners"),
)


def fill(template: str, values: Mapping[str, str], what: str) -> str:
    """`template` with each `{field}` replaced; nothing else is evaluated."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise Refusal(f"{what} template: there is no {{{match[1]}}}; there are {', '.join(sorted(values))}")
        return values[match[1]]

    return re.sub(r"\{(\w+)\}", value, template)


def message(rules: Sequence[Rule], findings: Sequence[Finding], files: Sequence[str], wording: Wording) -> str:
    """The whole message of the commit that holds the fixes of `rules`."""
    titles = {finding.fix.title for finding in findings if finding.fix}
    # One rule may repair in several ways; its own title then covers them all.
    title = titles.pop() if len(titles) == 1 else "; ".join(rule.fix_title for rule in rules)
    safety = min((finding.safety for finding in findings), default=min(rule.safety for rule in rules))
    values = {
        "codes": ", ".join(rule.code for rule in rules),
        "names": ", ".join(rule.name for rule in rules),
        "title": _plain(title),
        "summary": "\n".join(textwrap.fill(_sentence(rule.summary), WIDTH) for rule in rules),
        "why": "\n\n".join(text for rule in rules if (text := why(rule.doc))),
        "findings": _listed(findings),
        "files": "\n".join(map(visible_line, files)),
        "count": str(len(findings)),
        "safety": str(safety),
        "version": __version__,
        "ticket": wording.ticket or "",
        "part": visible_line(wording.part),
        "owners": " ".join(wording.owners),
    }
    subject = " ".join(fill(wording.subject, values, "subject").split())
    if len(subject) > WIDTH:
        subject = subject[: WIDTH - 1].rstrip() + "…"
    body = re.sub(r"\n{3,}", "\n\n", fill(wording.body, values, "body")).strip()
    trailers = wording.last_lines(*(f"Fixer-Rule: {rule.code}" for rule in rules), f"Fixer-Safety: {safety}")
    text = "\n\n".join(part for part in (subject, body, trailers) if part) + "\n"
    return visible(text)


def ignore_message(count: int, wording: Wording) -> str:
    """The message of the commit that keeps `count` others out of `git blame`."""
    why = (
        "`git blame` passes over the commits that this file names, once\n"
        "`git config blame.ignoreRevsFile .git-blame-ignore-revs` is set. Their names\n"
        "hold if the branch is merged as it is, without a squash or a rebase."
    )
    return f"chore: keep {plural(count, 'fixer commit')} out of git blame\n\n{why}\n\n{wording.last_lines()}\n"


def why(doc: str) -> str:
    """The first paragraph under `## Why is this bad?` of a rule's page, wrapped, with the message that it announces."""
    _, _, section = doc.partition("\n## Why")
    paragraphs = [
        part for part in re.split(r"\n\s*\n", section.partition("\n## ")[0].partition("\n")[2]) if part.strip()
    ]
    if not paragraphs:
        return ""
    text = textwrap.fill(" ".join(paragraphs[0].split()), WIDTH)
    announced = text.endswith(":") and len(paragraphs) > 1 and paragraphs[1].startswith("    ")
    return f"{text}\n\n{paragraphs[1].rstrip()}" if announced else text


def _plain(title: str) -> str:
    """A title in the middle of a line: no backticks, and a small first letter unless it begins with a name."""
    title = title.strip().rstrip(".")
    first = title.partition(" ")[0]
    small = title if "`" in first or not first[1:].islower() else title[:1].lower() + title[1:]
    return small.replace("`", "")


def _sentence(text: str) -> str:
    text = text.strip().rstrip(".") + "."
    return text[:1].upper() + text[1:]


def _listed(findings: Sequence[Finding]) -> str:
    files = len({finding.path for finding in findings})
    lines = [f"{plural(len(findings), 'place')} in {plural(files, 'file')}:"]
    lines += [f"- {finding.location}" for finding in findings[:LISTED]]
    if len(findings) > LISTED:
        lines.append(f"- and {len(findings) - LISTED:,} more")
    return "\n".join(lines)
