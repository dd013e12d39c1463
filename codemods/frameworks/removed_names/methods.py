"""Methods that a class overrides and that its base no longer calls, or calls with other parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from codemods.analysis.calls import super_method
from codemods.analysis.mentions import called_by_text, mentions
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unknown, unless, yes
from codemods.frameworks.autocast.version_tests import version_tested
from codemods.frameworks.removed_names.drafts import finding
from codemods.frameworks.removed_names.owners import meant
from codemods.frameworks.removed_names.tables import RemovedName, of_rule
from codemods.model.edits import Evidence
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.syntax.module import Function, parameters
from codemods.syntax.verbs import Verb


def old_hooks(rule: Rule, function: Function, ctx: PythonContext) -> Iterator[Draft]:
    """A method that nobody calls any more, or that a library refuses to find."""
    row = _overridden(rule, "hook", function, ctx)
    if row is not None:
        yield from finding(rule, row, function, ctx, None, (nobody_calls_it(ctx, function),))


_PLAIN = frozenset({"torch", "builtins", "abc", "typing", "enum", "collections"})
"""Libraries whose classes call no hook of a training framework."""


@question
def nobody_calls_it(ctx: PythonContext, function: Function) -> Answer:
    """Whether the program never names a method itself, nor has the name as a text (`called_by_a_list`).

    Nor may a class of the project put another in its place (`overridden_below`).
    """
    return unless((*_calls(ctx, function), *_overrides(ctx, function)))


def _overrides(ctx: PythonContext, function: Function) -> Iterator[Evidence]:
    owner = ctx.klass(function)
    below = ctx.index.subclasses(owner) if owner is not None else ()
    above = ctx.index.lineage(owner).refs if owner is not None else ()
    roots = {each.partition(".")[0] for each in ctx.index.lineage(owner).external} if owner is not None else set()
    if len(others := {"lightning" if each == "pytorch_lightning" else each for each in roots} - _PLAIN) > 1:
        yield ctx.evidence(function, f"{' or '.join(sorted(others))} may call it")  # of_two_libraries
    # another base of a class below may come first (`another_base_in_front`)
    for ref in dict.fromkeys(each for klass in below for each in ctx.index.lineage(klass).refs if each not in above):
        klass = ctx.index.klass(ref)
        if klass is not None and function.name in klass.methods:
            yield Evidence(ref.path, klass.methods[function.name].line, f"`{klass.name}` has another `{function.name}`")


def _calls(ctx: PythonContext, function: Function) -> Iterator[Evidence]:
    for each in mentions(ctx, function.name):
        if each.call is None or not super_method(each.call):
            yield each.evidence(f"`{function.name}` may be called here")
    yield from called_by_text(ctx)
    for path in ctx.index.search(ctx.path, tuple(f"{q}{function.name}{q}".encode() for q in "'\"")):
        there = ctx.other(path)
        for text in there.all(ast.Constant) if there is not None else ():
            if text.value == function.name and there is not None:
                yield there.evidence(text, f"what is called `{function.name}` may be called")


def overridden_with(rule: Rule, function: Function, ctx: PythonContext) -> tuple[RemovedName, list[ast.arg]] | None:
    """The row of a method whose parameters changed, with those that nobody gives it any more."""
    row = _overridden(rule, "signature", function, ctx)
    if row is None:
        return None
    spread = (function.args.vararg, function.args.kwarg)
    old = [each for each in parameters(function) if each.arg in row.drop and each not in spread]
    return row, old


def missing(row: RemovedName, function: Function) -> list[str]:
    """The parameters that a method is given since, and does not take."""
    if function.args.kwarg is not None or function.args.vararg is not None:
        return []
    taken = {each.arg for each in parameters(function)}
    return [name for name in row.add if name not in taken]


def signature_finding(
    rule: Rule,
    row: RemovedName,
    function: Function,
    ctx: PythonContext,
    *,
    message: str,
    verbs: Sequence[Verb] = (),
    is_right: Sequence[Answer] = (),
) -> Iterator[Draft]:
    """A method whose parameters a library changed."""
    gone = f"since {row.library} {row.gone}"
    text = f"{message}, which the caller {'gives' if row.add else 'does not give'} {gone}"
    if not verbs and row.decide:
        text += f". {row.decide.rstrip('.')}"
    is_right = [*is_right, nobody_looks_at_frames(ctx)]
    remedy = Remedy(verbs, is_right=is_right, requires=dict(row.affected)) if verbs else None
    # a base of the project that calls the method itself gives it what it always gave (called_by_a_base)
    is_bug = (nobody_calls_it(ctx, function), caller_gives_it(ctx, row, function))
    for draft in finding(rule, row, function, ctx, remedy, is_bug):
        yield replace(draft, message=text)


@question
def nobody_looks_at_frames(ctx: PythonContext) -> Answer:
    """Whether no code of the program reads the variables of a function that calls it (`read_by_its_frame`)."""
    return unless(each.evidence("this may read the parameter") for each in mentions(ctx, "_getframe", "currentframe"))


@question
def caller_gives_it(ctx: PythonContext, row: RemovedName, function: Function) -> Answer:
    """Whether the caller gives a new parameter in this project: one of FSDP only where it is used (`without_fsdp`)."""
    if not row.given or ctx.index.holding("", tuple(word.encode() for word in row.given), ("",)):
        return yes()
    return unknown(ctx.evidence(function, f"the caller gives it with {' or '.join(row.given)} only"))


def _overridden(rule: Rule, place: str, function: Function, ctx: PythonContext) -> RemovedName | None:
    table = of_rule(rule.code, place)
    if function.name not in table or not isinstance(ctx.parent(function), ast.ClassDef):
        return None
    klass = ctx.klass(function)
    above = ctx.index.lineage(klass).external if klass is not None else frozenset()
    owners = {name for base in above for name in meant(base)}
    row = next((row for owner, row in table[function.name].items() if owner in owners), None)
    return None if row is None or version_tested(ctx, function, row.library) else row
