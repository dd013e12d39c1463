"""Floors: raised with nothing else changed, and never to a release that was taken over."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from codemods.frameworks.minimum_versions import COMPROMISED, floor_edits, raised, satisfied
from codemods.model.edits import splice
from codemods.model.plan import Target
from codemods.project.index import Index
from codemods.rules.file_context import FileContext
from codemods.sources.manifest import Manifest, Requirement, read
from codemods.sources.manifest.specifiers import alternatives


class Files(dict[str, str]):
    """A tree in memory."""

    def read(self, path: str, /) -> bytes | None:
        return self[path].encode() if path in self else None

    def exists(self, path: str, /) -> bool:
        return path in self

    def files(self) -> list[str]:
        return sorted(self)


def requirement(path: str, text: str) -> Requirement:
    found = read(path, text)
    assert isinstance(found, Manifest)
    (each,) = found.requirements
    return each


# ------------------------------------------------------------------------------------------------- one constraint

PIP = [
    # before, after (floor 2.0.7)
    (">=2.0.7", ">=2.0.7"),
    ("==2.1", "==2.1"),
    (">= 2.1, < 3", ">= 2.1, < 3"),
    ("", ">=2.0.7"),
    (">=2.0", ">=2.0.7"),
    (">2.0", ">=2.0.7"),
    (">=1.9", ">=2.0.7"),
    ("<3", ">=2.0.7,<3"),
    ("!=2.1", ">=2.0.7,!=2.1"),
    (">=2.0,<3", ">=2.0.7,<3"),
    ("<3, >=2.0, !=2.0.9", "<3,>=2.0.7,!=2.0.9"),
    (">=2.0,<=2.0.7", ">=2.0.7,<=2.0.7"),
    ("==2.0.3", "==2.0.7"),
    ("== 2.0.3", "==2.0.7"),
    ("===2.0.3", "===2.0.7"),
    ("==2.0", "==2.0.7"),
    ("==2.0.3.post0", "==2.0.7"),
    ("~=2.0.3", "~=2.0.7"),
    ("~=2.0", ">=2.0.7,<3"),
    ("==2.0.*", ">=2.0.7,<2.1"),
    ("~=2.0.3,!=2.0.5", "~=2.0.7,!=2.0.5"),
    # a person must decide
    ("<2.0.5", None),
    (">=2.0,<2.0.7", None),
    ("==1.9.0", None),
    ("~=1.9", None),
    ("==1.9.*", None),
    ("==2.0.3+cu118", None),
    ("==2.0.0rc1", None),
    ("==2.0.3,!=2.0.7", None),
    ("==${V}", None),
    ("=2.0", None),
    # may resolve to what was taken over
    ("==2.6.2", None),
    ("===2.6.3", None),
    ("~=2.6.2,<2.6.4", None),
    (">=2.6,<2.6.4", None),
    (">=2.0,<2.6.3", None),
    ("<=2.6.3", None),
    ("==2.6.2 || >=2.7", None),
    ("~=2.6.2", "~=2.6.2"),
    (">=2.0,<2.6.2", ">=2.0.7,<2.6.2"),
    (">=2.0,<3,!=2.6.6", None),
    (">=2.0,<2.6.4,!=2.6.2,!=2.6.3", ">=2.0.7,<2.6.4,!=2.6.2,!=2.6.3"),
]


@pytest.mark.parametrize(("before", "after"), PIP)
def test_the_floor_of_a_requirements_line(before: str, after: str | None) -> None:
    assert raised(requirement("requirements.txt", f"lightning{before}\n"), "2.0.7") == after


POETRY = [
    ("*", ">=2.0.7"),
    ("^2.0", "^2.0.7"),
    ("^2", "^2.0.7"),
    ("~2.0", "~2.0.7"),
    ("~2", ">=2.0.7,<3"),
    ("2.0.3", "2.0.7"),
    ("2.0.*", ">=2.0.7,<2.1"),
    ("^2.0 || ^3.0", None),
    ("^1.9", None),
    ("^2.1 || ^3.0", "^2.1 || ^3.0"),
]


@pytest.mark.parametrize(("before", "after"), POETRY)
def test_the_floor_in_poetry(before: str, after: str | None) -> None:
    text = f'[tool.poetry.dependencies]\nlightning = "{before}"\n'
    assert raised(requirement("pyproject.toml", text), "2.0.7") == after


CONDA = [
    ("", ">=2.0.7"),
    ("=2.0.3", "=2.0.7"),
    ("==2.0.3", "==2.0.7"),
    (" 2.0.3", "2.0.7"),
    ("=2.0", ">=2.0.7,<2.1"),
    ("=2", ">=2.0.7,<3"),
    (">=2.0,<3", ">=2.0.7,<3"),
    ("=2.0.3=py39_0", None),
    ("=1.9", None),
]


@pytest.mark.parametrize(("before", "after"), CONDA)
def test_the_floor_in_conda(before: str, after: str | None) -> None:
    assert raised(requirement("environment.yml", f"dependencies:\n- lightning{before}\n"), "2.0.7") == after


def test_a_floor_is_as_long_as_the_pin_that_it_raises() -> None:
    for before, floor, after in [
        ("==2.4.1", "2.11", "==2.11.0"),
        ("==2.4", "2.11.0", "==2.11"),
        ("~=2.4", "2.11.0", "~=2.11"),
        ("==2.4", "2.11.1", "==2.11.1"),
        ("~=2.4.1", "2.11", None),
    ]:
        assert raised(requirement("requirements.txt", f"torch{before}"), floor) == after


def test_a_floor_that_was_taken_over_is_none() -> None:
    for before in ("", "==2.6.1", ">=2.0", ">=2.6.2"):
        assert raised(requirement("requirements.txt", f"lightning{before}"), "2.6.2") is None
    assert raised(requirement("requirements.txt", "lightning==2.6.2"), "2.6.6") == "==2.6.6"
    assert raised(requirement("requirements.txt", "torch"), "2.6.2") == ">=2.6.2"


def test_satisfied() -> None:
    assert satisfied(Target("torch", ">=2.4,<3", "x"), "2.4")
    assert not satisfied(Target("torch", ">=2.3", "x"), "2.4")
    assert not satisfied(Target("torch", "", "x"), "2.4")
    assert not satisfied(None, "2.4")


RELEASES = [Version(".".join(map(str, parts))) for parts in itertools.product(range(4), range(7), range(8))]
"""2.6.2 and 2.6.3 were taken over, 2.6.6 and what comes after were not."""
PARTS = st.tuples(st.integers(1, 3), st.integers(0, 6), st.integers(0, 7)).map(lambda parts: list(map(str, parts)))
SHORT = st.tuples(PARTS, st.integers(1, 3)).map(lambda each: ".".join(each[0][: each[1]]))
CLAUSES = st.one_of(
    st.tuples(st.sampled_from([">=", "<", "<=", ">", "!=", "=="]), SHORT).map("".join),
    st.tuples(st.sampled_from(["==", "!="]), SHORT, st.just(".*")).map("".join),
    st.tuples(st.just("~="), PARTS.map(".".join)).map("".join),
)


@settings(max_examples=examples(1000))
@given(st.lists(CLAUSES, max_size=3).map(",".join), PARTS.map(".".join))
def test_what_is_allowed_is_what_was_allowed_from_the_floor_on(written: str, floor: str) -> None:
    new = raised(requirement("requirements.txt", f"lightning{written}"), floor)
    if new is None:
        return
    before, onwards, after = (set(SpecifierSet(each).filter(RELEASES)) for each in (written, f">={floor}", new))
    assert after <= onwards
    if before <= onwards:
        assert after == before
    elif any(clause.startswith("==") and not clause.endswith("*") for clause in written.split(",")):
        assert after == {Version(floor)}
        assert {version.major for version in before} <= {Version(floor).major}
    else:
        assert after == before & onwards
    if after:
        assert str(max(after)) not in COMPROMISED["lightning"]


def test_the_law_above_is_not_empty() -> None:
    found: list[str | None] = []

    @settings(max_examples=examples(300), derandomize=True, database=None)
    @given(st.lists(CLAUSES, max_size=2).map(",".join), PARTS.map(".".join))
    def gather(written: str, floor: str) -> None:
        found.append(raised(requirement("requirements.txt", f"lightning{written}"), floor))

    gather()
    assert sum(each is not None for each in found) > 60


# ------------------------------------------------------------------------------------------------- a whole project


def floored(files: dict[str, str], package: str, floor: str, path: str = "train.py", **overrides: str) -> Any:
    """The files that a fix changes, edited; None where the floor cannot be raised."""
    index = Index(Files(files), overrides)
    edits = floor_edits(FileContext(path, "", index), package, floor)
    if edits is None:
        return None
    after = dict(files)
    for name, constraints in edits.items():
        document = index.document(name)
        assert document is not None
        each = [document.edits(node, new) or () for node, new in constraints.items()]
        after[name] = splice(document.text, itertools.chain(*each))
    assert satisfied(Index(Files(after)).target(path, package), floor) or overrides
    return {name: text for name, text in after.items() if files[name] != text}


PROJECTS: dict[str, tuple[dict[str, str], dict[str, str] | None]] = {
    "satisfied": ({"requirements.txt": "lightning>=2.1\n"}, {}),
    "satisfied by the lock": (
        {"requirements.txt": "lightning\n", "uv.lock": "[[package]]\nname='lightning'\nversion='2.1'"},
        {},
    ),
    "one line": ({"requirements.txt": "lightning>=2.0  # x\n"}, {"requirements.txt": "lightning>=2.0.7  # x\n"}),
    "by the other name": (
        {"requirements.txt": "pytorch-lightning==2.0.3\n"},
        {"requirements.txt": "pytorch-lightning==2.0.7\n"},
    ),
    "both names": (
        {"requirements.txt": "pytorch-lightning==2.0.3\nlightning~=2.0.3\n"},
        {"requirements.txt": "pytorch-lightning==2.0.7\nlightning~=2.0.7\n"},
    ),
    "the pin decides": (
        {"requirements.txt": "lightning==2.0.3\n", "setup.py": "setup(install_requires=['lightning'])"},
        {"requirements.txt": "lightning==2.0.7\n"},
    ),
    "pin and range": (
        {"requirements.txt": "lightning==2.0.3\n", "setup.py": "setup(install_requires=['lightning<2.0.4'])"},
        None,
    ),
    "two pins": (
        {"requirements.txt": "lightning==2.0.3\n", "environment.yml": "dependencies:\n- lightning=2.0.1\n"},
        {"requirements.txt": "lightning==2.0.7\n", "environment.yml": "dependencies:\n- lightning=2.0.7\n"},
    ),
    "included": (
        {"requirements.txt": "-r deps/requirements.in\n", "deps/requirements.in": "lightning>=2\n"},
        {"deps/requirements.in": "lightning>=2.0.7\n"},
    ),
    "included, by an odd name": ({"requirements.txt": "-r deps/x.txt\n", "deps/x.txt": "lightning>=2\n"}, None),
    "an extra": (
        {"pyproject.toml": '[project.optional-dependencies]\na = ["lightning"]\nb = ["lightning>=1.9"]\n'},
        {"pyproject.toml": '[project.optional-dependencies]\na = ["lightning>=2.0.7"]\nb = ["lightning>=2.0.7"]\n'},
    ),
    "nobody names it": ({"requirements.txt": "torch\n"}, None),
    "no files": ({}, None),
    "only a lock": ({"uv.lock": "[[package]]\nname='lightning'\nversion='2.0.3'"}, None),
    "a lock beside": (
        {"requirements.txt": "lightning\n", "uv.lock": "[[package]]\nname='lightning'\nversion='2.0.3'"},
        None,
    ),
    "hashes": ({"requirements.txt": "lightning==2.0.3 --hash=sha256:00\n"}, None),
    "an address": ({"requirements.txt": "lightning @ git+https://x/lightning\n"}, None),
    "a ceiling": ({"requirements.txt": "lightning<2\n"}, None),
    "from around": (
        {"requirements.txt": "lightning\n", "app/requirements.txt": "torch\n"},
        {"requirements.txt": "lightning>=2.0.7\n"},
    ),
    "nearer": (
        {"requirements.txt": "lightning\n", "app/requirements.txt": "lightning>2\n"},
        {"app/requirements.txt": "lightning>=2.0.7\n"},
    ),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_what_a_fix_must_carry(name: str) -> None:
    files, after = PROJECTS[name]
    assert floored(files, "lightning", "2.0.7", "app/train.py") == after


def test_a_target_from_the_command_line_is_not_argued_with() -> None:
    assert floored({"requirements.txt": "lightning\n"}, "lightning", "2.0.7", lightning="==2.0.3") is None
    assert floored({"requirements.txt": "lightning\n"}, "lightning", "2.0.7", lightning="==2.1.3") == {}


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        ("numpy==1.26", True),
        ("torchvision", True),
        ("torchvision>=0.15", True),
        ("torchvision==0.19.1", False),
        ("torchaudio<2.5", False),
        ("xformers @ git+https://x/xformers", False),
    ],
)
def test_a_pinned_companion_holds_torch_where_it_is(beside: str, expected: bool) -> None:
    after = floored({"requirements.txt": f"torch==2.4.1\n{beside}\n"}, "torch", "2.6")
    assert after == ({"requirements.txt": f"torch==2.6.0\n{beside}\n"} if expected else None)


def test_the_specs_of_what_is_raised_are_those_of_the_text() -> None:
    each = requirement("requirements.txt", "lightning~=2.0.1,!=2.0.4")
    new = raised(each, "2.0.7")
    assert new is not None
    assert alternatives(new) == ("~=2.0.7,!=2.0.4",)
