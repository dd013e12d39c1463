"""What a rule is: data, a prefilter, and pure checks.

A rule module holds one `rule = Rule(...)`, its docstring is the rule's page, and its checks are generators registered
with `@rule.on(NodeType, …)` that yield `rule.finding(...)` for nodes of the file: those of `ast` for Python
and notebooks; those of `codemods.sources` for every other file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

from codemods.flow.answers import Answer
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Evidence, Need, Safety
from codemods.model.effect import Effect
from codemods.syntax.verbs import Verbs

Group: TypeAlias = tuple[str, ...]
"""Identifiers, as alternatives."""
Repair: TypeAlias = Mapping[Any, Any]
"""Node → replacement, of a document that is not Python, as its `edits` takes it."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """One repair of one place."""

    fix: Repair | Verbs = ()
    """Verbs about the syntax tree, or node → replacement of a document; neither here nor in `also`: report only."""
    title: str | None = None
    """What the fix does; the rule's title by default."""
    is_right: Sequence[Answer] = ()
    """Whether the repair is right: one unknown makes it unsafe, one no leaves a report."""
    needs: Sequence[Need | None] = ()
    """Imports that the new code relies on, as given by `ctx.spell`."""
    requires: Mapping[str, str] = field(default_factory=dict)
    """Package → range in which the fix's own API exists. Unless every version the project allows lies inside, the fix
    is unsafe."""
    also: Mapping[str, Repair | Verbs] = field(default_factory=dict)
    """Replacements in other files (by path), for nodes of `ctx.other(path)` or `ctx.index.document(path)`; or verbs."""
    on_request: bool = False
    """Never the default: taken only where its strategy is asked for."""

    @property
    def verbs(self) -> Verbs:
        """The fix of Python."""
        return () if isinstance(self.fix, Mapping) else self.fix

    @property
    def replacements(self) -> Repair:
        """The fix of a document."""
        return self.fix if isinstance(self.fix, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Draft:
    """What a check yields: the node concerned, what is wrong with it, and how it can be repaired."""

    rule: Rule
    node: Any
    """Of the syntax tree, or of a document."""
    message: str
    bites: Mapping[str, str] = field(default_factory=dict)
    consequence: Consequence = Consequence.STYLE
    is_bug: tuple[Answer, ...] = ()
    """What the claim rests on beside what the node itself shows: one no, and nothing is said; one unknown, and it is
    possible only."""
    evidence: tuple[Evidence, ...] = ()
    remedy: Remedy | None = None
    """The repair to make; None: report only."""
    refused: tuple[Evidence, ...] = ()
    """Why the repair would be wrong, where it was taken away."""
    strategy: str | None = None
    """The name of the remedy, where there are several."""
    remedies: Mapping[str, Remedy] = field(default_factory=dict)
    """Strategy → remedy: those possible at this place, the best first. One of them is chosen later."""


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
    """The most that a fix of it may be; the answers that a finding rests on make it more careful."""
    triggers: tuple[Group, ...] = ()
    """Prefilter of Python files: the file holds an identifier of each group. None: no Python file concerns the rule."""
    somewhere: tuple[bytes, ...] = ()
    """Prefilter of Python files: one file of the project at least holds one of these. None: that is not asked."""
    imports: tuple[str, ...] = ()
    """Prefilter of Python files: one file of the project at least imports one of these packages. None: that is not
    asked."""
    follows: bool = False
    """Whether it follows what becomes of objects: it is certain, and its fix safe, where no other file takes part."""
    knows: Collection[str] = ()
    """Of what turns gradients or outputs into something else (`analysis/unfollowed.py`, `analysis/acting.py`), what it
    asks of itself, or what has no part in its claim."""
    computed: Computed = Computed.ALL
    """What of the values that the project's functions compute has a part in its claim."""
    upgrading: bool = False
    """Whether the rule speaks only while a project is carried to newer releases."""
    elsewhere: tuple[bytes, ...] = ()
    """Prefilter of files that are not Python: their bytes hold at least one of these."""
    subclasses: frozenset[str] = frozenset()
    """The file defines a class that descends (or may descend) from one of these canonical names."""
    errors: tuple[str, ...] = ()
    """Error and warning texts that a user sees, as the library writes them. `fixer diagnose` finds them in logs,
    however they are wrapped, spelled or numbered there."""
    references: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    """Names of the repairs on offer; the first is the default."""
    bites: Mapping[str, str] = field(default_factory=dict)
    """Package → version range in which the bug exists; all must hold. Unknown counts as inside."""
    consequence: Consequence = Consequence.STYLE
    """What the bug costs, where a finding does not say otherwise."""
    effect: Effect = Effect.GRADIENTS
    """What a fix may change in a training run; `fixer verify --run` refutes one that changes more."""
    effects: Mapping[str, Effect] = field(default_factory=dict)
    """The same of strategies that may change something else."""
    bounds: Mapping[str, Safety] = field(default_factory=dict)
    """Strategy → the most that a fix by it may be, where that is another than `safety`."""
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
        is_bug: Sequence[Answer] = (),
        is_right: Sequence[Answer] = (),
        needs: Sequence[Need | None] = (),
        requires: Mapping[str, str] | None = None,
        also: Mapping[str, Repair | Verbs] | None = None,
        bites: Mapping[str, str] | None = None,
        consequence: Consequence | None = None,
        evidence: Sequence[Evidence] = (),
    ) -> Draft:
        """Report `node`, with its only fix, if there is one (see `Remedy`).

        Args:
            message: what is wrong here; the rule's summary by default.
            bites: narrower range in which the bug exists here (package → specifier), instead of the rule's.
            is_bug: what the claim rests on (see `Draft`).
            consequence: what the bug costs here, when it differs from the rule's default.
            evidence: the places that show what `message` claims about the project; `ctx.evidence` makes them.
        """
        remedy = Remedy(fix or (), title, is_right, needs, requires or {}, also or {})
        draft = self.offer(
            node, {}, message=message, is_bug=is_bug, bites=bites, consequence=consequence, evidence=evidence
        )
        return replace(draft, remedy=remedy) if fix or also else draft

    def offer(
        self,
        node: Any,
        remedies: Mapping[str, Remedy | None],
        *,
        message: str | None = None,
        is_bug: Sequence[Answer] = (),
        bites: Mapping[str, str] | None = None,
        consequence: Consequence | None = None,
        evidence: Sequence[Evidence] = (),
    ) -> Draft:
        """Report `node`, with the remedies that are possible here (strategy → remedy, the best first; None: not here).

        The engine takes the one that was asked for, and none where that one is not possible. Where nothing was asked
        for, it takes the first that is not `on_request`. The other arguments are those of `finding`.
        """
        return Draft(
            rule=self,
            node=node,
            message=message or self.summary,
            bites=self.bites if bites is None else bites,
            consequence=self.consequence if consequence is None else consequence,
            is_bug=tuple(is_bug),
            evidence=tuple(dict.fromkeys(evidence)),
            remedies={name: remedy for name, remedy in remedies.items() if remedy is not None},
        )
