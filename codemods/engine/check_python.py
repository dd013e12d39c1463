"""One Python file: parsed once, judged by the checks of rules; what they find, with fixes as minimal edits."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from codemods.analysis.class_building import class_is_as_written, function_is_as_written
from codemods.analysis.expected_errors import error_is_not_expected, expects, is_observed
from codemods.analysis.other_files import other_files_leave_it_alone
from codemods.analysis.python_context import PythonContext
from codemods.analysis.replacements import library_is_as_released
from codemods.analysis.unfollowed import (
    code_around_is_plain,
    helpers_leave_it_alone,
    nothing_here_is_unfollowed,
    one_of_each_is_made,
)
from codemods.engine.findings import (
    Numbering,
    chosen,
    costing_only,
    edits_elsewhere,
    finding,
    fix_of,
    of_these_releases,
    unaffected,
    with_answer,
    without_fix,
)
from codemods.engine.safety import is_bug, weighed
from codemods.flow.answers import every
from codemods.model.edits import Consequence, Edit, Finding, Skip, SkipReason, Unreadable
from codemods.project.index import Index, Ref
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.syntax import imports
from codemods.syntax.facts import Facts, gather
from codemods.syntax.verbs import Verbs


def look(
    path: str, text: str, index: Index, wanted: Sequence[Rule], strategies: Mapping[str, str]
) -> tuple[list[Finding], list[Skip]]:
    """What rules find in one file, with fixes as edits of `text`.

    Args:
        wanted: the rules whose triggers the file holds.
    """
    facts = index.facts(path)
    if facts is None:
        return [], [refused(path, text)]
    wanted = [r for r in wanted if not r.subclasses or has_descendant(facts, index, r.subclasses)]
    if not wanted:
        return [], []
    index.recorder.stage("facts")
    failed: dict[str, Skip] = {}
    try:
        with index.recorder.phase("parsing"):
            module = index.syntax(path)
        if module is None:
            return [], [Skip(path, SkipReason.NO_ROUND_TRIP, "a carriage return alone ends a line")]
        program = PythonContext(path, text, module, facts, index, strategies)
        with index.recorder.phase("walking"):
            drafts = judge(program, wanted, failed)
        with index.recorder.phase("fixing"):
            found = _findings(program, drafts, failed)
        program.forget()
        return [f for f in found if f.code not in failed], list(dict.fromkeys(failed.values()))
    except RecursionError:
        return [], [Skip(path, SkipReason.TOO_DEEP, "nested too deeply to be rewritten")]
    except Unreadable as error:
        return [], [error.skip]


def refused(path: str, text: str) -> Skip:
    """Why a file has no facts."""
    skip = gather(path, text)
    assert isinstance(skip, Skip)
    if skip.reason is not SkipReason.UNPARSABLE:
        return skip
    from codemods.syntax import unsupported_syntax

    if version := unsupported_syntax.needed(text):
        detail = f"{skip.detail}; Python {version} reads it: run fixer with that or a newer one"
        return Skip(path, SkipReason.NEWER_SYNTAX, detail)
    return skip


def has_descendant(facts: Facts, index: Index, names: frozenset[str]) -> bool:
    """Whether a class of a file descends, or may descend, from one of these."""
    return any(index.descends(Ref(facts.path, name), names) is not False for name in facts.classes)


def judge(program: PythonContext, rules: Sequence[Rule], failed: dict[str, Skip]) -> list[Draft]:
    """Run the checks that ask for nodes of the syntax tree."""
    drafts: list[Draft] = []
    for rule in rules:
        with costing_only(rule, program.path, failed), program.index.recorder.rule(rule.code):
            for types, check in rule.checks:
                for node in program.all(*(kind for kind in types if issubclass(kind, ast.AST))):
                    drafts.extend(check(node, program))
    return drafts


def _findings(program: PythonContext, drafts: Sequence[Draft], failed: dict[str, Skip]) -> list[Finding]:
    """Drafts as findings: versions weighed, verbs written as minimal edits."""
    kept: list[Draft] = []
    for made in drafts:
        with costing_only(made.rule, program.path, failed):
            if expects(program, made.node, made.consequence) or is_bug(made).is_no:
                continue
            made = _in_this_program(program, made)
            if (draft := weighed(chosen(made, program.strategies))) is None:
                continue
            observed = draft.remedy is not None and draft.remedy.verbs and is_observed(program, draft.node)
            kept.append(without_fix(draft) if draft.remedy and (observed or unaffected(draft, program)) else draft)
    edits = _edits(program, kept, failed)
    found: dict[tuple[str, int, int, str], Finding] = {}
    numbering = Numbering()
    for draft in kept:
        with costing_only(draft.rule, program.path, failed):
            start, end = program.module.span(draft.node)
            key = (draft.rule.code, start, end, draft.message)
            if key not in found:
                statement = program.statement(draft.node)
                place = program.lines.place(start, end)
                found[key] = finding(
                    program,
                    draft,
                    place=place,
                    scope=program.scope_name(draft.node),
                    lines=program.module.lines_of(statement) if statement else (place.line, place.end_line),
                    fix=fix_of(draft, edits.get(id(draft))),
                    numbering=numbering,
                )
    return list(found.values())


def _in_this_program(program: PythonContext, draft: Draft) -> Draft:
    """A draft with the questions that the engine asks for every rule.

    An error is no bug where it may be expected, a library does what is known of it where nobody replaces its parts, and
    a class or a function does what its statement says where nobody makes another of it. What becomes of an object that
    a rule follows may be decided in another file, or by code of this one that no rule follows.
    """
    asked, cautions = [], []
    if program.facts.classes:
        asked.append(class_is_as_written(program, draft.node))
    if draft.consequence >= Consequence.RAISES and isinstance(draft.node, ast.AST):
        asked.append(function_is_as_written(program, draft.node))
    if draft.consequence is Consequence.RAISES and isinstance(draft.node, ast.AST):
        around = (draft.node, *program.ancestors(draft.node))  # of an argument, or a name in an import
        place = next((each for each in around if isinstance(each, (ast.expr, ast.stmt))), None)
        asked += [error_is_not_expected(program, place)] if place is not None else []
    draft = of_these_releases(program, draft)
    if draft.rule.follows:
        known, computed = frozenset(draft.rule.knows), draft.rule.computed
        closed = [
            nothing_here_is_unfollowed(program, draft.node, known),
            helpers_leave_it_alone(program, draft.node, known, computed),
            code_around_is_plain(program, draft.node),
        ]
        if not every([*draft.is_bug, *closed]).is_unknown:
            closed.append(other_files_leave_it_alone(program, known, computed))
        cautions.append(one_of_each_is_made(program))
        (asked if draft.consequence >= Consequence.RAISES else cautions).extend(closed)
    # it reads other files: not where the finding is unsure already, nor (test_since) where nothing is imported
    if program.facts.imports and not every([*draft.is_bug, *asked]).is_unknown:
        asked.append(library_is_as_released(program, *_words(draft.rule)))
    for each in cautions:
        draft = with_answer(draft, each)
    return replace(draft, is_bug=(*draft.is_bug, *asked))


def _words(rule: Rule) -> tuple[str, ...]:
    """The names of libraries that a rule is about."""
    words = {word for group in rule.triggers for word in group if word}
    words.update(word.decode() for word in rule.somewhere if word.isalnum())
    return tuple(sorted(words.union(rule.imports)))


def _edits(
    program: PythonContext, drafts: Sequence[Draft], failed: dict[str, Skip]
) -> Mapping[int, Sequence[Edit] | None]:
    """The edits of drafts that have a fix, by `id`; None where a fix cannot be written. libcst is loaded for these."""
    repaired = [(draft, draft.remedy) for draft in drafts if draft.remedy is not None]
    if not repaired:
        return {}
    from codemods.syntax import rewriting
    from codemods.syntax.tree import tree as tree_of

    fixing: list[tuple[Draft, Remedy]] = []
    subjects: list[ast.AST] = []
    for draft, remedy in repaired:
        with costing_only(draft.rule, program.path, failed):
            changed = [node for verb in remedy.verbs for node in rewriting.subjects(program.module, verb)]
            if not all(node in program.module for node in changed):
                raise LookupError("a verb is about a node of another file")
            subjects += changed
            fixing.append((draft, remedy))
    try:
        tree = tree_of(program.path, program.text)
        places = rewriting.located(tree, program.module, subjects)
    except Unreadable as error:
        failed.update((draft.rule.code, error.skip) for draft, _ in fixing)
        return {}
    repairs: dict[int, list[rewriting.Pairs]] = {}
    for draft, remedy in fixing:
        with costing_only(draft.rule, program.path, failed):
            repairs[id(draft)] = rewriting.repairs(tree, program.module, remedy.verbs, places)
    found: dict[int, Sequence[Edit] | None] = {}
    for draft, remedy in fixing:
        if id(draft) in repairs:
            with costing_only(draft.rule, program.path, failed):
                made = rewriting.edits(tree, repairs[id(draft)])
                found[id(draft)] = _with_others(program, remedy, made) if made is not None else None
    return found


def _with_others(program: PythonContext, remedy: Remedy, here: Sequence[Edit]) -> list[Edit] | None:
    """The edits of a fix, those of other files and imports included; None where one of them cannot be made."""
    edits = list(here)
    for path, repair in remedy.also.items():
        elsewhere = (
            edits_elsewhere(program.index, path, repair)
            if isinstance(repair, Mapping)
            else _in_python(program.other(path), repair)
        )
        if elsewhere is None:
            return None
        edits += elsewhere
    edits = [e for e in edits if e.text or e.start < e.end]
    if not edits:
        return None
    first, _ = program.lines.position(min((e.start for e in here), default=0))
    for need in filter(None, remedy.needs):
        around = need.scope.split(".") if need.scope else []
        scopes = [".".join(around[:n]) for n in range(len(around), 0, -1)]
        edit = imports.satisfy(program.path, program.text, program.facts, need, (*scopes, ""), first)
        if edit is not None:
            edits.append(edit)
    return edits


def _in_python(program: PythonContext | None, verbs: Verbs) -> list[Edit] | None:
    """The part of a fix that is about another Python file."""
    from codemods.syntax import rewriting
    from codemods.syntax.tree import tree

    if program is None:
        return None
    return rewriting.written(tree(program.path, program.text), program.module, verbs)
