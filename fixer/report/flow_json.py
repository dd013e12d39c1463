"""The gradient-flow report as JSON, for programs."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from codemods import __version__

if TYPE_CHECKING:
    from codemods.verify.flow import FlowSide
    from fixer.verify.flow_report import FlowReport


def document(report: FlowReport) -> dict[str, Any]:
    """Everything about a report as plain JSON values; what is not finite is a string, `nan` or `inf`."""
    content = {
        "version": __version__,
        "module": report.module,
        "verdict": report.verdict,
        "summary": report.summary,
        "symptoms": [
            {**asdict(explained.symptom), "rules": list(explained.rules), "explanation": explained.sentence}
            for explained in report.symptoms
        ],
        "fixes": [
            {"code": f.code, "path": f.path, "line": f.reported.line, "safety": str(f.safety)} for f in report.fixed
        ],
        "notes": list(report.notes),
        "before": _side(report.before),
        "after": None if report.after is None else _side(report.after),
    }
    plain: dict[str, Any] = _plain(content)
    return plain


def render(report: FlowReport) -> bytes:
    """The document as text."""
    return json.dumps(document(report), indent=2, allow_nan=False).encode() + b"\n"


def _side(side: FlowSide) -> dict[str, Any]:
    return asdict(side)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
