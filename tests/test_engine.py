"""The engine with rules of its own: rounds, components, skips, versions, steps, origins, fingerprints."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace as exchanged

import pytest
from memory import Memory
from toy import doubled, renamed, shared, torched

from codemods.analysis.python_context import PythonContext
from codemods.engine import check_python
from codemods.engine import steps as engine_steps
from codemods.engine.rounds import Options, plan
from codemods.engine.steps import steps
from codemods.model.edits import Evidence, Need, Safety, SkipReason
from codemods.model.plan import Plan
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.syntax.verbs import delete, drop, edit_call, rename, replace

Check = Callable[[ast.Call, PythonContext, Rule], Iterator[Draft]]


def rule_on_calls(
    name: str,
    check: Check,
    *,
    code: str = "TST001",
    safety: Safety = Safety.SAFE,
    bites: Mapping[str, str] | None = None,
) -> Rule:
    """A rule that runs `check` on every call of `name`."""
    made = Rule(code, name, f"{name} is wrong", f"repair {name}", safety, ((name,),), bites=bites or {})

    @made.on(ast.Call)
    def on_call(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
        if ctx.name(call.func) == name:
            yield from check(call, ctx, made)

    return made


def renaming(old: str, new: str, **options: object) -> Rule:
    def check(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
        yield rule.finding(call, fix=[edit_call(call, function=new)])

    return rule_on_calls(old, check, **options)  # type: ignore[arg-type]


def reporting(name: str, code: str = "TST009") -> Rule:
    return rule_on_calls(name, lambda call, ctx, rule: iter([rule.finding(call)]), code=code)


def removing(name: str, code: str = "TST003") -> Rule:
    return rule_on_calls(name, lambda call, ctx, rule: iter([rule.finding(call, fix=[delete(call)])]), code=code)


def run(files: Mapping[str, str | bytes] | str, *rules: Rule, fix: bool = True, **options: object) -> Plan:
    files = {"p.py": files} if isinstance(files, str) else files
    paths = [p for p in files if p.endswith(".py")]
    return plan(paths, Memory(files), exchanged(Options(rules), **options), fix=fix)  # type: ignore[arg-type]


def texts(found: Plan) -> dict[str, str]:
    return {f.path: f.after.decode() for f in found.changed}


def skips(found: Plan) -> list[tuple[str, SkipReason, str]]:
    return [(s.path, s.reason, s.detail) for s in found.skips]


# -- nothing to do


@pytest.mark.parametrize("text", ["", "x = 1\n", "# old\n", "new()\n", 's = "old()"\n'])
def test_nothing_is_found_and_nothing_changes(text: str) -> None:
    found = run(text, renamed, doubled)
    assert (found.files, found.skips, found.files_seen) == ((), (), 1)


def test_a_check_changes_nothing() -> None:
    found = run("old()\n", renamed, fix=False)
    assert [(f.code, f.applied, f.safety) for f in found.findings] == [("TOY001", False, Safety.SAFE)]
    assert found.changed == ()


# -- bytes stay as they were


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b"old()\n", b"new()\n", id="plain"),
        pytest.param(b"a = 1\r\nold()\r\nb = 2\r\n", b"a = 1\r\nnew()\r\nb = 2\r\n", id="CRLF"),
        pytest.param(b"a = 1\r\nb = 2\nold()\r\n", b"a = 1\r\nb = 2\nnew()\r\n", id="mixed line ends"),
        pytest.param(b"\xef\xbb\xbfold()\n", b"\xef\xbb\xbfnew()\n", id="byte-order mark"),
        pytest.param(
            b"# coding: latin-1\ns = '\xe9'; old()\n", b"# coding: latin-1\ns = '\xe9'; new()\n", id="latin-1"
        ),
        pytest.param(b"if x:\n\told()\n", b"if x:\n\tnew()\n", id="tabs"),
        pytest.param(b"x = 1\n\x0c\nold()\n", b"x = 1\n\x0c\nnew()\n", id="form feed on a line of its own"),
        pytest.param(b"x = 1\nold()", b"x = 1\nnew()", id="no newline at the end"),
        pytest.param(b"x = 1\nold()  # why", b"x = 1\nnew()  # why", id="comment at the end"),
        pytest.param(b"old(  1 ,2)\n", b"new(  1 ,2)\n", id="odd spacing"),
        pytest.param(b"old(\n    1,  # one\n)\n", b"new(\n    1,  # one\n)\n", id="comments in the arguments"),
        pytest.param(b"a; old(); b\n", b"a; new(); b\n", id="several on a line"),
        pytest.param(b"if x: old()\n", b"if x: new()\n", id="one-line suite"),
    ],
)
def test_everything_else_keeps_its_bytes(before: bytes, after: bytes) -> None:
    found = run({"p.py": before}, renamed)
    assert ([f.after for f in found.changed], found.skips) == ([after], ())


# -- rounds


def test_a_fix_inside_another_waits_for_the_next_round() -> None:
    found = run("twice(old(1))\n", renamed, doubled)
    assert texts(found) == {"p.py": "(new(1) + new(1))\n"}
    assert sorted(f.code for f in found.findings if f.applied) == ["TOY001", "TOY001", "TOY002"]


def test_fixes_that_undo_each_other_leave_the_file_as_it_was() -> None:
    back = renaming("new", "old", code="TST002")
    display = reporting("other")
    found = run("old()\nother()\n", renamed, back, display)
    assert found.changed == ()
    detail = "fixes of TST002 do not come to rest; nothing was changed"
    assert skips(found) == [("p.py", SkipReason.UNSETTLED, detail)]
    assert [(f.code, f.applied, f.place.line) for f in found.findings] == [("TOY001", False, 1), ("TST009", False, 2)]


def test_fixes_without_end_leave_the_file_as_it_was() -> None:
    def check(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
        yield rule.finding(call, fix=[edit_call(call, last=[(None, "x")])])

    found = run("grow()\n", rule_on_calls("grow", check))
    assert (found.changed, [s.reason for s in found.skips]) == ((), [SkipReason.UNSETTLED])


def test_a_fix_that_changes_nothing_is_no_fix() -> None:
    check = lambda call, ctx, rule: iter([rule.finding(call, fix=[replace(call, "same()")])])  # noqa: E731
    found = run("same()\n", rule_on_calls("same", check))
    assert [(f.fix, f.safety, f.applied) for f in found.findings] == [(None, Safety.DISPLAY, False)]


# -- safety, strategies, per-file ignores


@pytest.mark.parametrize(
    ("safety", "unsafe", "after"),
    [
        (Safety.SAFE, False, {"p.py": "good()\n"}),
        (Safety.UNSAFE, False, {}),
        (Safety.UNSAFE, True, {"p.py": "good()\n"}),
        (Safety.DISPLAY, True, {}),
    ],
)
def test_only_fixes_of_sufficient_safety_are_taken(safety: Safety, unsafe: bool, after: dict[str, str]) -> None:
    assert texts(run("bad()\n", renaming("bad", "good", safety=safety), unsafe=unsafe)) == after


@pytest.mark.parametrize(
    ("asked", "expected"),
    [({}, "one"), ({"TST001": "two"}, "two"), ({"TST001": "three"}, None)],
)
def test_the_strategy_asked_for_is_taken_where_it_is_possible(asked: dict[str, str], expected: str | None) -> None:
    def check(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
        yield rule.offer(call, {name: Remedy([edit_call(call, function=name)]) for name in ("one", "two")})

    found = run("bad()\n", rule_on_calls("bad", check), strategies=asked)
    assert [(f.strategy, f.strategies) for f in found.findings] == [(expected, ("one", "two"))]
    assert texts(found) == ({"p.py": f"{expected}()\n"} if expected else {})


# -- versions


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        pytest.param("torch==2.4.1\n", ["bad is wrong (torch <2.11)"], id="inside"),
        pytest.param("", ["bad is wrong (torch <2.11)"], id="unknown counts as inside"),
        pytest.param("torch==2.11.0\n", [], id="outside"),
        pytest.param("torch>=2.10\n", ["bad is wrong (torch <2.11)"], id="partly"),
    ],
)
def test_a_finding_needs_a_version_in_which_the_bug_exists(requirement: str, expected: list[str]) -> None:
    rule = renaming("bad", "good", bites={"torch": "<2.11"})
    found = run({"requirements.txt": requirement, "p.py": "bad()\n"}, rule)
    assert [f.message for f in found.findings] == expected
    assert bool(found.changed) == bool(expected)


@pytest.mark.parametrize(
    ("requirement", "safety"),
    [
        ("torch==2.4.1\n", Safety.SAFE),
        ("torch>=2.0\n", Safety.UNSAFE),
        ("", Safety.UNSAFE),
    ],
)
def test_a_fix_whose_own_api_may_be_missing_is_unsafe(requirement: str, safety: Safety) -> None:
    def check(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
        yield rule.finding(call, fix=[edit_call(call, function="good")], requires={"torch": ">=2.4"})

    found = run({"requirements.txt": requirement, "p.py": "bad()\n"}, rule_on_calls("bad", check))
    assert [(f.safety, f.applied) for f in found.findings] == [(safety, safety is Safety.SAFE)]


def test_targets_given_come_before_the_files() -> None:
    files = {"requirements.txt": "torch==2.11\n", "p.py": "bad()\n"}
    rule = renaming("bad", "good", bites={"torch": "<2.11"})
    found = run(files, rule, targets={"torch": "==2.4"})
    assert [(p.root, p.targets["torch"].source) for p in found.projects] == [("", "--target")]


# -- skips


@pytest.mark.parametrize("fix", [False, True])
def test_a_rule_that_crashes_costs_only_itself_on_that_file(fix: bool) -> None:
    def crash(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
        if call.args:
            raise ZeroDivisionError("oops")
        yield rule.finding(call)

    rule = rule_on_calls("boom", crash)
    found = run({"a.py": "boom()\nboom(1)\nboom(2)\nold()\n", "b.py": "boom()\n"}, rule, renamed, fix=fix)
    assert [(f.path, f.code) for f in found.findings] == [("a.py", "TOY001"), ("b.py", "TST001")]
    assert skips(found) == [("a.py", SkipReason.RULE_FAILED, "TST001 failed: ZeroDivisionError: oops")]
    assert texts(found) == ({"a.py": "boom()\nboom(1)\nboom(2)\nnew()\n"} if fix else {})


def endless(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
    yield from endless(call, ctx, rule)


def foreign(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
    yield rule.finding(call, fix=[replace(ast.parse("not_of_this_file", mode="eval").body, "x")])


def no_range(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
    yield rule.finding(call, bites={"torch": "young"})


@pytest.mark.parametrize(
    ("check", "error"), [(endless, "RecursionError"), (foreign, "LookupError"), (no_range, "InvalidSpecifier")]
)
def test_whatever_a_rule_yields_costs_only_itself(check: Check, error: str) -> None:
    found = run({"requirements.txt": "torch==2.4", "p.py": "boom()\nold()\n"}, rule_on_calls("boom", check), renamed)
    assert texts(found) == {"p.py": "boom()\nnew()\n"}
    assert [(s.reason, s.detail.split(":")[1].strip()) for s in found.skips] == [(SkipReason.RULE_FAILED, error)]


def no_program(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
    if call.args:
        yield rule.finding(call, fix=[replace(call, "'\\N{nobody}'")])
    else:
        yield rule.finding(call, fix=[edit_call(call, function="fine")])


def not_latin(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
    yield rule.finding(call, fix=[replace(call, '"→"')])


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (no_program, "a fix of TST001 would not give a program: line 3: (unicode error)"),
        (not_latin, "a fix of TST001 would not give a program: the file's encoding cannot hold the new text"),
    ],
)
def test_a_fix_that_gives_no_program_costs_only_its_rule(check: Check, why: str) -> None:
    text = "# coding: latin-1\nold(1)\nbad(12)\nold(2)\n"
    found = run(text, rule_on_calls("bad", check), renamed)
    assert texts(found) == {"p.py": "# coding: latin-1\nnew(1)\nbad(12)\nnew(2)\n"}
    assert [(s.reason, s.detail.startswith(why)) for s in found.skips] == [(SkipReason.RULE_FAILED, True)]
    assert [(f.code, f.applied) for f in found.findings] == [("TOY001", True), ("TST001", False), ("TOY001", True)]


def test_two_fixes_that_each_leave_a_program_but_not_together() -> None:
    text = "if x:\n    one()\n    # note\n    two()\n"
    found = run(text, removing("one"), removing("two", "TST004"))
    assert (texts(found), found.skips) == ({"p.py": "if x:\n    # note\n    pass\n"}, ())


def test_a_tree_too_deep_for_the_engine_is_a_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    def deep(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(check_python, "_edits", deep)
    found = run("old()\n", renamed)
    assert skips(found) == [("p.py", SkipReason.TOO_DEEP, "nested too deeply to be rewritten")]


def test_a_file_that_cannot_be_read_is_a_skip() -> None:
    found = plan(["gone.py"], Memory({}), Options((renamed,)), fix=True)
    assert skips(found) == [("gone.py", SkipReason.UNREADABLE, "cannot be read")]
    assert found.files_read == 0


# -- several files

ONE_USE = "from m import shared\nshared()\n"


def test_a_fix_over_two_files_lands_in_both() -> None:
    found = run({"m.py": "def shared(): pass\n", "u.py": ONE_USE}, shared)
    assert texts(found) == {"m.py": "def common(): pass\n", "u.py": "from m import common\ncommon()\n"}
    assert found.components == (frozenset({"m.py", "u.py"}),)


def test_a_fix_may_reach_a_file_without_a_trigger() -> None:
    def check(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
        other = ctx.other("quiet.py")
        assert other is not None
        (function,) = other.all(ast.FunctionDef)
        yield rule.finding(
            call,
            fix=[replace(call, "louder()")],
            also={"quiet.py": [rename(function, "louder")]},
        )

    found = run({"p.py": "call_it()\n", "quiet.py": "def quiet(): pass\n"}, rule_on_calls("call_it", check))
    assert texts(found) == {"p.py": "louder()\n", "quiet.py": "def louder(): pass\n"}


def test_a_fix_into_a_file_that_has_no_tree_is_no_fix() -> None:
    def check(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
        yield rule.finding(call, fix=[replace(call, "x")], also={"gone.py": [delete(call)]})

    found = run("call_it()\n", rule_on_calls("call_it", check))
    assert [(f.fix, f.safety) for f in found.findings] == [(None, Safety.DISPLAY)]


def test_fixes_outside_what_may_be_changed_are_not_taken() -> None:
    files = {"m.py": "def shared(): pass\n", "u.py": ONE_USE}
    found = plan(["u.py"], Memory(files), Options((shared,)), fix=True)
    assert [(f.path, f.applied, f.fix is not None) for f in found.findings] == [("u.py", False, True)]
    within = plan(["u.py"], Memory(files), Options((shared,)), fix=True, within=["m.py", "u.py"])
    assert sorted(texts(within)) == ["m.py", "u.py"]


@pytest.mark.parametrize("order", [("m.py", "u.py", "v.py"), ("v.py", "u.py", "m.py"), ("u.py", "m.py", "v.py")])
def test_components_meet(order: tuple[str, ...]) -> None:
    files = {"m.py": "def shared(): pass\n", "u.py": ONE_USE, "v.py": ONE_USE}
    found = plan(order, Memory(files), Options((shared,)), fix=True)
    assert found.components == (frozenset(files),)
    assert texts(found)["m.py"] == "def common(): pass\n"


def test_one_bad_file_does_not_cost_the_others() -> None:
    found = run({"bad.py": "old(\n", "good.py": "old()\n"}, renamed)
    assert texts(found) == {"good.py": "new()\n"}
    assert [(s.path, s.reason) for s in found.skips] == [("bad.py", SkipReason.UNPARSABLE)]


# -- origins, changes, fingerprints


def test_a_finding_of_a_later_round_points_into_the_file_as_it_was_read() -> None:
    text = "start()\ntwice(old(1))\nend()\n"
    growing = renaming("start", "a_much_longer_name")
    found = run(text, growing, doubled, renamed)
    late = [f.reported for f in found.findings if f.code == "TOY001"]
    assert [(p.line, text[p.start : p.end]) for p in late] == [(2, "twice("), (2, "old(1)")]


def test_changes_stand_in_coordinates_of_the_file_as_it_was_read() -> None:
    (file,) = run("long()\nold()\n", renaming("long", "x"), renamed).changed
    assert [(c.code, c.edit.start, c.edit.end, c.edit.text) for c in file.changes] == [
        ("TST001", 0, 4, "x"),
        ("TOY001", 7, 10, "new"),
    ]


def test_the_edits_of_a_finding_stand_in_coordinates_of_the_file_as_it_was_read() -> None:
    late = rule_on_calls("new", lambda call, ctx, rule: iter([rule.finding(call, fix=[replace(call, "x")])]))
    late.safety = Safety.UNSAFE
    found = run("long_name()\n(old() + 1)\n", renaming("long_name", "s", code="TST002"), renamed, late).findings
    edits = [(f.code, e.start, e.end) for f in found if f.fix for e in f.fix.edits]
    assert edits == [("TST002", 0, 9), ("TOY001", 13, 16), ("TST001", 13, 18)]


def test_a_path_that_is_no_text_has_fingerprints() -> None:
    found = run({"caf\udce9.py": "old()\n"}, renamed, fix=False).findings
    assert [len(f.fingerprint) for f in found] == [16]


def test_an_orphaned_import_goes_in_the_name_of_the_rule_that_took_its_last_use() -> None:
    (file,) = run("import torch\nfrom lib import legacy\nold()\nlegacy()\n", renamed, torched).changed
    assert file.after == b"import torch\nnew()\ntorch.modern()\n"
    assert [(c.code, c.edit.start, c.edit.end) for c in file.changes] == [
        ("TOY001", 36, 39),
        ("TOY005", 42, 48),
        ("TOY005", 13, 36),
    ]


def prints(text: str) -> list[str]:
    return [f.fingerprint for f in run(text, renamed, fix=False).findings]


@pytest.mark.parametrize(
    "moved",
    [
        pytest.param("x = 1\n\n\ndef f():\n    old(1, 2)\n", id="lines above"),
        pytest.param("def f():\n    if x:\n        old(1,\n            2)\n", id="indented and broken"),
    ],
)
def test_a_fingerprint_survives_moves(moved: str) -> None:
    assert prints(moved) == prints("def f():\n    old(1, 2)\n")


@pytest.mark.parametrize("other", ["def g():\n    old(1, 2)\n", "def f():\n    old(1, 3)\n"])
def test_a_fingerprint_tells_scopes_and_codes_apart(other: str) -> None:
    assert prints(other) != prints("def f():\n    old(1, 2)\n")


def test_equal_findings_of_one_scope_have_different_fingerprints() -> None:
    assert len(set(prints("old()\nold()\n"))) == 2


def test_one_finding_for_one_place_and_message() -> None:
    check = lambda call, ctx, rule: iter([rule.finding(call), rule.finding(call)])  # noqa: E731
    assert len(run("bad()\n", rule_on_calls("bad", check)).findings) == 1


# -- what leaves leaves no hole


def deleting() -> Rule:
    """A rule that takes away every `gone`: statements, and what stands in a list."""
    made = Rule("TST001", "deleting", "s", "t", Safety.SAFE, (("",),))

    @made.on(ast.Module)
    def on_module(module: ast.Module, ctx: PythonContext) -> Iterator[Draft]:
        names = [n for n in ctx.all(ast.Name) if n.id.startswith("gone")]
        listed = [n for n in names if not isinstance(ctx.parent(n), ast.Expr)]
        standing = [n for n in names if n not in listed]
        verbs = [*([delete(*standing)] if standing else []), *([drop(*listed)] if listed else [])]
        if names:
            yield made.finding(names[0], fix=verbs)

    return made


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("a\ngone\nb\n", "a\nb\n", id="a line"),
        pytest.param("a; gone; b\n", "a; b\n", id="one of a line"),
        pytest.param("a; gone\n", "a\n", id="the last of a line"),
        pytest.param("gone1; a; gone2\n", "a\n", id="two of a line"),
        pytest.param("gone1; gone2\n", "", id="all of a line"),
        pytest.param("if x: gone\n", "if x: pass\n", id="one-line suite"),
        pytest.param("if x: a; gone\n", "if x: a\n", id="one of a suite"),
        pytest.param("if x:\n    gone  # why\n", "if x:\n    # why\n    pass\n", id="all of a block"),
        pytest.param("if x:\n    # why\n    gone1\n    gone2\n", "if x:\n    # why\n    pass\n", id="both of a block"),
        pytest.param("if x:\n    gone1; gone2\ny\n", "if x:\n    pass\ny\n", id="a line that is all of a block"),
        pytest.param("f(gone)\n", "f()\n", id="only argument"),
        pytest.param("f(a, gone)\n", "f(a)\n", id="last argument"),
        pytest.param("f(gone, a)\n", "f(a)\n", id="first argument"),
        pytest.param("f(gone1, a, gone2,)\n", "f(a,)\n", id="two arguments"),
        pytest.param("with a, gone: pass\n", "with a: pass\n", id="item of a with"),
        pytest.param("[gone, a]\n", "[a]\n", id="element"),
    ],
)
def test_deletions(before: str, after: str) -> None:
    found = run(before, deleting())
    assert (texts(found), found.skips) == ({"p.py": after}, ())


def test_evidence_has_its_line_in_the_file_as_it_was_read() -> None:
    def shown(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
        if not any(each.id == "gone" for each in ctx.all(ast.Name)):
            lines = [each.lineno for each in ctx.all(ast.Name) if each.id in ("a", "b")]
            yield rule.finding(call, evidence=[Evidence("p.py", line, "shown") for line in lines])

    found = run("a\ngone\nb\nkept()\n", deleting(), rule_on_calls("kept", shown, code="TST002"))
    assert texts(found) == {"p.py": "a\nb\nkept()\n"}
    (late,) = (each for each in found.findings if each.code == "TST002")
    assert [each.line for each in late.evidence] == [1, 3]


def test_an_elif_stays_one() -> None:
    made = Rule("TST001", "tests", "s", "t", Safety.SAFE, (("bad",),))

    @made.on(ast.If)
    def on_if(node: ast.If, ctx: PythonContext) -> Iterator[Draft]:
        if ctx.name(node.test) == "bad":
            yield made.finding(node, fix=[replace(node.test, "good")])

    before = "if a:\n    pass\nelif bad:\n    pass\nelse:\n    pass\n"
    assert texts(run(before, made)) == {"p.py": before.replace("bad", "good")}


# -- steps


def commits(text: str, *rules: Rule) -> list[tuple[tuple[str, ...], str]]:
    reader, options = Memory({"p.py": text}), Options(rules)
    whole = plan(["p.py"], reader, options, fix=True)
    return [(s.codes, s.files["p.py"].decode()) for s in steps(whole, reader, options)]


def test_nothing_to_do_has_no_steps() -> None:
    assert commits("x = 1\n", renamed) == []


def test_each_rule_has_a_step_of_its_own() -> None:
    assert commits("old()\ntwice(x)\n", doubled, renamed) == [
        (("TOY001",), "new()\ntwice(x)\n"),
        (("TOY002",), "new()\n(x + x)\n"),
    ]


def test_no_rule_is_planned_again_where_no_fix_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, options = Memory({"p.py": "from lib import legacy\nlegacy(1)\ntwice(x)\n"}), Options((doubled, torched))
    whole = plan(["p.py"], reader, options, fix=True)
    monkeypatch.setattr(engine_steps, "plan", lambda *_, **__: pytest.fail("planned again"))
    assert [s.files["p.py"].decode() for s in steps(whole, reader, options)] == [
        "from lib import legacy\nlegacy(1)\n(x + x)\n",
        "import torch\ntorch.modern(1)\n(x + x)\n",
    ]


def test_a_rule_that_fails_elsewhere_does_not_lump_the_steps() -> None:
    def crash(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
        raise ZeroDivisionError

    broken = rule_on_calls("old", crash, code="ABC001")
    assert [codes for codes, _ in commits("old()\ntwice(x)\n", broken, doubled, renamed)] == [("TOY001",), ("TOY002",)]


def test_rules_that_give_no_program_alone_share_a_step() -> None:
    first = renaming("bad", "worse", code="TST001")
    second = renaming("worse", "bad", code="TST002")
    third = renaming("worse", "good", code="AAA001")
    found = commits("bad()\n", first, third)
    assert found == [(("AAA001", "TST001"), "good()\n")]
    assert commits("bad()\n", first, second) == []


def test_rules_that_do_not_settle_without_a_later_one_share_its_step() -> None:
    there = rule_on_calls(
        "a", lambda call, ctx, rule: iter([] if call.args else [rule.finding(call, fix=[replace(call.func, "b")])])
    )
    back = renaming("b", "a", code="TST002")
    out = rule_on_calls(
        "b",
        lambda call, ctx, rule: iter([] if call.args else [rule.finding(call.func, fix=[replace(call.func, "c")])]),
        code="TST003",
    )
    assert commits("a()\nb(1)\n", there, back, out) == [
        (("TST001",), "b()\nb(1)\n"),
        (("TST002", "TST003"), "c()\na(1)\n"),
    ]


# -- gates


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("old()\n", 0),
        ("class A: pass\nold()\n", 0),
        ("class A(object): pass\nold()\n", 0),
        ("from lib import Net\nclass A(Net): pass\nold()\n", 1),
        ("class A(unknown()): pass\nold()\n", 1),
    ],
)
def test_a_rule_for_subclasses_looks_only_where_there_may_be_one(text: str, found: int) -> None:
    rule = reporting("old")
    rule.subclasses = frozenset({"lib.Net"})
    assert len(run(text, rule).findings) == found


# -- needs


def test_a_need_without_a_place_goes_to_the_module() -> None:
    def check(call: ast.Call, ctx: PythonContext, rule: Rule) -> Iterator[Draft]:
        yield rule.finding(call, fix=[replace(call.func, "json.loads")], needs=[None, Need("json")])

    found = run("def f():\n    bad()\n    bad()\n", rule_on_calls("bad", check))
    assert texts(found) == {"p.py": "import json\n\ndef f():\n    json.loads()\n    json.loads()\n"}
    met = run("import json\nbad()\n", rule_on_calls("bad", check))
    assert texts(met) == {"p.py": "import json\njson.loads()\n"}


def test_findings_come_in_reading_order() -> None:
    found = run("old(old())\nold()\n", renamed, fix=False).findings
    assert [(f.place.line, f.place.column) for f in sorted(found, key=lambda f: f.order)] == [(1, 1), (1, 5), (2, 1)]
