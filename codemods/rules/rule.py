"""What a rule is: data, a prefilter, and pure checks.

A rule module holds one `rule = Rule(...)`, its docstring is the rule's page, and its checks are generators registered
with `@rule.on(NodeType, …)` that yield `rule.finding(...)` for nodes of the file: those of `ast` for Python
and notebooks; those of `codemods.sources` for every other file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from codemods.model.edits import Consequence, Evidence, Need, Safety
from codemods.syntax.verbs import Verbs

Group: TypeAlias = tuple[str, ...]
"""Identifiers, as alternatives."""
Repair: TypeAlias = Mapping[Any, Any]
"""Node → replacement, of a document that is not Python, as its `edits` takes it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a check yields: the node concerned and, where there is one, the fix."""

    rule: Rule
    node: Any
    """Of the syntax tree, or of a document."""
    message: str
    safety: Safety
    fix: Repair = field(default_factory=dict)
    """The fix of a document."""
    verbs: Verbs = ()
    """The fix of Python."""
    needs: tuple[Need, ...] = ()
    """Imports the new code relies on."""
    title: str = ""
    strategy: str | None = None
    strategies: tuple[str, ...] = ()
    bites: Mapping[str, str] = field(default_factory=dict)
    consequence: Consequence = Consequence.STYLE
    evidence: tuple[Evidence, ...] = ()
    requires: Mapping[str, str] = field(default_factory=dict)
    also: Mapping[str, Any] = field(default_factory=dict)
    """Replacements in other files (by path), for nodes of `ctx.other(path)` or `ctx.index.document(path)`; or verbs."""


class Check(Protocol):
    def __call__(self, node: Any, ctx: Any, /) -> Iterator[Draft]: ...


@dataclass(eq=False)
class Rule:
    """One bug, by which evidence it is found, and what becomes of it."""

    code: str
    """Family letters and three digits, never reused."""
    name: str
    """States the bad pattern, in kebab case; equals the module's and the fixture folder's name."""
    summary: str
    """One line: what is wrong. May use backticks."""
    fix_title: str
    """What the fix does, imperative, one line."""
    safety: Safety
    """Of the default fix."""
    triggers: tuple[Group, ...] = ()
    """Prefilter of Python files: the file holds an identifier of each group. None: no Python file concerns the rule."""
    elsewhere: tuple[bytes, ...] = ()
    """Prefilter of files that are not Python: their bytes hold at least one of these."""
    subclasses: frozenset[str] = frozenset()
    """The file defines a class that descends (or may descend) from one of these canonical names."""
    errors: tuple[str, ...] = ()
    """Exact error and warning texts that a user sees (searched literally by `fixer diagnose`)."""
    references: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    """Names of the repairs on offer; the first is the default."""
    bites: Mapping[str, str] = field(default_factory=dict)
    """Package → version range in which the bug exists; all must hold. Unknown counts as inside."""
    consequence: Consequence = Consequence.STYLE
    """What the bug costs, where a finding does not say otherwise."""
    checks: list[tuple[tuple[type[Any], ...], Check]] = field(default_factory=list, repr=False)
    kinds: set[str] = field(default_factory=set, repr=False)
    """Of the documents that the checks look at."""
    module: str = ""
    """Dotted name of the module that holds the rule; set when it is loaded."""

    def __post_init__(self) -> None:
        for group in self.triggers:
            if not (
                isinstance(group, tuple) and all(isinstance(i, str) and (not i or i.isidentifier()) for i in group)
            ):
                raise ValueError(f"{self.code}: triggers are groups of identifiers, not {group!r}")

    @property
    def doc(self) -> str:
        """The rule's page: the docstring of its module."""
        return (sys.modules[self.module].__doc__ or "").strip() if self.module in sys.modules else ""

    @property
    def family(self) -> str:
        return self.code.rstrip("0123456789")

    def on(self, *types: type[Any]) -> Callable[[Check], Check]:
        """Register a check for nodes of these exact types; those of documents say in `KIND` what they are part of."""

        def register(check: Check) -> Check:
            self.checks.append((types, check))
            self.kinds.update(t.KIND for t in types if hasattr(t, "KIND"))
            return check

        return register

    def finding(
        self,
        node: Any,
        *,
        fix: Repair | Verbs | None = None,
        message: str | None = None,
        title: str | None = None,
        safety: Safety | None = None,
        strategy: str | None = None,
        strategies: Sequence[str] = (),
        needs: Sequence[Need | None] = (),
        bites: Mapping[str, str] | None = None,
        requires: Mapping[str, str] | None = None,
        also: Mapping[str, Repair | Verbs] | None = None,
        consequence: Consequence | None = None,
        evidence: Sequence[Evidence] = (),
    ) -> Draft:
        """Report `node`; `fix`: verbs about the syntax tree, or node → replacement of a document (none: report only).

        Args:
            message: what is wrong here; the rule's summary by default.
            safety: of this fix, when it differs from the rule's default.
            strategy: the name of the repair that `fix` is; `strategies`: those possible at this place.
            needs: imports that the new code relies on, as given by `ctx.spell`.
            bites: narrower range in which the bug exists here (package → specifier), instead of the rule's.
            requires: package → specifier in which the fix's own API exists. Unless every version the project allows
                lies inside, the fix is unsafe.
            also: replacements in other files, or verbs about their syntax trees.
            consequence: what the bug costs here, when it differs from the rule's default.
            evidence: the places that show what `message` claims about the project; `ctx.evidence` makes them.
        """
        level = Safety.DISPLAY if not fix and not also else (self.safety if safety is None else safety)
        return Draft(
            rule=self,
            node=node,
            message=message or self.summary,
            safety=level,
            fix=dict(fix) if isinstance(fix, Mapping) else {},
            verbs=() if fix is None or isinstance(fix, Mapping) else tuple(fix),
            needs=tuple(need for need in needs if need is not None),
            title=title or self.fix_title,
            strategy=strategy,
            strategies=tuple(strategies),
            bites=self.bites if bites is None else bites,
            requires=requires or {},
            also=also or {},
            consequence=self.consequence if consequence is None else consequence,
            evidence=tuple(dict.fromkeys(evidence)),
        )
