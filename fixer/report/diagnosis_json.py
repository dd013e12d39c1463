"""A diagnosis as JSON, for programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemods import __version__
from fixer.report.json import document
from fixer.report.json import render as as_bytes

if TYPE_CHECKING:
    from codemods.engine.prefilter import RuleInfo
    from fixer.diagnose.answer import Diagnosis, PossibleCause
    from fixer.diagnose.commands import NextStep
    from fixer.diagnose.places import InRepository
    from fixer.diagnose.scan import LogRecord, Message


def render(found: Diagnosis, record: LogRecord, rules: Sequence[RuleInfo], here: Path) -> bytes:
    """The messages with their lines in the log, the frames, what was found, the causes and the commands."""
    names = {rule.code: rule for rule in rules}
    unknown = found.unknown
    content: dict[str, Any] = {
        "version": __version__,
        "root": Path(os.path.relpath(found.root, here)).as_posix(),
        "lines": record.lines,
        "known": found.message is not None,
        "message": _message(found.message) if found.message else None,
        "unknown": {"text": unknown.sentence, "line": unknown.number} if unknown else None,
        "nearest": found.near.pattern.text if found.near else None,
        "frames": [_place(place) for place in found.places],
        "rules": [{"code": code, "name": names[code].name, "summary": names[code].summary} for code in found.codes],
        "causes": [_cause(each) for each in found.causes],
        "commands": [_step(step) for step in found.steps],
        "others": [
            {
                **_message(other.message),
                "findings": [{"code": f.code, "path": f.path, "line": f.reported.line} for f in other.findings],
                "commands": [_step(step) for step in other.steps],
            }
            for other in found.others
        ],
    }
    outcome = found.outcome
    plan: dict[str, Any] = {"findings": [], "skips": []}
    if outcome is not None:
        plan = document(outcome.plan, root=content["root"], rules={}, unsafe=outcome.unsafe, read=outcome.read)
    order = {finding.fingerprint: number for number, finding in enumerate(found.findings)}
    content["findings"] = sorted(plan["findings"], key=lambda finding: order[finding["fingerprint"]])
    content["skips"] = plan["skips"]
    return as_bytes(content)


def _message(message: Message) -> dict[str, Any]:
    return {
        "text": message.text,
        "line": message.number,
        "count": message.count,
        "sort": message.sort.name.lower(),
        "ranks": sorted(message.sources),
        "name": message.topic.name if message.topic else None,
        "meaning": message.topic.meaning if message.topic else None,
        "traceback": [{"path": f.path, "line": f.line, "function": f.function or None} for f in message.frames],
    }


def _place(place: InRepository) -> dict[str, Any]:
    return {
        "path": place.path,
        "line": place.line,
        "cell": place.cell,
        "function": place.frame.function or None,
        "as_logged": place.frame.path,
        "code": place.code,
        "changed_since": place.moved,
    }


def _cause(possible: PossibleCause) -> dict[str, Any]:
    cause = possible.cause
    return {
        "what": cause.what,
        "how_to_tell": cause.tell or None,
        "cure": cause.cure or None,
        "rules": list(cause.codes),
        "ruled_out": possible.ruled_out,
        "lines": [{"path": clue.path, "line": clue.line, "code": clue.code} for clue in possible.clues],
    }


def _step(step: NextStep) -> dict[str, str]:
    return {"command": step.command, "why": step.why}
