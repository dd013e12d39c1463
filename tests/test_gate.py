"""The first gate: what it may let go, and what it must not."""

from __future__ import annotations

import random
import tokenize
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from itertools import pairwise

import pytest
from cases import Case, cases
from hypothesis import given
from hypothesis import strategies as st

from codemods.edits import Safety
from codemods.gate import Gate, Spot, functions, holds_together, with_synonyms, without_prose
from codemods.rule import Rule
from codemods.transforms import load


def rule(**gates: object) -> Rule:
    return Rule("TST001", "a-test", "summary", "fix", Safety.SAFE, **gates)  # type: ignore[arg-type]


def wanted(one: Rule, text: bytes, path: str = "a.py") -> bool:
    return Gate([one]).wanted(path, text) == [one]


class TestFile:
    def test_no_rule_no_file(self) -> None:
        assert Gate([]).wanted("a.py", b"loss.backward()") == []

    def test_a_trigger(self) -> None:
        one = rule(triggers=(b"no_grad", b"inference_mode"))
        assert wanted(one, b"with torch.inference_mode(): pass")
        assert not wanted(one, b"with torch.enable_grad(): pass")
        assert not wanted(one, b"no_grad", "a.yaml")

    def test_one_of_each_group(self) -> None:
        one = rule(triggers=(b"backward",), triggers_all=((b"torch", b"lightning"), (b"step(",)))
        assert wanted(one, b"import lightning\nloss.backward(); opt.step()")
        assert not wanted(one, b"loss.backward(); opt.step()")

    def test_a_pattern_is_tried_at_each_place_of_its_literal(self) -> None:
        one = rule(triggers=(Spot(b"backward", rb"\.backward\b"),))
        assert wanted(one, b"# backward compatible\n" * 50 + b"loss.backward()")
        assert not wanted(one, b"# backward compatible\n" * 50)

    def test_a_pattern_beside_the_triggers_too(self) -> None:
        one = rule(triggers=(b"fp16",), triggers_all=((Spot(b"bf16", rb"\bbf16=True"),),))
        assert wanted(one, b"fp16 bf16 bf16=True")
        assert not wanted(one, b"fp16 bf16 bf16=False")

    def test_documents_by_kind(self) -> None:
        one = rule(elsewhere=(b"precision",))
        one.kinds.add("config")
        assert wanted(one, b"precision: 16", "a.yaml")
        assert not wanted(one, b"precision: 16", "a.py")
        assert not wanted(one, b"precision: 16", "run.sh")

    def test_a_pattern_reaches_only_so_far(self) -> None:
        near, far = (rule(triggers=(Spot(b"copy_(", rb"^for(?:.|\n)*copy_\(", reach),)) for reach in (50, 500))
        text = b"for p in q:\n" + b"    pass\n" * 20 + b"    p.copy_(r)\n"
        assert not wanted(near, text)
        assert wanted(far, text)

    def test_in_a_notebook_the_literals_are_enough(self) -> None:
        one = rule(triggers=(Spot(b"class ", rb"^class\b"),))
        assert wanted(one, b'    "class A:\n"', "a.ipynb")
        assert not wanted(one, b"    class A: pass")


TOGETHER = rule(triggers=(b"detach(",), together=((b"detach(",), (b"backward",)))


class TestTogether:
    def test_in_one_function(self) -> None:
        assert wanted(TOGETHER, b"def f(x):\n    x = x.detach()\n    x.backward()\n")
        assert not wanted(TOGETHER, b"def f(x):\n    return x.detach()\ndef g(x):\n    x.backward()\n")

    def test_outside_of_functions_is_one_place(self) -> None:
        script = b"x = y.detach()\ndef f():\n    pass\nx.backward()\n"
        assert wanted(TOGETHER, script)
        assert not wanted(TOGETHER, b"x = y.detach()\ndef f():\n    z.backward()\n")

    def test_decorators_and_inner_functions_belong_to_it(self) -> None:
        assert wanted(
            TOGETHER, b"class A:\n    @hook(\n        y.detach()\n    )\n    def f(x):\n        x.backward()\n"
        )
        assert wanted(TOGETHER, b"def f(x):\n    def g():\n        x.backward()\n    return x.detach()\n")

    def test_a_string_at_the_margin_does_not_end_it(self) -> None:
        assert wanted(TOGETHER, b'def f(x):\n    """\nAt the margin.\n"""\n    x.detach()\n    x.backward()\n')
        assert wanted(TOGETHER, b"def f(\n    x,\n):\n    x.detach()\n# note\n\n    x.backward()\n")

    def test_a_name_given_another_name_is_looked_for_by_that(self) -> None:
        imported = b"from torch.autograd import backward as bw\ndef f(x):\n    bw(x.detach())\n"
        assert wanted(TOGETHER, imported)
        assert wanted(TOGETHER, imported.replace(b" as ", b" \\\n    as "))
        assert not wanted(TOGETHER, imported.replace(b"    bw(", b"    bws("))
        assert wanted(TOGETHER, b"bw = torch.autograd.backward  # short\ndef f(x):\n    bw(x.detach())\n")
        assert not wanted(TOGETHER, b"bw = backward_of(1)\ndef f(x):\n    bw(x.detach())\n")

    @pytest.mark.parametrize(
        "said", ["# x.backward()", '"""x.backward()"""', "r'''\n\"x.backward()\n'''", "'#'  # 'x.backward()"]
    )
    def test_prose_does_not_count(self, said: str) -> None:
        assert not wanted(TOGETHER, f"def f(x):\n    x.detach()\n    {said}\n".encode())
        assert not wanted(TOGETHER, f"y = x.detach()\n{said}\n".encode())

    @pytest.mark.parametrize("said", ['f"""{x.backward()}"""', "fr'''{x.backward()}'''", "'#'; x.backward()"])
    def test_code_in_and_behind_strings_counts(self, said: str) -> None:
        assert wanted(TOGETHER, f"def f(x):\n    x.detach()\n    {said}\n".encode())

    def test_what_begins_inside_a_string_is_looked_at_whole(self) -> None:
        template = 'T = """\ndef f(x):\n    """\ndef g(x):\n    x.detach()\n    x.backward()\n    y = """"""\n'
        assert wanted(TOGETHER, template.encode())

    def test_of_a_notebook_the_whole_is_asked(self) -> None:
        assert wanted(TOGETHER, b'"def f(x): x.detach()\\n", "def g(x): x.backward()"', "a.ipynb")

    @given(
        st.lists(st.sampled_from(["def f():", "    x = 1", "class A:", "    @d", "", "    def g(self):", "        y"]))
    )
    def test_functions_lie_in_order_and_apart(self, lines: list[str]) -> None:
        data = "\n".join(lines).encode()
        spans = functions(data)
        assert all(start < end <= len(data) for start, end in spans)
        assert all(before <= after for (_, before), (after, _) in pairwise(spans))


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.rule.code}-{case.name}-{case.kind}")
def test_what_is_found_passes_alone_and_in_company(case: Case) -> None:
    """A rule's gate lets its own fixtures pass, whatever other rules share the automaton."""
    rules = list(load())
    random.Random(str(case)).shuffle(rules)
    for path, data in case.files.items():
        alone = [one.code for one in load() if Gate([one]).wanted(path, data)]
        assert sorted(one.code for one in Gate(rules).wanted(path, data)) == sorted(alone)


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.rule.code}-{case.name}-{case.kind}")
def test_without_prose_all_code_is_left(case: Case) -> None:
    prose = (tokenize.COMMENT, tokenize.STRING, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)

    def code(data: bytes) -> list[str]:
        return [t.string for t in tokenize.tokenize(BytesIO(data).readline) if t.type not in prose]

    for path, data in case.files.items():
        if path.endswith(".py"):
            with suppress(tokenize.TokenError, SyntaxError):
                expected = code(data)
                assert code(without_prose(data)) == expected


def test_close_range_is_never_wider_than_the_file() -> None:
    for one in load():
        loose = replace(one, together=())
        text = b"import torch\n" + b"\n".join(t if isinstance(t, bytes) else t.literal for t in one.triggers)
        if wanted(one, text):
            assert wanted(loose, text)
            assert holds_together(with_synonyms(one.together, text), text)
