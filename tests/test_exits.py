"""How a block is left, as literal programs with the answer beside them."""

from __future__ import annotations

import ast

import pytest

from codemods.analysis.exits import falls_through, ways_out

LOOPING = "while a:\n    break\nelse:\n    continue\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a\n", True),
        ("a\nreturn\nb\n", False),
        ("if a: return\n", True),
        ("if a: return\nelse: raise b\n", False),
        ("if a: return\nelif b: raise c\nelse: break\n", False),
        ("with a:\n    continue\n", False),
        ("while a: return\n", True),
        ("try: return\nexcept: a\n", True),
        ("try: return\nexcept: raise\n", False),
        ("try: a\nexcept: raise\nelse: return\n", False),
        ("try: a\nexcept: b\nfinally: return\n", False),
        ("def f(): return\n", True),
    ],
)
def test_whether_the_end_of_a_block_is_reached(code: str, expected: bool) -> None:
    assert falls_through(ast.parse(code).body) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a\n", []),
        ("if a: return\n", ["return"]),
        ("for a in b:\n    if c: break\n    raise d\n", ["raise"]),
        (LOOPING, ["continue"]),
        ("x = await a, (yield b), (yield from c)\n", ["yield", "yield", "yield"]),
        ("def f(): return (yield)\n", []),
        ("try: return\nfinally: break\n", ["return", "break"]),
    ],
)
def test_what_leaves_a_statement_before_its_end(code: str, expected: list[str]) -> None:
    (statement,) = ast.parse(code).body
    assert [kind for kind, _ in ways_out(statement)] == expected
