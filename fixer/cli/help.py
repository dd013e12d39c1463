"""How `--help` of a command reads: its options in groups, and examples at the end."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class GroupedCommand(TyperCommand):
    """A command whose options stand under the title of their group (`rich_help_panel`).

    Its epilog is lines of examples. Typer's own help of this kind is made with rich, which takes long to load.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options, group by group."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                title = getattr(parameter, "rich_help_panel", None) or "Options"
                groups.setdefault("Arguments" if parameter.param_type_name == "argument" else title, []).append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples, each on its line."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"  {line}\n")
