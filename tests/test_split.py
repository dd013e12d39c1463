"""The laws of a split plan: nothing lost, nothing twice, nothing torn; each part alone is sound."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from effort import examples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from memory import Memory
from toy import PROGRAMS, PROJECTS, RULES

from codemods.engine import rounds
from codemods.engine.rounds import Options
from codemods.model.edits import Skip, SkipReason
from codemods.model.plan import FilePlan, Plan, Project
from fixer.errors import Refusal
from fixer.git.owners import Owners, parse
from fixer.output import split as splitting
from fixer.output.split import Part, Split, outcome_of, parts
from fixer.project.configuration import Settings
from fixer.run.execute import Order
from fixer.run.request import Outcome

REPEATABLE = settings(derandomize=True, database=None)


def outcome(plan: Plan) -> Outcome:
    return Outcome(Path("/"), plan, Settings(), parts=((Order(Memory({}), ()), plan),))


def changed(
    *paths: str, tied: Sequence[set[str]] = (), roots: Sequence[str] = ("",), skips: Sequence[str] = ()
) -> Plan:
    """A plan that changes those files."""
    return Plan(
        files=tuple(FilePlan(path, b"1\n", b"2\n") for path in sorted(paths)),
        skips=tuple(Skip(path, SkipReason.UNPARSABLE) for path in skips),
        components=tuple(frozenset(group) for group in tied),
        projects=tuple(Project(root) for root in roots),
    )


def code_owners(*lines: str) -> Owners:
    return parse("\n".join(lines).encode(), "CODEOWNERS", gitlab=False)


def shown(found: Sequence[Part]) -> dict[str, tuple[str, ...]]:
    return {part.name: part.paths for part in found}


def test_nothing_to_split() -> None:
    for by in ("project", "directory:1"):
        assert parts(outcome(Plan()), Split.parse(by)) == ()
        assert parts(outcome(changed(skips=["a.py"])), Split.parse(by)) == ()


def test_by_owners() -> None:
    owners = code_owners("/a/ @org/a", "/b/ @org/B @ada", "/b/x.py @Ada @org/b", "/c/")
    found = parts(outcome(changed("a/1.py", "b/x.py", "b/y.py", "c/1.py", "d.py")), Split("codeowners"), owners)
    assert [(part.name, part.suffix, part.paths, part.owners) for part in found] == [
        ("@Ada and @org/b", "Ada+org-b", ("b/x.py", "b/y.py"), ("@Ada", "@org/b", "@org/B", "@ada")),
        ("@org/a", "org-a", ("a/1.py",), ("@org/a",)),
        ("no owner", "no-owner", ("c/1.py", "d.py"), ()),
    ]


def test_by_project_and_by_directory() -> None:
    plan = changed("a/b/c/1.py", "a/b/2.py", "a/3.py", "ab/4.py", "5.py", roots=["", "a", "a/b"])
    assert shown(parts(outcome(plan), Split.parse("project"))) == {
        "a": ("a/3.py",),
        "a/b": ("a/b/2.py", "a/b/c/1.py"),
        "root": ("5.py", "ab/4.py"),
    }
    assert shown(parts(outcome(plan), Split.parse("directory:1"))) == {
        "a": ("a/3.py", "a/b/2.py", "a/b/c/1.py"),
        "ab": ("ab/4.py",),
        "root": ("5.py",),
    }
    assert [part.suffix for part in parts(outcome(plan), Split.parse("directory:2"))] == ["a", "a-b", "ab", "root"]


def test_what_a_fix_ties_together_stays_together_and_says_so() -> None:
    plan = changed("a/1.py", "a/2.py", "b/1.py", "c/1.py", tied=[{"a/1.py", "b/1.py", "b/unchanged.py"}])
    found = parts(outcome(plan), Split("directory"))
    assert shown(found) == {"a": ("a/2.py",), "a and b": ("a/1.py", "b/1.py"), "c": ("c/1.py",)}
    assert [part.suffix for part in found] == ["a", "a+b", "c"]
    assert found[1].notes == ("a/1.py and b/1.py change together, so they share a branch",)
    assert (found[0].notes, found[2].notes) == ((), ())


def test_a_part_has_a_size_unless_a_fix_is_larger() -> None:
    names = [f"a/{n}.py" for n in range(7)]
    found = parts(outcome(changed(*names, tied=[{"a/1.py", "a/2.py", "a/3.py"}])), Split("directory", max_files=2))
    assert [part.paths for part in found] == [
        ("a/0.py",),
        ("a/1.py", "a/2.py", "a/3.py"),
        ("a/4.py", "a/5.py"),
        ("a/6.py",),
    ]
    assert [(part.name, part.suffix) for part in found][:2] == [("a (1 of 4)", "a-1"), ("a (2 of 4)", "a-2")]
    assert found[1].notes == ("a/1.py, a/2.py and a/3.py change together, more than --max-files 2",)


def test_what_is_left_to_do_is_told_in_the_first_branch_of_its_corner() -> None:
    plan = replace(changed("a/1.py", "a/2.py", "b/1.py", skips=["a/bad.py", "c/bad.py"]))
    idle = FilePlan("a/idle.py", b"1\n", b"1\n")
    plan = replace(plan, files=(*plan.files, idle))
    first, second, other = parts(outcome(plan), Split("directory", max_files=1))
    assert [file.path for file in first.plan.files] == ["a/1.py", "a/idle.py"]
    assert [skip.path for skip in first.plan.skips] == ["a/bad.py"]
    assert [file.path for file in (*second.plan.files, *other.plan.files)] == ["a/2.py", "b/1.py"]
    assert second.plan.skips == other.plan.skips == ()
    assert outcome_of(outcome(plan), first).parts[0][1].changed == first.plan.changed


def test_names_that_a_file_system_confuses_are_told_apart() -> None:
    plan = changed("a-b/1.py", "a/b/1.py", "A/b/1.py", "ü/x y/1.py", "a/..lock/1.py", f"{'x' * 80}/1.py", "c/1.py")
    found = parts(outcome(plan), Split("directory", depth=2))
    suffixes = [part.suffix for part in found]
    assert len({suffix.casefold() for suffix in suffixes}) == len(found) == 7
    assert [suffix for suffix in suffixes if not re.search(r"-[0-9a-f]{6}$", suffix)] == ["a", "c", "ü-x-y"]
    assert all(len(suffix) <= 67 and ".." not in suffix and not suffix.endswith(".lock") for suffix in suffixes)


@pytest.mark.parametrize("text", ["", "owner", "directory:0", "directory:", "directory:x", "project:2", "codeowners:1"])
def test_a_split_that_is_none(text: str) -> None:
    with pytest.raises(Refusal, match="write codeowners, project, or directory:N"):
        Split.parse(text)


def test_no_owners_no_split() -> None:
    with pytest.raises(Refusal, match="there is no CODEOWNERS file"):
        parts(outcome(changed("a.py")), Split("codeowners"))
    with pytest.raises(Refusal, match="a part holds at least one file"):
        Split.parse("project", 0)


# -- laws

DIRECTORIES = st.sampled_from(["", "a/", "b/", "a/b/", "c/"])
OWNERS = st.lists(
    st.tuples(
        st.sampled_from(["*", "/a/", "/b/", "/a/b/", "c/", "*1.py", "u0.py"]),
        st.lists(st.sampled_from(["@ada", "@Ada", "@org/a", "bo@example.org"]), max_size=2),
    ).map(lambda line: " ".join([line[0], *line[1]])),
    max_size=5,
).map(lambda lines: code_owners(*lines))
SPLITS = st.builds(
    Split,
    st.sampled_from(["codeowners", "project", "directory"]),
    st.integers(1, 3),
    st.one_of(st.none(), st.integers(1, 3)),
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any plan: files anywhere, some tied, some unchanged."""
    names = st.builds(
        lambda folder, name: f"{folder}{name}.py", DIRECTORIES, st.sampled_from(["u0", "u1", "m", "p", "x"])
    )
    paths = draw(st.lists(names, unique=True, max_size=10))
    files = [FilePlan(path, b"1", draw(st.sampled_from([b"1", b"2", b"3"]))) for path in paths]
    groups = draw(st.lists(st.integers(0, 5), min_size=len(paths), max_size=len(paths)))
    tied = [frozenset(p for p, mine in zip(paths, groups, strict=True) if mine == group) for group in range(4)]
    return Plan(
        files=tuple(sorted(files, key=lambda file: file.path)),
        components=tuple(group for group in tied if len(group) > 1),
        projects=tuple(Project(root) for root in draw(st.sets(st.sampled_from(["", "a", "a/b"])))),
    )


@REPEATABLE
@given(plans(), SPLITS, OWNERS)
def test_the_parts_are_the_plan_and_no_fix_is_torn(plan: Plan, split: Split, owners: Owners) -> None:
    check_parts(plan, split, owners, parts(outcome(plan), split, owners))


def check_parts(plan: Plan, split: Split, owners: Owners, found: Sequence[Part]) -> None:
    files = [file for part in found for file in part.plan.changed]
    assert sorted(files, key=lambda file: file.path) == list(plan.changed)
    mentioned = [file.path for part in found for file in part.plan.files]
    assert len(mentioned) == len(set(mentioned))
    for component in plan.components:
        assert sum(bool(component & set(part.paths)) for part in found) <= 1
    tied = {path: component for component in plan.components for path in component}
    for part in found:
        assert part.paths
        together = {tied.get(path, frozenset({path})) for path in part.paths}
        assert split.max_files is None or len(part.paths) <= split.max_files or len(together) == 1
        assert {owner.casefold() for path in part.paths for owner in owners.of(path)} == {
            owner.casefold() for owner in part.owners
        }
    assert len({part.suffix.casefold() for part in found}) == len(found)


@REPEATABLE
@given(plans(), SPLITS, OWNERS, st.randoms(use_true_random=False))
def test_the_order_of_a_plan_does_not_matter(plan: Plan, split: Split, owners: Owners, random: object) -> None:
    files, components = list(plan.files), list(plan.components)
    random.shuffle(files)  # type: ignore[attr-defined]
    random.shuffle(components)  # type: ignore[attr-defined]
    again = replace(plan, files=tuple(files), components=tuple(components))
    before, after = (parts(outcome(each), split, owners) for each in (plan, again))
    assert [(p.name, p.suffix, p.paths, p.owners) for p in before] == [
        (p.name, p.suffix, tuple(sorted(p.paths)), p.owners) for p in after
    ]


def placed(project: dict[str, str], folders: list[str]) -> dict[str, str]:
    """The same files in several directories; what they import stays at the root."""
    names = sorted(set(project) - {"m.py"})
    return {"m.py": project["m.py"], **{f"{folders[n]}{name}": project[name] for n, name in enumerate(names)}}


PLACED = st.builds(placed, PROJECTS, st.lists(DIRECTORIES, min_size=3, max_size=3))


def imported(tree: dict[str, bytes]) -> set[tuple[str, str]]:
    """Names that are imported from `m` and that `m` does not have."""
    have = {n.name for n in ast.walk(ast.parse(tree["m.py"])) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    return {
        (path, alias.name)
        for path, data in tree.items()
        for node in ast.walk(ast.parse(data))
        if isinstance(node, ast.ImportFrom) and node.module == "m"
        for alias in node.names
        if alias.name not in have
    }


@settings(REPEATABLE, max_examples=examples(80))
@given(PLACED, PROGRAMS, SPLITS, OWNERS)
def test_each_part_alone_is_sound(project: dict[str, str], program: str, split: Split, owners: Owners) -> None:
    check_each_alone({**project, "c/extra.py": program}, split, owners, parts)


def check_each_alone(
    project: dict[str, str], split: Split, owners: Owners, parted: Callable[..., Sequence[Part]]
) -> None:
    before = Memory(project)
    whole = rounds.plan(before.files(), before, Options(RULES), fix=True)
    union = dict(before.data)
    settled = {**before.data, **{file.path: file.after for file in whole.changed}}
    for part in parted(outcome(whole), split, owners):
        after = {**before.data, **{file.path: file.after for file in part.plan.changed}}
        # It parses, and loses no name that the whole keeps.
        assert imported(after) <= imported(before.data) | imported(settled)
        again = rounds.plan(part.paths, Memory(after), Options(RULES), fix=True, within=sorted(after))
        assert not {file.path for file in again.changed} & set(part.paths)
        union.update({file.path: file.after for file in part.plan.changed})
    assert union == settled


# -- each law catches a split that breaks it


def hunt(law: Callable[..., None], case: st.SearchStrategy[tuple[object, ...]]) -> None:
    """Look for any case in which a law does not hold."""

    @settings(REPEATABLE, max_examples=examples(500), phases=[Phase.generate], report_multiple_bugs=False)
    @given(case)
    def check(case: tuple[object, ...]) -> None:
        law(*case)

    with pytest.raises(AssertionError):
        check()


CASES = st.tuples(plans(), SPLITS, OWNERS)


def check_now(plan: Plan, split: Split, owners: Owners) -> None:
    check_parts(plan, split, owners, splitting.parts(outcome(plan), split, owners))


def test_a_split_that_tears_fixes_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "_tied", lambda plan: ((file,) for file in plan.changed))
    hunt(check_now, CASES)
    hunt(check_each_alone, st.tuples(PLACED, SPLITS, OWNERS, st.just(parts)))


@pytest.mark.parametrize("broken", [lambda found: found[1:], lambda found: (*found, *found[-1:])])
def test_a_split_that_loses_or_doubles_files_is_caught(broken: Callable[[object], object]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitting, "parts", lambda *arguments: broken(parts(*arguments)))
        hunt(check_now, CASES)


def test_suffixes_that_are_not_told_apart_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "_suffix", lambda key: "part")
    check_now(changed("a/1.py", "b/1.py"), Split("directory"), code_owners())
    monkeypatch.setattr(splitting, "_told_apart", lambda found: iter(found))
    hunt(check_now, CASES)
