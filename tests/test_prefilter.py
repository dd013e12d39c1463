"""The law of the prefilter: nothing that a rule finds is lost to what keeps rules away from files and functions.

Findings with every gate on equal findings with every gate off. Rules judge on the syntax tree, so only the prefilter
could depend on how a program is spelled: its answer is that of the identifiers, whatever stands between them. A few
fixtures are also run in other spellings: a space before a parenthesis, spaces around an equals sign, or a comment
between arguments, with an equal syntax tree.
That twins of a program are found as it is, with every gate on, is the law of `test_twins.py`.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle

import hypothesis.strategies as st
import pytest
from cases import Case, cases, hold, sources
from effort import examples
from expected_failures import SPELLING
from hypothesis import given, settings
from memory import Memory
from test_twins import decoded

from codemods.engine.prefilter import prefilter
from codemods.engine.rounds import Options, plan
from codemods.rules.rule import Rule
from codemods.transforms import load

pytestmark = pytest.mark.law

Found = Counter[tuple[str, str, str, str | None, str]]
Respelling = Callable[[str], str]


def ungated(rule: Rule) -> Rule:
    """The same rule without anything that keeps it away from a file, a class or a function."""
    document = (b"",) if rule.elsewhere else ()
    return replace(rule, triggers=(("",),) if rule.triggers else (), somewhere=(), imports=(), elsewhere=document)


def found(case: Case, files: dict[str, bytes], options: Options) -> Found:
    """What is found in some files: path, code, safety, strategy and consequence, each as often as it is found."""
    result = plan(sources(files), Memory(files), options, fix=False)
    assert result.skips == ()
    return Counter((f.path, f.code, str(f.safety), f.strategy, str(f.consequence)) for f in result.findings)


def gated_and_not(case: Case, files: dict[str, bytes]) -> tuple[Found, Found]:
    """What is found with the prefilter, and without it."""
    options = case.engine_options()
    return found(case, files, options), found(case, files, replace(options, rules=tuple(map(ungated, options.rules))))


# -- other spellings of the same program


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def _inserted(text: str, insertions: Iterator[tuple[tuple[int, int], str]]) -> str:
    """A text with other texts put in at (line, column), lines from 1."""
    lines = text.splitlines(keepends=True)
    for (line, column), new in sorted(insertions, reverse=True):
        lines[line - 1] = lines[line - 1][:column] + new + lines[line - 1][column:]
    return "".join(lines)


def _openings(text: str) -> Iterator[tuple[tokenize.TokenInfo, tokenize.TokenInfo]]:
    """The parentheses of calls and definitions, each with the token behind it."""
    names = {"if", "elif", "while", "and", "or", "not", "in", "is", "return", "yield", "assert", "import", "print"}
    tokens = _tokens(text)
    for before, opening, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        called = (before.type == tokenize.NAME and before.string not in names) or before.string in (")", "]")
        if opening.string == "(" and called and before.end == opening.start:
            yield opening, after


def space_before_parentheses(text: str) -> str:
    """`f(x)` becomes `f (x)`."""
    return _inserted(text, ((opening.start, " ") for opening, _ in _openings(text)))


def spaces_around_equals(text: str) -> str:
    """`f(a=1)` becomes `f(a  =  1)`."""

    def places() -> Iterator[tuple[tuple[int, int], str]]:
        depth = 0
        for token in _tokens(text):
            if token.type == tokenize.OP:
                depth += (token.string in "([{") - (token.string in ")]}")
                if token.string == "=" and depth:
                    yield token.start, "  "
                    yield token.end, "  "

    return _inserted(text, places())


def comment_in_parentheses(text: str) -> str:
    """A comment stands behind the opening parenthesis of each call."""
    return _inserted(text, ((opening.end, "  # note\n    ") for opening, _ in _openings(text)))


RESPELLINGS: tuple[Respelling, ...] = (space_before_parentheses, spaces_around_equals, comment_in_parentheses)


def respelled(files: dict[str, bytes], respelling: Respelling) -> dict[str, bytes]:
    """Every Python file of a fixture in another spelling, with an equal syntax tree."""
    changed = {}
    for path, data in files.items():
        text = decoded(data) if path.endswith(".py") else None
        if text is None:
            continue
        try:
            tree = ast.dump(ast.parse(text))
        except SyntaxError:
            continue
        new = respelling(text)
        assert ast.dump(ast.parse(new)) == tree, "the respelling is wrong"
        if new != text:
            changed[path] = new.encode()
    return {**files, **changed} if changed else {}


BETWEEN = (" ", "\t", "\n", "\r\n", ".", "(", " (", "  =  ", "\\\n", "  # note\n    ", "['", '"""note"""')
PROGRAMS = [rule for rule in load() if rule.triggers]
IDENTIFIERS = sorted({identifier for rule in PROGRAMS for group in rule.triggers for identifier in group})


@pytest.mark.parametrize("code", [rule.code for rule in load()])
def test_gates_lose_nothing(code: str) -> None:
    def law(case: Case) -> None:
        gated, all_of_it = gated_and_not(case, case.files)
        assert gated == all_of_it

    hold(law, {f"{case.name}-{case.kind}": case for case in cases() if case.rule.code == code})


@st.composite
def identifiers(draw: st.DrawFn) -> list[str]:
    """One of each group of a rule, and others, some of them with a letter more."""
    rule = draw(st.sampled_from(PROGRAMS))
    words = [draw(st.sampled_from(group)) for group in rule.triggers] + draw(st.lists(st.sampled_from(IDENTIFIERS)))
    forms = st.sampled_from(("{}", "{}", "{}", "{}", "{}s", "_{}", "ü{}"))
    return [draw(forms).format(word) for word in draw(st.permutations(words))]


@settings(max_examples=examples(500))
@given(identifiers(), st.lists(st.sampled_from(BETWEEN), min_size=1), st.sampled_from(("", "\ufeff", "# note\n")))
def test_the_prefilter_reads_identifiers(words: list[str], between: list[str], front: str) -> None:
    text = front + "".join(f"{word}{separator}" for word, separator in zip(words, cycle(between), strict=False))
    expected = [rule for rule in PROGRAMS if all({*words} & {*group} for group in rule.triggers)]
    assert prefilter(load()).wanted("a.py", text.encode()) == expected


@pytest.mark.parametrize("code", [rule.code for rule in PROGRAMS])
@pytest.mark.few(15)
def test_spelling_loses_nothing(code: str, chosen: list[Case]) -> None:
    def law(case: Case) -> None:
        untouched = found(case, case.files, case.engine_options())
        for respelling in RESPELLINGS:
            if files := respelled(case.files, respelling):
                gated, all_of_it = gated_and_not(case, files)
                assert gated == all_of_it == untouched, respelling.__name__

    asked = [case for case in chosen if case.rule.code == code and f"{case.rule.name}/{case.name}" not in SPELLING]
    hold(law, {f"{case.name}-{case.kind}": case for case in asked})
