"""Reports in several formats from one run: `--report FILE`, in the format that the name ends with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fixer.errors import Refusal

if TYPE_CHECKING:
    from fixer.verify.flow_report import FlowReport
    from fixer.verify.verification import Verification

FORMATS = {".json": "json", ".html": "html", ".md": "markdown"}


def check(names: Sequence[str]) -> None:
    """Refuse, before anything runs, what could not be written afterwards.

    Raises:
        Refusal: if a name has another ending, or its directory does not exist.
    """
    for name in names:
        if Path(name).suffix not in FORMATS:
            raise Refusal(f"--report {name}: let the name end with {', '.join(FORMATS)}")
        if not Path(name).parent.is_dir():
            raise Refusal(f"--report {name}: there is no directory {Path(name).parent}")


def write(names: Sequence[str], render: Callable[[str], bytes]) -> None:
    """Write a report to each of the files; `render` gives it in a format.

    Raises:
        Refusal: if one cannot be written.
    """
    for name in names:
        try:
            Path(name).write_bytes(render(FORMATS[Path(name).suffix]))
        except OSError as error:
            raise Refusal(f"--report {name}: {error.strerror}") from error


def of_run(verification: Verification) -> Callable[[str], bytes]:
    """What came of a command that was run, in a format by its name."""
    from fixer.report import json, verification_html
    from fixer.report.verification import document, section

    return _in(
        {
            "json": lambda: json.render(document(verification)),
            "html": lambda: verification_html.render(verification).encode("utf-8", "replace"),
            "markdown": lambda: section(verification).encode("utf-8", "replace"),
        }
    )


def of_module(report: FlowReport) -> Callable[[str], bytes]:
    """What came of a module that was watched, in a format by its name."""
    from fixer.report import flow_html, flow_json, flow_markdown

    return _in(
        {
            "json": lambda: flow_json.render(report),
            "html": lambda: flow_html.page(report).encode("utf-8", "replace"),
            "markdown": lambda: flow_markdown.section(report).encode("utf-8", "replace"),
        }
    )


def _in(formats: Mapping[str, Callable[[], bytes]]) -> Callable[[str], bytes]:
    return lambda name: formats[name]()
