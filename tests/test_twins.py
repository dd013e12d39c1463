"""Twins of every fixture, made by machine: what must not matter does not.

A twin is the same program in other clothes. Most mutations leave the syntax tree alone (`a; b`, one-line suites,
parentheses, comments between arguments), so the fixed twin must have the tree of the fixture's *after*. The others
(line ends, tabs, names of imports, nesting) are made on both sides, and must agree to the letter.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable
from pathlib import Path

import libcst as cst
import pytest
from cases import Case, few, hold, repaired
from effort import thorough

Mutation = Callable[[str], "str | None"]
"""None: does not apply to this text."""


def crlf(text: str) -> str | None:
    return None if "\r" in text else text.replace("\n", "\r\n")


def byte_order_mark(text: str) -> str | None:
    return "\N{ZERO WIDTH NO-BREAK SPACE}" + text if "coding" not in text[:200] else None


def no_final_newline(text: str) -> str | None:
    return text.rstrip("\r\n") or None


def tabs(text: str) -> str | None:
    if "\t" in text or re.search(r"(?m)^( {4})* {1,3}\S", text):
        return None
    return re.sub(r"(?m)^( {4})+", lambda m: "\t" * (len(m[0]) // 4), text)


def other_aliases(text: str) -> str | None:
    """`import torch` becomes `import torch as tch`, `import a.b as c` gets another name; strings stay."""
    tree = ast.parse(text)
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    names[alias.asname] = f"{alias.asname}_x"
                elif alias.name == "torch":
                    names["torch"] = "tch"
                elif alias.name.startswith("torch."):
                    return None
    if not names or "type:" in text:
        return None
    module = cst.parse_module(text)

    class Rename(cst.CSTTransformer):
        def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
            return False

        def leave_Import(self, original: cst.Import, updated: cst.Import) -> cst.Import:
            aliases = []
            for alias in original.names:
                if alias.asname is None and alias.evaluated_name == "torch":
                    alias = alias.with_changes(asname=cst.AsName(cst.Name("tch")))
                elif alias.asname is not None:
                    alias = alias.with_changes(
                        asname=alias.asname.with_changes(name=cst.Name(f"{alias.evaluated_alias}_x"))
                    )
                aliases.append(alias)
            return original.with_changes(names=aliases)

        def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.Attribute:
            return updated.with_changes(attr=original.attr)

        def leave_Arg(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:
            return updated.with_changes(keyword=original.keyword)

        def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.Name:
            return (
                cst.Name(names[original.value], lpar=original.lpar, rpar=original.rpar)
                if original.value in names
                else updated
            )

    return module.visit(Rename()).code


def semicolons(text: str) -> str | None:
    """Neighbouring small statements share a line."""

    def join(body: list[cst.BaseStatement]) -> list[cst.BaseStatement]:
        out: list[cst.BaseStatement] = []
        for line in body:
            last = out[-1] if out else None
            if isinstance(line, cst.SimpleStatementLine) and isinstance(last, cst.SimpleStatementLine):
                plain = not line.leading_lines and last.trailing_whitespace.comment is None
                imports = any(isinstance(s, (cst.Import, cst.ImportFrom)) for s in (*line.body, *last.body))
                if plain and not imports and not _docstring(last):
                    semicolon = cst.Semicolon(whitespace_after=cst.SimpleWhitespace(" "))
                    front = [s.with_changes(semicolon=semicolon) for s in last.body]
                    out[-1] = last.with_changes(body=[*front, *line.body], trailing_whitespace=line.trailing_whitespace)
                    continue
            out.append(line)
        return out

    class Join(cst.CSTTransformer):
        def leave_IndentedBlock(self, _: cst.IndentedBlock, updated: cst.IndentedBlock) -> cst.IndentedBlock:
            return updated.with_changes(body=join(list(updated.body)))

    return cst.parse_module(text).visit(Join()).code


def _docstring(line: cst.SimpleStatementLine) -> bool:
    return isinstance(line.body[0], cst.Expr) and isinstance(line.body[0].value, cst.SimpleString)


def one_line_suites(text: str) -> str | None:
    """`if x:` and `for x in y:` with one small statement become one line."""

    class Flatten(cst.CSTTransformer):
        def leave_IndentedBlock(self, original: cst.IndentedBlock, updated: cst.IndentedBlock) -> cst.BaseSuite:
            if len(updated.body) != 1 or updated.header.comment or updated.footer:
                return updated
            line = updated.body[0]
            if not isinstance(line, cst.SimpleStatementLine) or line.leading_lines or _docstring(line):
                return updated
            return cst.SimpleStatementSuite(line.body, trailing_whitespace=line.trailing_whitespace)

    return cst.parse_module(text).visit(Flatten()).code


def parentheses(text: str) -> str | None:
    """`x.f()` becomes `(x).f()`, and statements that are one call stand in parentheses."""
    pair = {"lpar": [cst.LeftParen()], "rpar": [cst.RightParen()]}

    class Wrap(cst.CSTTransformer):
        def visit_Decorator(self, node: cst.Decorator) -> bool:
            return False

        def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
            func = updated.func
            if isinstance(func, cst.Attribute) and isinstance(func.value, (cst.Name, cst.Call)) and not func.value.lpar:
                return updated.with_changes(func=func.with_changes(value=func.value.with_changes(**pair)))
            return updated

        def leave_Expr(self, original: cst.Expr, updated: cst.Expr) -> cst.Expr:
            if isinstance(updated.value, cst.Call) and not updated.value.lpar:
                return updated.with_changes(value=updated.value.with_changes(**pair))
            return updated

    return cst.parse_module(text).visit(Wrap()).code


def comments_between_arguments(text: str) -> str | None:
    class Comment(cst.CSTTransformer):
        def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
            if not updated.args or isinstance(updated.whitespace_before_args, cst.ParenthesizedWhitespace):
                return updated
            space = cst.ParenthesizedWhitespace(
                cst.TrailingWhitespace(cst.SimpleWhitespace("  "), cst.Comment("# first")),
                indent=True,
                last_line=cst.SimpleWhitespace("        "),
            )
            return updated.with_changes(whitespace_before_args=space)

        def visit_FormattedString(self, node: cst.FormattedString) -> bool:
            return False

    return cst.parse_module(text).visit(Comment()).code


def trailing_commas(text: str) -> str | None:
    class Comma(cst.CSTTransformer):
        def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
            if not updated.args or isinstance(updated.args[-1].comma, cst.Comma):
                return updated
            if isinstance(updated.args[0].value, cst.GeneratorExp) and len(updated.args) == 1:
                return updated
            return updated.with_changes(args=[*updated.args[:-1], updated.args[-1].with_changes(comma=cst.Comma())])

    return cst.parse_module(text).visit(Comma()).code


def nested(header: str, footer: str = "") -> Mutation:
    """The body of every outermost function stands in one more block."""

    def mutate(text: str) -> str | None:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING and token.start[0] != token.end[0] and token.start[1]:
                return None
        tree = ast.parse(text)
        lines = text.split("\n")
        functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
        functions += [
            m for c in tree.body if isinstance(c, ast.ClassDef) for m in c.body if isinstance(m, ast.FunctionDef)
        ]
        for function in sorted(functions, key=lambda f: -f.lineno):
            body = function.body
            if ast.get_docstring(function) is not None:
                body = body[1:]
            named = function.name.startswith("__") or any("property" in ast.dump(d) for d in function.decorator_list)
            if named or not body or body[0].lineno == function.lineno:
                continue
            first = _start(body[0], lines)
            last = body[-1].end_lineno or first
            indent = " " * body[0].col_offset
            inner = [f"    {line}" if line else line for line in lines[first - 1 : last]]
            end = [f"{indent}{footer}", f"{indent}    pass"] if footer else []
            lines[first - 1 : last] = [f"{indent}{header}", *inner, *end]
        return "\n".join(lines)

    return mutate


def _start(statement: ast.stmt, lines: list[str]) -> int:
    """First line of a statement, with decorators and the comments above."""
    line = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
    while lines[line - 2].strip().startswith("#"):
        line -= 1
    return line


def asynchronous(text: str) -> str | None:
    """Functions of the module (not methods, whose callers would have to await them) become coroutines."""
    return re.sub(r"(?m)^def ", "async def ", text) if re.search(r"(?m)^def ", text) else None


pytestmark = pytest.mark.law

LITERAL = {
    "crlf": crlf,
    "bom": byte_order_mark,
    "no-final-newline": no_final_newline,
    "tabs": tabs,
    "aliases": other_aliases,
    "in-with": nested("with open(os.devnull):"),
    "in-try": nested("try:", "finally:"),
    "async": asynchronous,
}
SAME_TREE = {
    "semicolons": semicolons,
    "one-line-suites": one_line_suites,
    "parentheses": parentheses,
    "comments": comments_between_arguments,
    "trailing-commas": trailing_commas,
}

MORE_CAREFUL = (
    "hf-training-arguments/input_grads",
    "hf-training-arguments/transformers_4_33",
    "manual-step-without-zero-grad/example",
    "manual-step-without-zero-grad/gan",
    "no-grad-in-autocast/gan_discriminator",
    "raw-backward-beside-fabric/parts",
)
EXEMPT: dict[tuple[str, str], str] = {
    **{
        (f"implicit-reentrant/{case}", "in-with"): "opening a file in a checkpointed block is not harmless"
        for case in (
            "all_trainable",
            "conditional_list",
            "decorator",
            "example",
            "hugging_face_style",
            "prints",
            "splat_of_inputs",
        )
    },
    ("implicit-reentrant/decorator", "async"): "a coroutine cannot be recomputed",
    **{
        (case, "in-try"): "behind a `finally` it is not known that the body was completed: then the fix is more careful"
        for case in MORE_CAREFUL
    },
    **{
        (
            f"manual-clip-in-training-step/{case}",
            name,
        ): "the hook is a function that the fix writes, outside of the block"
        for case in ("example", "of_torch")
        for name in ("in-with", "in-try")
    },
    **{
        ("frozen-batchnorm-moves/example", name): "the fix writes a method, outside of the block"
        for name in ("in-with", "in-try")
    },
}
"""(rule name/case, mutation) → why this twin may differ."""


def decoded(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if "\r" in text or text.startswith("\ufeff") or "\f" in text else text


def _fixed(case: Case, text: str) -> tuple[str, list[tuple[str, str, str]]]:
    found = case.run({"case.py": text.encode()})
    assert found.skips == ()
    after = found.changed[0].after if found.changed else text.encode()
    return after.decode(), sorted((f.code, str(f.safety), str(f.strategy)) for f in found.findings)


_UNTOUCHED: dict[Path, list[tuple[str, str, str]]] = {}


def _found(case: Case, text: str) -> list[tuple[str, str, str]]:
    """What is found in a fixture as it stands."""
    if case.path not in _UNTOUCHED:
        _UNTOUCHED[case.path] = _fixed(case, text)[1]
    return _UNTOUCHED[case.path]


Twin = tuple[Case, str, str, str]
"""A case, its *before*, the twin of it, and its *after*."""


def twins(code: str, name: str, mutation: Mutation) -> dict[str, Twin]:
    """The twins of a rule's fixtures, by case."""
    found = {}
    for case in repaired() if thorough() else few():
        if case.rule.code == code and (f"{case.rule.name}/{case.name}", name) not in EXEMPT:
            before, after = decoded(case.path.read_bytes()), decoded(case.expected["case.py"])
            twin = mutation(before) if before is not None and after is not None else None
            if twin is not None and twin != before:
                assert before is not None and after is not None
                found[case.name] = case, before, twin, after
    if not found:
        pytest.skip("does not apply")
    return found


each_rule = pytest.mark.parametrize("code", dict.fromkeys(case.rule.code for case in repaired()))


@pytest.mark.few(300)
@pytest.mark.parametrize("name", LITERAL)
@each_rule
def test_literal_twins(code: str, name: str) -> None:
    mutation = LITERAL[name]

    def law(pair: Twin) -> None:
        case, before, twin, after = pair
        fixed, found = _fixed(case, twin)
        assert fixed == mutation(after)
        assert found == _found(case, before)

    hold(law, twins(code, name, mutation))


@pytest.mark.few(225)
@pytest.mark.parametrize("name", SAME_TREE)
@each_rule
def test_twins_with_the_same_tree(code: str, name: str) -> None:
    def law(pair: Twin) -> None:
        case, before, twin, after = pair
        assert ast.dump(ast.parse(twin)) == ast.dump(ast.parse(before)), "the mutation is wrong"
        fixed, found = _fixed(case, twin)
        assert ast.unparse(ast.parse(fixed)) == ast.unparse(ast.parse(after))
        assert found == _found(case, before)

    hold(law, twins(code, name, SAME_TREE[name]))
