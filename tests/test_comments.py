"""No comment is lost to a fix: every fixture, with a comment at the end of every line that can have one."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter

import pytest
from cases import Case, hold, repaired
from test_twins import decoded

from codemods.model.edits import Edit, splice
from codemods.syntax.comments import kept

pytestmark = pytest.mark.law


def commented(text: str) -> str:
    """A comment of its own at the end of each line that has none and can have one."""
    lines = text.split("\n")
    taken = {
        row
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        for row in range(token.start[0], token.end[0] + (token.type == tokenize.COMMENT))
        if token.type in (tokenize.COMMENT, tokenize.STRING)
    }
    for number, line in enumerate(lines, start=1):
        if line.strip() and number not in taken and not line.endswith("\\"):
            lines[number - 1] = f"{line}  # note {number}."
    return "\n".join(lines)


@pytest.mark.parametrize("code", dict.fromkeys(case.rule.code for case in repaired()))
def test_no_comment_is_lost(code: str) -> None:
    def law(case: Case) -> None:
        text = decoded(case.path.read_bytes())
        if text is None:
            return
        twin = commented(text)
        assert ast.dump(ast.parse(twin)) == ast.dump(ast.parse(text))
        found = case.run({"case.py": twin.encode()})
        assert found.skips == ()
        if found.changed:
            tokens = tokenize.generate_tokens(io.StringIO(found.changed[0].after.decode()).readline)
            there = Counter(token.string for token in tokens if token.type == tokenize.COMMENT)
            assert Counter(re.findall(r"# note \d+\.", twin)) - there == Counter()

    hold(law, {case.name: case for case in repaired() if case.rule.code == code})


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("a\nb()  # why\nc\n", "b()  # why\n", "", "a\n# why\nc\n"),
        ("if x:\n    b(1,  # why\n      2)\n", "1,  # why\n      2", "3", "if x:\n    # why\n    b(3)\n"),
        ("b(1,  # why\n  2)\n", "b(1,  # why\n  2)", "c(1,  # why\n  2)", "c(1,  # why\n  2)\n"),
        ("b()  # noqa: F401\n", "b()  # noqa: F401\n", "", ""),
        ("x = '# no comment'\n", "x = '# no comment'\n", "", ""),
        ("with a:  # why\r\n    b()\r\n", "with a:  # why\r\n    b()", "b()", "# why\r\nb()\r\n"),
        ("b(  # why", "b(  # why", "", ""),
    ],
)
def test_where_a_comment_goes(before: str, old: str, new: str, after: str) -> None:
    start = before.index(old)
    edits = kept(before, [Edit("a.py", start, start + len(old), new)])
    assert splice(before, edits) == after
