"""What an editor offers to do about findings: take a fix, silence it, or take all safe fixes of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lsprotocol import types

from codemods.model.edits import Finding, Safety
from codemods.rules.rule import Rule
from fixer.lsp.diagnostics import diagnostic
from fixer.lsp.documents import OpenFile, Snapshot
from fixer.lsp.edits import of_parts, workspace_edit
from fixer.run.request import Outcome
from fixer.run.warm import WarmTree

FIX_ALL = "source.fixAll.fixer"
NO_COMMENTS = (".json", ".lock")
"""Files that no comment can be written in."""


@dataclass(frozen=True, slots=True)
class Actions:
    """Makes the actions for one file as it stands."""

    tree: WarmTree
    opened: Snapshot
    file: OpenFile
    rules: Mapping[str, Rule]
    versioned: bool
    """The client takes edits with the versions of documents."""

    def for_finding(self, outcome: Outcome, finding: Finding) -> Iterator[types.CodeAction]:
        """One for each way of repairing it, of which the first safe one is preferred, and one that silences it."""
        preferred = False
        for safe, title, edit in self._repairs(outcome, finding):
            yield self._quick(finding, title if safe else f"{title} (unsafe)", edit, preferred=safe and not preferred)
            preferred |= safe
        if not self.file.path.endswith(NO_COMMENTS):
            yield self._silence(finding)

    def all_safe(self) -> types.CodeAction | None:
        """All safe fixes, as `fixer apply` of this file takes them; None where there are none."""
        changed = self._plan(fix=True).plan.changed
        edit = self._edit({each.path: (each.before, each.after) for each in changed})
        return types.CodeAction("Apply all safe fixes (fixer)", kind=FIX_ALL, edit=edit) if edit is not None else None

    def _repairs(self, outcome: Outcome, finding: Finding) -> Iterator[tuple[bool, str, types.WorkspaceEdit]]:
        """The ways of repairing a finding, the one that is taken without being asked for first: safe or not, a title,
        the edits."""
        if finding.fix is not None and (edit := self._fix(outcome, finding)) is not None:
            yield finding.safety is Safety.SAFE, finding.fix.title, edit
        for strategy in finding.strategies:
            if strategy == finding.strategy:
                continue
            other = self._plan(strategies=(f"{finding.code}={strategy}",))
            for found in other.plan.findings:
                if (found.fingerprint, found.strategy) == (finding.fingerprint, strategy) and found.fix is not None:
                    if (edit := self._fix(other, found)) is not None:
                        yield found.safety is Safety.SAFE, f"{found.fix.title} [{strategy}]", edit

    def _fix(self, outcome: Outcome, finding: Finding) -> types.WorkspaceEdit | None:
        changed = self.tree.fixed(outcome, finding)
        return self._edit(changed) if changed is not None else None

    def _silence(self, finding: Finding) -> types.CodeAction:
        """A comment on the last line of the statement."""
        below = max(0, finding.lines[1] - finding.place.end_line)
        part, line = self.file.parts[finding.cell], finding.reported.end_line + below
        end = part.end_of(line)
        comment = types.TextEdit(types.Range(end, end), f"  # fixer: ignore[{finding.code}]")
        change = of_parts([(part, [comment])], versioned=self.versioned)
        return self._quick(finding, f"Silence {finding.code} here (# fixer: ignore)", change, preferred=False)

    def _quick(self, finding: Finding, title: str, edit: types.WorkspaceEdit, *, preferred: bool) -> types.CodeAction:
        return types.CodeAction(
            title if finding.code in title else f"{finding.code}: {title}",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic(self.file, finding, self.rules)],
            is_preferred=preferred or None,
            edit=edit,
        )

    def _plan(self, *, fix: bool = False, strategies: Sequence[str] = ()) -> Outcome:
        texts = self.opened.texts(self.tree.root)
        return self.tree.plan([self.file.path], texts, fix=fix, strategies=strategies)

    def _edit(self, changed: Mapping[str, tuple[bytes, bytes]]) -> types.WorkspaceEdit | None:
        return workspace_edit(self.opened, self.tree.root, changed, versioned=self.versioned)
