"""The laws of edits, as properties; and each law fails on a named mutant of the engine."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from effort import examples, thorough
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from memory import Memory
from toy import PROGRAMS, PROJECTS, RULES, shared

from codemods.engine import rounds
from codemods.engine.rounds import Options, plan
from codemods.engine.steps import _Again, steps
from codemods.model import edits
from codemods.model.edits import Edit, Finding, Fix, Place, Safety, select, splice, trim, whole_lines
from codemods.model.plan import FilePlan
from codemods.project.index import Index

pytestmark = pytest.mark.law

TEXTS_TRIED = examples(2_000)
PROGRAMS_TRIED = 2_000 if thorough() else 150
"""Those that the engine runs over; each mutant below is found among the first twenty."""
BODIES: dict[str, Callable[[], None]] = {}
"""For mutants: a law that looks for any failure, and does not shrink it."""


def law(
    *arguments: st.SearchStrategy[object], tried: int = PROGRAMS_TRIED
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A property of many examples, the same in every run."""
    basis = settings(max_examples=tried, derandomize=True, database=None)

    def decorate(body: Callable[..., None]) -> Callable[..., None]:
        quick = settings(basis, phases=[Phase.generate], report_multiple_bugs=False)
        BODIES[body.__name__] = quick(given(*arguments)(body))
        return basis(given(*arguments)(body))

    return decorate


def hunt(test: Callable[..., None]) -> None:
    BODIES[test.__name__]()


def finding(code: str, *changes: Edit) -> Finding:
    first = changes[0]
    place = Place(first.start, first.end, 1, 1, 1, 1)
    return Finding(code, code.lower(), first.path, place, "message", Safety.SAFE, Fix("title", tuple(changes)))


TEXTS = st.text(alphabet="ab \n\r", max_size=30)


@st.composite
def texts_and_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """A text, and edits of it that may touch."""
    text = draw(TEXTS)
    spans = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted)
    return text, [Edit("p.py", a, b, draw(TEXTS)) for a, b in draw(st.lists(spans, max_size=6))]


def after(
    files: dict[str, str], *, order: Callable[[list[str]], list[str]] = list, **changes: object
) -> dict[str, bytes]:
    """The project after all toy rules."""
    found = plan(order(sorted(files)), Memory(files), replace(Options(RULES), **changes), fix=True)
    return {**Memory(files).data, **{f.path: f.after for f in found.changed}}


# -- order does not matter


@law(texts_and_edits(), st.randoms(use_true_random=False), tried=TEXTS_TRIED)
def test_the_order_of_fixes_does_not_matter(case: tuple[str, list[Edit]], random: random.Random) -> None:
    text, changes = case
    found = [finding(f"TOY{n % 3}", edit) for n, edit in enumerate(changes)]
    shuffled = random.sample(found, len(found))
    taken, other = select(found)[0], select(shuffled)[0]
    assert splice(text, [e for f in taken for e in f.fix.edits]) == splice(
        text, [e for f in other for e in f.fix.edits]
    )


@law(PROJECTS, st.randoms(use_true_random=False))
def test_the_order_of_rules_and_files_does_not_matter(files: dict[str, str], random: random.Random) -> None:
    rules = tuple(random.sample(RULES, len(RULES)))
    assert after(files) == after(files, order=lambda paths: random.sample(paths, len(paths)), rules=rules)


def test_mutant_touch_test_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Edit, "touches", lambda self, other: False)
    with pytest.raises((AssertionError, ValueError)):
        hunt(test_the_order_of_fixes_does_not_matter)


def test_mutant_first_come_first_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(found: list[Finding]) -> tuple[list[Finding], list[Finding]]:
        taken: list[Finding] = []
        for f in found:
            if not any(a.touches(b) for t in taken for a in f.fix.edits for b in t.fix.edits):
                taken.append(f)
        return taken, []

    monkeypatch.setitem(globals(), "select", careless)
    with pytest.raises(AssertionError):
        hunt(test_the_order_of_fixes_does_not_matter)


# -- trimming changes nothing


@law(texts_and_edits(), tried=TEXTS_TRIED)
def test_trimming_changes_nothing(case: tuple[str, list[Edit]]) -> None:
    text, changes = case
    for edit in changes:
        trimmed = edits.trim(edit, text)
        assert splice(text, [trimmed]) == splice(text, [edit])
        assert edit.start <= trimmed.start <= trimmed.end <= edit.end
        assert splice(text, [whole_lines(trimmed, text)]) == splice(text, [edit])


def test_mutant_trim_off_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(edit: Edit, text: str) -> Edit:
        good = trim(edit, text)
        return replace(good, end=min(good.end + 1, len(text)))

    monkeypatch.setattr(edits, "trim", careless)
    with pytest.raises(AssertionError):
        hunt(test_trimming_changes_nothing)


# -- a second run finds nothing


@law(PROGRAMS)
def test_a_second_run_finds_nothing(program: str) -> None:
    once = after({"p.py": program})
    ast.parse(once["p.py"])
    again = plan(["p.py"], Memory(once), Options(RULES), fix=False)
    assert [f.message for f in again.findings if f.fix] == []


def test_mutant_deferral_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is deferred in the first round is never looked at again."""
    real = rounds._Component._look

    def careless(self: rounds._Component, file: rounds._File, index: Index, number: int) -> list[Finding]:
        return [] if number else real(self, file, index, number)

    monkeypatch.setattr(rounds._Component, "_look", careless)
    with pytest.raises(AssertionError):
        hunt(test_a_second_run_finds_nothing)


# -- per-rule texts add up to the whole


@law(PROJECTS)
def test_per_rule_texts_add_up_to_the_whole(files: dict[str, str]) -> None:
    reader, options = Memory(files), Options(RULES)
    whole = plan(sorted(files), reader, options, fix=True)
    texts, seen = dict(reader.data), set()
    for step in steps(whole, reader, options):
        seen |= set(step.codes)
        texts.update(step.files)
        alone = plan(sorted(files), reader, replace(options, rules=tuple(r for r in RULES if r.code in seen)), fix=True)
        assert texts == {**reader.data, **{f.path: f.after for f in alone.changed}}
        assert all(ast.parse(data) for data in texts.values())
    assert texts == {**reader.data, **{f.path: f.after for f in whole.changed}}
    assert seen == {f.code for f in whole.findings if f.applied}


@pytest.mark.parametrize("road", ["taken", "planned"])
def test_mutant_a_step_holds_the_fixes_of_its_own_rule_only(monkeypatch: pytest.MonkeyPatch, road: str) -> None:
    real = getattr(_Again, road)

    def careless(self: _Again, codes: tuple[str, ...]) -> object:
        everything = len(codes) == len({f.code for f in self.whole.findings if f.applied})
        return real(self, codes if everything else codes[-1:])

    monkeypatch.setattr(_Again, road, careless)
    with pytest.raises(AssertionError):
        hunt(test_per_rule_texts_add_up_to_the_whole)


def test_mutant_fixes_that_waited_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    real = rounds._whole

    def careless(path: str, units: Sequence[rounds._File]) -> FilePlan | None:
        file = real(path, units)
        return file and replace(file, at_once=True)

    monkeypatch.setattr(rounds, "_whole", careless)
    with pytest.raises(AssertionError):
        hunt(test_per_rule_texts_add_up_to_the_whole)


def test_steps_are_one_per_rule() -> None:
    files = {"p.py": "from lib import legacy\nmark()\nx = old(twice(legacy(1)))\n"}
    whole = plan(["p.py"], Memory(files), Options(RULES), fix=True)
    found = steps(whole, Memory(files), Options(RULES))
    assert [step.codes for step in found] == [("TOY001",), ("TOY002",), ("TOY003",), ("TOY005",)]
    assert [step.files["p.py"].decode().splitlines()[-1] for step in found] == [
        "x = new(twice(legacy(1)))",
        "x = new((legacy(1) + legacy(1)))",
        "x = new((legacy(1) + legacy(1)))",
        "x = new((torch.modern(1) + torch.modern(1)))",
    ]


# -- a fix across two files lands in both or in neither


@law(PROJECTS)
def test_a_fix_across_files_lands_in_both_or_in_neither(files: dict[str, str]) -> None:
    texts = {path: data.decode() for path, data in after(files, rules=(shared, *RULES[:3])).items()}
    defined = "def common(" in texts["m.py"]
    for path, text in texts.items():
        if path.startswith("u") and ("shared" in files[path]):
            assert ("import common" in text) == ("common()" in text)
            assert defined or "common" not in text
    users = [path for path in files if path.startswith("u") and "shared" in files[path]]
    if defined:
        assert any("common()" in texts[path] for path in users)


def test_mutant_other_files_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    real = rounds._Component.take

    def careless(self: rounds._Component, taken: list[Finding], index: Index) -> Index | None:
        own = [
            replace(f, fix=replace(f.fix, edits=tuple(e for e in f.fix.edits if e.path == f.path)))
            for f in taken
            if f.fix is not None
        ]
        return real(self, own, index)

    monkeypatch.setattr(rounds._Component, "take", careless)
    with pytest.raises(AssertionError):
        hunt(test_a_fix_across_files_lands_in_both_or_in_neither)


# -- paths say what is reported, never what may be read


@law(PROJECTS)
def test_checking_one_file_finds_what_checking_all_finds(files: dict[str, str]) -> None:
    everything = plan(sorted(files), Memory(files), Options(RULES), fix=False).findings
    for path in files:
        alone = plan([path], Memory(files), Options(RULES), fix=False).findings
        assert alone == tuple(f for f in everything if f.path == path)


def test_mutant_reads_only_what_it_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    real = rounds.plan

    def careless(paths: list[str], reader: Memory, options: Options, *, fix: bool) -> object:
        return real(paths, Memory({p: reader.data[p] for p in paths}), options, fix=fix)

    monkeypatch.setitem(globals(), "plan", careless)
    with pytest.raises(AssertionError):
        hunt(test_checking_one_file_finds_what_checking_all_finds)
