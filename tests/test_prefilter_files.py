"""The prefilter: what it lets go. That it loses nothing is held by `test_prefilter.py`."""

from __future__ import annotations

import random

import pytest
from cases import cases

from codemods.engine.prefilter import Prefilter
from codemods.model.edits import Safety
from codemods.rules.rule import Rule
from codemods.transforms import load


def rule(**gates: object) -> Rule:
    return Rule("TST001", "a-test", "summary", "fix", Safety.SAFE, **gates)  # type: ignore[arg-type]


def wanted(one: Rule, text: bytes, path: str = "a.py") -> bool:
    return Prefilter([one]).wanted(path, text) == [one]


class TestFile:
    def test_no_rule_no_file(self) -> None:
        assert Prefilter([]).wanted("a.py", b"loss.backward()") == []

    def test_an_identifier(self) -> None:
        one = rule(triggers=(("no_grad", "inference_mode"),))
        assert wanted(one, b"with torch.inference_mode(): pass")
        assert not wanted(one, b"with torch.enable_grad(): pass")
        assert not wanted(one, b"no_grad", "a.yaml")

    def test_one_of_each_group(self) -> None:
        one = rule(triggers=(("backward",), ("torch", "lightning"), ("step",)))
        assert wanted(one, b"import lightning\nloss.backward(); opt.step()")
        assert not wanted(one, b"loss.backward(); opt.step()")

    @pytest.mark.parametrize(
        "text", [b"step", b"opt.step ()", b"opt.\\\n step(", b"(step)", "ü.step".encode(), b"\xef\xbb\xbfstep()"]
    )
    def test_a_whole_word_however_it_is_written(self, text: bytes) -> None:
        assert wanted(rule(triggers=(("step",),)), text)

    @pytest.mark.parametrize("text", [b"steps", b"_step", b"step1", "üstep".encode(), "stepü".encode()])
    def test_a_part_of_a_word_is_none(self, text: bytes) -> None:
        assert not wanted(rule(triggers=(("step",),)), text)

    def test_what_two_rules_ask_for_may_overlap(self) -> None:
        longer, shorter = rule(triggers=(("cuda_amp",),)), rule(triggers=(("amp",),))
        assert Prefilter([longer, shorter]).wanted("a.py", b"amp") == [shorter]
        assert Prefilter([longer, shorter]).wanted("a.py", b"cuda_amp") == [longer]

    def test_documents_by_kind(self) -> None:
        one = rule(elsewhere=(b"precision",))
        one.kinds.add("config")
        assert wanted(one, b"precision: 16", "a.yaml")
        assert not wanted(one, b"precision: 16", "a.py")
        assert not wanted(one, b"precision: 16", "run.sh")

    def test_in_a_notebook_a_line_end_is_no_letter(self) -> None:
        assert wanted(rule(triggers=(("step",),)), b'"source": "x = 1\\nstep()"', "a.ipynb")

    @pytest.mark.parametrize("triggers", [(("step(",),), ((b"step",),), ("step",), (b"step",)])
    def test_what_is_no_identifier_is_refused(self, triggers: tuple[object, ...]) -> None:
        with pytest.raises(ValueError, match="TST001: triggers are groups of identifiers"):
            rule(triggers=triggers)


def test_the_company_of_other_rules_is_all_one() -> None:
    alone = [Prefilter([one]) for one in load()]
    rules = list(load())
    for number, case in enumerate(cases()):
        if number % 100 == 0:
            random.Random(number).shuffle(rules)
            together = Prefilter(rules)
        for path, data in case.files.items():
            expected = [one.code for each in alone for one in each.wanted(path, data)]
            assert sorted(one.code for one in together.wanted(path, data)) == expected, case.path
