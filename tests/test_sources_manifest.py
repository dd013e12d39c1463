"""Dependency files: read with places, and edited so that nothing else changes."""

from __future__ import annotations

import ast
import configparser
import sys
from collections.abc import Callable

import pytest
import yaml
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement as Pep508
from packaging.specifiers import SpecifierSet

from codemods.model.edits import Edit, Skip, SkipReason, splice
from codemods.sources.manifest import Include, Manifest, Requirement, read
from codemods.sources.manifest.installs import installs
from codemods.sources.manifest.specifiers import Dialect, alternatives, rendered

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def manifest(path: str, text: str) -> Manifest:
    found = read(path, text)
    assert isinstance(found, Manifest), found
    return found


def named(found: Manifest, package: str) -> Requirement:
    (each,) = (each for each in found.requirements if each.package == package)
    return each


def edited(path: str, text: str, package: str, new: str) -> str | None:
    """The file with a new constraint for its one mention of a package."""
    found = manifest(path, text)
    edits = found.edits(named(found, package), new)
    return None if edits is None else splice(text, edits)


# --------------------------------------------------------------------------------------------------- no-op first


def test_a_file_without_requirements() -> None:
    for path in (
        "requirements.txt",
        "pyproject.toml",
        "environment.yml",
        "setup.py",
        "setup.cfg",
        "Pipfile",
        "uv.lock",
    ):
        found = manifest(path, "")
        assert (found.requirements, found.includes, list(found.notes())) == ((), (), [])
        assert list(found.nodes()) == [found]
        assert (found.start, found.end, found.label(found)) == (0, 0, "")


def test_set_to_what_it_says_already() -> None:
    found = manifest("requirements.txt", "torch >= 2.0, <3\n")
    assert found.edits(found.requirements[0], "<3,>=2.0") == ()


def test_only_requirements_are_edited_and_only_to_a_constraint() -> None:
    found = manifest("requirements.txt", "torch\n")
    assert found.edits(found, ">=2") is None
    assert found.edits(found.requirements[0], None) is None
    assert found.edits(found.requirements[0], ">=two") is None
    assert found.edits(found.requirements[0], ">=2 || ==1.9") is None


# ------------------------------------------------------------------------------------------- one place, every format

PLACES: dict[str, tuple[str, str, str]] = {
    # name: file, before, after (torch set to >=2.0.7,<3)
    "bare": ("requirements.txt", "torch\n", "torch>=2.0.7,<3\n"),
    "extras": ("requirements.txt", "Torch[opt,x] ~= 2.0\n", "Torch[opt,x] >= 2.0.7, < 3\n"),
    "spaces": ("requirements.txt", "  torch >=2.0, <2.5  # why\n", "  torch >=2.0.7, <3  # why\n"),
    "parentheses": ("requirements.txt", "torch (>=1.7)", "torch (>=2.0.7,<3)"),
    "marker": ("requirements.txt", "torch>=1 ; os_name=='nt'\n", "torch>=2.0.7,<3 ; os_name=='nt'\n"),
    "bare with a marker": ("requirements.txt", "torch; os_name=='nt'\n", "torch>=2.0.7,<3; os_name=='nt'\n"),
    "options": ("requirements.txt", "torch==2.0 --no-binary torch\n", "torch>=2.0.7,<3 --no-binary torch\n"),
    "continued": ("requirements.txt", "torch\\\n  >=2.0 \\\n  # x\npeft", "torch\\\n  >=2.0.7,<3 \\\n  # x\npeft"),
    "line ends": ("requirements.txt", "a\r\n\r\ntorch==2\r\nb\r\n", "a\r\n\r\ntorch>=2.0.7,<3\r\nb\r\n"),
    "after other alphabets": ("requirements.txt", "# é𝟚\ntorch==2\n", "# é𝟚\ntorch>=2.0.7,<3\n"),
    "local version": ("requirements.txt", "torch==2.0+cu118", "torch>=2.0.7,<3"),
    "constraints": ("constraints.txt", "torch<2", "torch>=2.0.7,<3"),
    "PEP 621": (
        "pyproject.toml",
        "[project]\ndependencies = [ # all\n  'torch>=2.0', # one\n  \"peft\"]\n",
        "[project]\ndependencies = [ # all\n  'torch>=2.0.7,<3', # one\n  \"peft\"]\n",
    ),
    "group": ("pyproject.toml", '[dependency-groups]\na = ["torch"]', '[dependency-groups]\na = ["torch>=2.0.7,<3"]'),
    "uv": (
        "pyproject.toml",
        "[tool.uv]\noverride-dependencies = [\"torch==1; os_name=='nt'\"]",
        "[tool.uv]\noverride-dependencies = [\"torch>=2.0.7,<3; os_name=='nt'\"]",
    ),
    "Poetry": (
        "pyproject.toml",
        '[tool.poetry.dependencies]\ntorch = "^1.9"  # x\n',
        '[tool.poetry.dependencies]\ntorch = ">=2.0.7,<3"  # x\n',
    ),
    "Poetry, table": (
        "pyproject.toml",
        "[tool.poetry.dependencies]\ntorch = {extras = ['x'], version = '*'}\n",
        "[tool.poetry.dependencies]\ntorch = {extras = ['x'], version = '>=2.0.7,<3'}\n",
    ),
    "Poetry, table of its own": (
        "pyproject.toml",
        "[tool.poetry.group.a.dependencies.torch]\nversion = '~1'\npython = '>3'\n[x]\n",
        "[tool.poetry.group.a.dependencies.torch]\nversion = '>=2.0.7,<3'\npython = '>3'\n[x]\n",
    ),
    "Pipfile": ("Pipfile", '[packages]\ntorch = "*"\n', '[packages]\ntorch = ">=2.0.7,<3"\n'),
    "pixi, of conda": (
        "pixi.toml",
        '[dependencies]\npytorch = "2.0.*"\n',
        '[dependencies]\npytorch = ">=2.0.7,<3"\n',
    ),
    "pixi, of pip": (
        "pyproject.toml",
        '[tool.pixi.pypi-dependencies]\ntorch = { version = "*" }\n',
        '[tool.pixi.pypi-dependencies]\ntorch = { version = ">=2.0.7,<3" }\n',
    ),
    "setup.cfg": (
        "setup.cfg",
        "[options]\ninstall_requires =\n  # x\n  torch>=1 # y\n\n  peft\n",
        "[options]\ninstall_requires =\n  # x\n  torch>=2.0.7,<3 # y\n\n  peft\n",
    ),
    "setup.py": (
        "setup.py",
        "R = ['é', 'torch']\nsetup(install_requires=['a'] + R)",
        "R = ['é', 'torch>=2.0.7,<3']\nsetup(install_requires=['a'] + R)",
    ),
    "setup.py, one text": (
        "setup.py",
        'setup(install_requires="""\r\n  torch==1\r\n  peft""")\r\n',
        'setup(install_requires="""\r\n  torch>=2.0.7,<3\r\n  peft""")\r\n',
    ),
    "setup.py, twice in use": (
        "setup.py",
        "R = ['torch']\nsetup(install_requires=R, extras_require={'x': R})",
        "R = ['torch>=2.0.7,<3']\nsetup(install_requires=R, extras_require={'x': R})",
    ),
    "conda": (
        "environment.yml",
        "dependencies:\n  - pytorch::pytorch=2.0  # x\n  - pip\n",
        "dependencies:\n  - pytorch::pytorch>=2.0.7,<3  # x\n  - pip\n",
    ),
    "conda, quoted": ("conda.yaml", "dependencies: ['pytorch', b]\n", "dependencies: ['pytorch>=2.0.7,<3', b]\n"),
    "conda, pip": (
        "environment.yml",
        "dependencies:\n- pip:\n  - -r x.txt\n  - torch == 2.0\n",
        "dependencies:\n- pip:\n  - -r x.txt\n  - torch >= 2.0.7, < 3\n",
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_constraint_is_set_where_it_stands(name: str) -> None:
    path, before, after = PLACES[name]
    assert edited(path, before, "torch", ">=2.0.7,<3") == after


MANNERS = [
    # dialect, old, new, written
    (Dialect.PIP, "~=2.0", "~=2.0.7", "~=2.0.7"),
    (Dialect.PIP, "== 2.0", "==2.0.7", "== 2.0.7"),
    (Dialect.PIP, ">=2.0 , <3", ">=2.0.7,<3,!=2.1", ">=2.0.7, <3, !=2.1"),
    (Dialect.PIP, ">=2", "^2.0", ">=2.0,<3"),
    (Dialect.PIP, ">=2", "=2.4", "==2.4.*"),
    (Dialect.PIP, ">=2", "", ""),
    (Dialect.POETRY, "^2.0", "^2.0.7", "^2.0.7"),
    (Dialect.POETRY, "2.0.3", "==2.0.7", "2.0.7"),
    (Dialect.POETRY, "==2.0.3", "==2.0.7", "==2.0.7"),
    (Dialect.POETRY, "^2", "", "*"),
    (Dialect.PIPENV, "*", "==2.0.7", "==2.0.7"),
    (Dialect.PIPENV, "*", "~2.0", ">=2.0,<2.1"),
    (Dialect.CONDA, "=2.0.3", "==2.0.7", "=2.0.7"),
    (Dialect.CONDA, "=2.0.3", "==2.1", "==2.1"),
    (Dialect.CONDA, "=2.0", "==2.4.*", "=2.4"),
    (Dialect.CONDA, "2.0.3", "==2.0.7", "2.0.7"),
    (Dialect.CONDA, "==2.0", "===2.0.7", "==2.0.7"),
    (Dialect.CONDA, "=2.0", "==2.0.*,!=2.0.3", "2.0.*,!=2.0.3"),
    (Dialect.PIP, "", "latest", None),
    (Dialect.PIP, "", ">=1 || >=2", None),
]


@pytest.mark.parametrize(("dialect", "old", "new", "written"), MANNERS)
def test_a_constraint_in_the_manner_of_its_place(dialect: Dialect, old: str, new: str, written: str | None) -> None:
    assert rendered(new, dialect, old) == written


# ------------------------------------------------------------------------------------------------ left as they are

PIP_COMPILED = """\
#
# This file is autogenerated by pip-compile with Python 3.10
# by the following command:
#
#    pip-compile --strip-extras in.txt
#
torch==2
"""
MULTI_COMPILED = """\
# SHA1:00
#
# This file is autogenerated by pip-compile-multi
# To update, run:
#
#    pip-compile-multi
#
torch==2
"""
OWN_COMPILED = "# This file is autogenerated by pip-compile\n#    make pins\ntorch==2\n"
UV_COMPILED = """\
# This file was autogenerated by uv via the following command:
#    uv pip compile x.in -o y.txt
torch==2
"""
LEFT = [
    # file, text, package, why not
    ("requirements.txt", "torch==2 --hash=sha256:00", "torch", "its hashes belong to this version"),
    ("requirements.txt", "torch==2 \\\n  --hash=sha256:00", "torch", "its hashes belong to this version"),
    ("requirements.txt", "--require-hashes\ntorch==2", "torch", "its hashes belong to this version"),
    ("requirements.txt", "torch @ https://x/torch-2.whl", "torch", "an address decides its version"),
    ("requirements.txt", "-e git+https://x/torch.git", "torch", "an address decides its version"),
    ("requirements.txt", "torch=2.4", "torch", "pip does not read such a constraint"),
    ("requirements.txt", "torch==${V}", "torch", "what versions it asks for cannot be told"),
    ("requirements.txt", "pytorch=1.7.1=py3.7_0", "torch", "pip does not read such a line"),
    ("environment.yml", "dependencies:\n- pytorch=1.7.1=py3.7_0", "torch", "it is pinned to one build"),
    ("environment.yml", "dependencies:\n- pytorch 1.7.1 *cuda*", "torch", "it is pinned to one build"),
    ("environment.yml", "dependencies:\n- pytorch[version='>=2']", "torch", "what versions it asks for cannot be told"),
    ("environment.yml", "dependencies:\n- pytorch==2.0.*", "torch", "conda does not read such a constraint"),
    ("environment.yml", 'dependencies:\n- "pyt\\x6frch"', "torch", "it is put together from parts, or written with "),
    ("pyproject.toml", '[project]\ndependencies = ["t\\u006frch"]', "torch", "it is put together from parts, or "),
    ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = {git = "x"}', "torch", "an address decides its version"),
    ("pyproject.toml", "[tool.poetry.dependencies]\ntorch = {}", "torch", "no version is written there"),
    (
        "pyproject.toml",
        '[project]\ndependencies = ["torch>=2"]\n[tool.uv.sources]\ntorch = {git = "x"}',
        "torch",
        "an address decides its version",
    ),
    ("Pipfile", '[requires]\npython_version = "3.11"', "python", "it names one Python"),
    ("setup.py", "setup(install_requires=['tor' 'ch'])", "torch", "it is put together from parts, or written with "),
    (
        "uv.lock",
        '[[package]]\nname = "torch"\nversion = "2"',
        "torch",
        "`uv lock --upgrade-package torch` refreshes it",
    ),
    ("poetry.lock", '[[package]]\nname = "torch"\nversion = "2"', "torch", "`poetry update torch` refreshes it"),
    ("pdm.lock", '[[package]]\nname = "torch"\nversion = "2"', "torch", "`pdm update torch` refreshes it"),
    ("pylock.toml", '[[packages]]\nname = "torch"\nversion = "2"', "torch", "the tool that wrote it refreshes it"),
    ("Pipfile.lock", '{"default": {"torch": {"version": "==2"}}}', "torch", "`pipenv update torch` refreshes it"),
    (
        "requirements.txt",
        PIP_COMPILED,
        "torch",
        "`pip-compile --upgrade-package torch --strip-extras in.txt` refreshes it",
    ),
    ("requirements.txt", MULTI_COMPILED, "torch", "`pip-compile-multi --upgrade-package torch` refreshes it"),
    ("requirements.txt", OWN_COMPILED, "torch", "`pip-compile --upgrade-package torch` refreshes it"),
    ("requirements.txt", UV_COMPILED, "torch", "`uv pip compile --upgrade-package torch x.in -o y.txt` refreshes it"),
]


@pytest.mark.parametrize(("path", "text", "package", "why_not"), LEFT)
def test_what_is_not_edited_says_why(path: str, text: str, package: str, why_not: str) -> None:
    found = manifest(path, text)
    each = named(found, package)
    assert why_not in each.why_not
    assert not each.editable
    assert found.edits(each, ">=9") is None
    assert each.locked == ("refreshes" in why_not)


def test_one_line_of_setup_cfg_holds_several_requirements() -> None:
    text = "[options]\ninstall_requires = torch>=1; peft>1\n[options.extras_require]\na =\n  trl; os_name=='nt'\n"
    found = manifest("setup.cfg", text)
    assert [(each.package, each.condition) for each in found.requirements] == [
        ("torch", ""),
        ("peft", ""),
        ("trl", "extra a"),
    ]
    assert edited("setup.cfg", text, "torch", ">=2") == text.replace("torch>=1", "torch>=2")


def test_what_setup_py_puts_together() -> None:
    text = (
        "R = ['torch>=2' if X else 'torch>=1', 'peft>=' + P, f'trl=={T}', *S, 'accelerate>=%s' % A]\n"
        "R.append('lightning')\nR.extend(['transformers'])\nsetup(install_requires=R + ['numpy'])\n"
    )
    assert [(each.package, each.specs, each.condition) for each in manifest("setup.py", text).requirements] == [
        ("torch", (">=2",), "one of 2"),
        ("torch", (">=1",), "one of 2"),
        ("lightning", ("",), "added"),
        ("transformers", ("",), "added"),
        ("numpy", ("",), ""),
    ]


def test_several_at_once_are_proved_together() -> None:
    found = manifest("requirements.txt", "torch==2.0\nlightning\npeft>1\n")
    torch, lightning, peft = found.requirements
    edits = found.together({peft: ">=1.5,<2", torch: "~=2.1.0", lightning: ">=2.0.7"})
    assert edits is not None
    assert splice(found.text, edits) == "torch~=2.1.0\nlightning>=2.0.7\npeft>=1.5,<2\n"
    assert found.together({torch: "==2.0", lightning: ""}) == ()
    assert found.together({torch: "~=2.1.0", lightning: "latest"}) is None
    other = manifest("requirements.txt", found.text).requirements[0]
    assert found.together({other: ">=2.1"}) is None


def test_what_is_no_requirement_of_pip_is_not_made_to_look_like_one() -> None:
    assert edited("requirements.txt", "torch>=2.0;\n", "torch", ">=2.1") is None
    assert edited("requirements.txt", "torch>=2.0; os=='nt'\n", "torch", ">=2.1") is None


def test_an_edit_that_its_place_cannot_hold_is_none() -> None:
    text = "dependencies: [pytorch=2.0, pip]\n"  # a comma would begin another item
    assert edited("environment.yml", text, "torch", ">=2,<3") is None
    assert edited("environment.yml", text, "torch", ">=2") == "dependencies: [pytorch>=2, pip]\n"


# ----------------------------------------------------------------------------------------------- places and labels


def test_places_conditions_and_labels() -> None:
    text = (
        '[project]\nrequires-python = ">=3.10"\ndependencies = ["a; os_name==\'nt\'"]\n'
        '[project.optional-dependencies]\nx = ["b"]\n[dependency-groups]\ny = ["c", {include-group = "z"}]\n'
        '[tool.pdm.dev-dependencies]\nd = ["e"]\n[tool.uv]\ndev-dependencies = ["f"]\nconstraint-dependencies = ["g"]\n'
        '[tool.poetry.dependencies]\nh = [{version = "1", python = "<3"}, {version = "2", python = ">=3"}]\n'
        'i = {version = "1", markers = "os_name==\'nt\'"}\nj = {version = "1", optional = true}\n'
        '[tool.poetry.group.k.dependencies]\nl = "*"\n[tool.poetry.dev-dependencies]\nm = "*"\n'
    )
    found = manifest("pyproject.toml", text)
    assert [(found.line(each), found.label(each), each.condition) for each in found.requirements] == [
        (2, "project.requires-python.python", ""),
        (3, "project.dependencies.a", "os_name=='nt'"),
        (5, "project.optional-dependencies.x.b", "extra x"),
        (7, "dependency-groups.y.c", "group y"),
        (9, "tool.pdm.dev-dependencies.d.e", "group d"),
        (11, "tool.uv.dev-dependencies.f", "group dev"),
        (12, "tool.uv.constraint-dependencies.g", ""),
        (14, "tool.poetry.dependencies.h", "one of several constraints"),
        (14, "tool.poetry.dependencies.h", "one of several constraints"),
        (15, "tool.poetry.dependencies.i", "os_name=='nt'"),
        (16, "tool.poetry.dependencies.j", "an extra"),
        (18, "tool.poetry.group.k.dependencies.l", "group k"),
        (20, "tool.poetry.dev-dependencies.m", "group dev"),
    ]


def test_an_environment_of_pixi() -> None:
    text = (
        '[dependencies]\na = "1.*"\n[pypi-dependencies]\nb = ">=1"\n[feature.cuda.dependencies]\nc = "2.*"\n'
        '[target.linux-64.pypi-dependencies]\nd = "*"\n[feature.x.target.osx-64.dependencies]\ne = "*"\n'
    )
    found = manifest("pixi.toml", text)
    assert [(found.label(each), each.condition) for each in found.requirements] == [
        ("dependencies.a", ""),
        ("pypi-dependencies.b", ""),
        ("feature.cuda.dependencies.c", "feature cuda"),
        ("target.linux-64.pypi-dependencies.d", "target linux-64"),
        ("feature.x.target.osx-64.dependencies.e", "target osx-64"),
    ]


def test_includes() -> None:
    text = "-r a.txt\n--requirement=b.txt\n-c c.txt # x\n -r  'd e.txt'\n--constraint f.txt\n"
    assert manifest("requirements.in", text).includes == tuple(map(Include, ("a.txt", "b.txt", "c.txt", "f.txt")))
    cfg = "[options]\ninstall_requires = file: a.txt, b.txt\n[options.extras_require]\nx = file: c.txt\n"
    expected = (Include("a.txt"), Include("b.txt"), Include("c.txt", "extra x"))
    assert manifest("setup.cfg", cfg).includes == expected


def test_the_span_of_a_requirement() -> None:
    text = "x\n  Torch[a] >= 2.0 ; os_name=='nt' --no-binary :all: # y\n"
    each = named(manifest("requirements.txt", text), "torch")
    assert text[each.start : each.end] == "Torch[a] >= 2.0 ; os_name=='nt'"
    assert (text[slice(*each.constraint)], each.written) == (">= 2.0", ">= 2.0")
    text = '[tool.poetry.dependencies]\ntorch = {version = "^2", extras = []}\n'
    each = named(manifest("pyproject.toml", text), "torch")
    assert text[each.start : each.end] == 'torch = {version = "^2", extras = []}'


def test_a_requirement_nobody_reads_is_noted_with_its_line() -> None:
    found = manifest("requirements.txt", "peft\n\ntorch==two\nnumpy==two\ntrl==${V}\n")
    assert list(found.notes()) == ["line 3: torch: nobody reads the constraint ==two"]


UNPARSABLE = [
    ("pyproject.toml", "[project]\n[project\n", "line 2: "),
    ("Pipfile", "a = 1\nb\n", "line 2: "),
    ("uv.lock", "a = 1\nb\n", "line 2: "),
    ("Pipfile.lock", '{"a": 1,\n x}', "line 2: "),
    ("setup.py", "x\nsetup(\n", "line 2: '(' was never closed"),
    ("setup.cfg", "\ninstall_requires = torch", "line 2: File contains no section headers."),
    ("environment.yml", "a: b\n\tc: d\n", "line 2: "),
]


@pytest.mark.parametrize(("path", "text", "detail"), UNPARSABLE)
def test_a_file_that_cannot_be_read_is_a_skip_with_its_line(path: str, text: str, detail: str) -> None:
    skip = read(path, text)
    assert isinstance(skip, Skip)
    assert (skip.path, skip.reason) == (path, SkipReason.UNPARSABLE)
    assert skip.detail.startswith(detail), skip.detail


@pytest.mark.parametrize("path", ["setup.py", "uv.lock", "pyproject.toml", "Pipfile.lock", "environment.yml"])
def test_a_file_nested_too_deeply_is_a_skip(path: str) -> None:
    begin = "x = " if path.endswith((".py", ".toml", "uv.lock")) else ""
    assert isinstance(read(path, begin + "[" * 50_000), Skip)


# ------------------------------------------------------------------------------------------------------ properties

ANYTHING = st.text("torch=[]{}'\"\n\r<>,;@-#.24: \\\té\u2028|*^~&!", max_size=60) | st.text(max_size=30)
FILES = ["requirements.txt", "pyproject.toml", "setup.py", "setup.cfg", "environment.yml", "Pipfile", "uv.lock"]
SHELLS = {
    "pyproject.toml": "[project]\ndependencies = [{}]\n",
    "setup.py": "setup(install_requires=[{}])",
    "setup.cfg": "[options]\ninstall_requires = {}",
    "environment.yml": "dependencies:\n- {}\n- pip:\n  - {}\n",
    "Pipfile": "[packages]\ntorch = {}\n",
}


@settings(max_examples=examples(800))
@given(st.sampled_from(FILES), st.lists(ANYTHING, max_size=3).map("torch".join), st.booleans())
def test_whatever_the_text_it_is_read_or_skipped_and_edits_keep_to_their_span(path: str, odd: str, bare: bool) -> None:
    text = odd if bare else SHELLS.get(path, "{}").replace("{}", odd)
    found = read(path, text)
    if isinstance(found, Manifest):
        for each in found.requirements:
            assert 0 <= each.start <= each.end <= len(text)
            assert each.start <= each.constraint[0] <= each.constraint[1] <= each.end
            edits = found.edits(each, ">=9.8.7")
            if edits:
                (edit,) = edits
                assert (edit.start, edit.end) == each.constraint
                assert alternatives(edit.text) == (">=9.8.7",)


NAMES = st.sampled_from(["torch", "Torch", "lightning", "pytorch_lightning", "transformers", "numpy", "a.b-c"])
RELEASES = st.lists(st.integers(0, 12), min_size=2, max_size=3).map(lambda parts: ".".join(map(str, parts)))
CLAUSES = st.tuples(st.sampled_from([">=", "<", "==", "!=", "~=", "<=", ">"]), st.sampled_from(["", " "]), RELEASES)
CONSTRAINTS = st.lists(CLAUSES.map("".join), max_size=3).map(", ".join) | st.lists(
    st.tuples(st.sampled_from([">=", "<", "==", "~="]), RELEASES).map("".join), max_size=2
).map(",".join)
EXTRAS = st.sampled_from(["", "[x]", "[x, y-z]", " [x]"])
MARKERS = st.sampled_from(["", "; os_name == 'nt'", " ;python_version>='3.10' and extra == 'x'"])
ITEMS = st.tuples(NAMES, EXTRAS, st.sampled_from(["", " "]), CONSTRAINTS, MARKERS).map("".join)
NOISE = st.sampled_from(
    ["", "# torch==1", "-r base.txt", "--index-url https://x/torch", "torch @ https://x/torch-1.whl", "-e ./torch"]
)
NEW = st.lists(st.tuples(st.sampled_from([">=", "<", "==", "!=", "~="]), RELEASES), min_size=1, max_size=2).map(
    lambda clauses: ",".join(map("".join, clauses))
)


def meant(item: str, new: str) -> Pep508:
    """What pip is to read once an item has a new constraint."""
    wanted = Pep508(item)
    wanted.specifier = SpecifierSet(new)
    return wanted


def checked(path: str, text: str, items: list[str], data: st.DataObject, loaded: Callable[[str], list[str]]) -> None:
    """Set one item to a new constraint; another reader of the format must find it, and all else as before."""
    found = manifest(path, text)
    ours = [each for each in found.requirements if not each.why_not]
    assert len(ours) == len(items)
    chosen = data.draw(st.integers(0, len(items) - 1))
    new = data.draw(NEW)
    edits = found.edits(ours[chosen], new)
    assert edits is not None
    before, after = loaded(text), loaded(splice(text, edits))
    assert len(before) == len(after)
    place = before.index(items[chosen]) if before.count(items[chosen]) == 1 else None
    changed = [number for number, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    assert len(changed) <= 1
    assert all(place in (None, number) for number in changed)
    if edits:
        (edit,) = edits
        assert (edit.start, edit.end) == ours[chosen].constraint
        assert [Pep508(after[number]) for number in changed] == [meant(items[chosen], new)]
    else:
        assert Pep508(items[chosen]).specifier == SpecifierSet(new)


@settings(max_examples=examples(300))
@given(st.data())
def test_setting_one_line_of_a_requirements_file(data: st.DataObject) -> None:
    items = data.draw(st.lists(ITEMS, min_size=1, max_size=5))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = ""
    for item in items:
        text += "".join(noise + end for noise in data.draw(st.lists(NOISE, max_size=2)))
        text += data.draw(st.sampled_from(["", "  "])) + item
        text += data.draw(st.sampled_from(["", " # torch<1", "\t#", f" \\{end}   # x"])) + end

    def loaded(text: str) -> list[str]:
        joined = text.replace("\\\r\n", "  ").replace("\\\n", "  ")
        return [line.split("#")[0].strip() for line in joined.split("\n")]

    checked("requirements.txt", text, [item.strip() for item in items], data, loaded)


@settings(max_examples=examples(300))
@given(st.data())
def test_setting_one_string_of_pyproject(data: st.DataObject) -> None:
    items = data.draw(st.lists(ITEMS, min_size=1, max_size=5))
    cut = data.draw(st.integers(0, len(items)))
    joint = data.draw(st.sampled_from([", ", ",\n  # torch==1\n  ", ",\r\n\t"]))
    first, second = (joint.join(f'"{item}"' for item in part) for part in (items[:cut], items[cut:]))
    text = f"[project]\nname = 'torch'\ndependencies = [{first}]\n[dependency-groups] # torch\nx = [ {second}, ]\n"
    text = text.replace("[ , ]", "[]")

    def loaded(text: str) -> list[str]:
        document = tomllib.loads(text)
        return [*document["project"]["dependencies"], "|", *document["dependency-groups"]["x"]]

    checked("pyproject.toml", text, items, data, loaded)


@settings(max_examples=examples(300))
@given(st.data())
def test_setting_one_item_of_setup_cfg_and_setup_py(data: st.DataObject) -> None:
    items = [item.strip() for item in data.draw(st.lists(ITEMS, min_size=1, max_size=5))]
    lines = "".join(f"\n{data.draw(st.sampled_from(['    # x', '']))}\n    {item}" for item in items)
    cfg = f"[metadata]\nname = torch\n[options]\ninstall_requires ={lines}\npython = torch\n"

    def of_cfg(text: str) -> list[str]:
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string(text)
        return [line for line in parser["options"]["install_requires"].splitlines() if line]

    checked("setup.cfg", cfg, items, data, of_cfg)
    quote = data.draw(st.sampled_from(['"', '"""']))
    listed = ",\n".join(f"{quote}{item}{quote}" for item in items)
    setup = f"# é\nREQUIRED = [ {listed}\n]\nsetup(name='torch', install_requires=REQUIRED)\n"

    def of_py(text: str) -> list[str]:
        (assign,) = (node for node in ast.parse(text).body if isinstance(node, ast.Assign))
        return list(ast.literal_eval(assign.value))

    checked("setup.py", setup, items, data, of_py)


@settings(max_examples=examples(300))
@given(st.data())
def test_setting_one_item_of_an_environment(data: st.DataObject) -> None:
    pips = [item.strip() for item in data.draw(st.lists(ITEMS, min_size=1, max_size=4))]
    condas = data.draw(
        st.lists(st.tuples(NAMES, st.sampled_from(["", "=2.1", ">=1.0", "==1.2.3", " 1.2"])), max_size=3)
    )
    inner = "".join(
        f'    - "{item}"\n' if data.draw(st.booleans()) or "#" in item else f"    - {item}\n" for item in pips
    )
    outer = "".join(f"  - {name}{constraint}  # x\n" for name, constraint in condas)
    text = f"name: torch\ndependencies:\n  - pip\n{outer}  - pip:\n{inner}\nprefix: /torch\n"

    def loaded(text: str) -> list[str]:
        document = yaml.safe_load(text)
        *flat, nested = document["dependencies"]
        assert document["prefix"] == "/torch"
        return [*flat, "|", *nested["pip"]]

    found = manifest("environment.yml", text)
    assert [each.dialect for each in found.requirements] == [Dialect.CONDA] * (len(condas) + 1) + [Dialect.PIP] * len(
        pips
    )
    for each in found.requirements[1 : len(condas) + 1]:
        new = data.draw(st.sampled_from([">=2.0.7", ">=2.0.7,<3", "==2.0.7"]))
        edits = found.edits(each, new)
        assert edits is not None
        before, after = loaded(text), loaded(splice(text, edits))
        changed = [(one, other) for one, other in zip(before, after, strict=True) if one != other]
        assert len(changed) == len(edits)
        for one, other in changed:
            assert other.startswith(text[each.start : each.constraint[0]])
            assert alternatives(other.lstrip("abcdefghijklmnopqrstuvwxyzT.-_")) == (new,)
            assert one.removesuffix(each.written) == other[: len(one) - len(each.written)]


POETRY = st.sampled_from(["^", "~", "", ">=", "==", "~=", "!="]).flatmap(lambda op: RELEASES.map(op.__add__)) | st.just(
    "*"
)


@settings(max_examples=examples(300))
@given(st.lists(st.tuples(POETRY, st.integers(0, 3)), min_size=1, max_size=4), st.data())
def test_setting_one_entry_of_poetry_and_pipenv(constraints: list[tuple[str, int]], data: st.DataObject) -> None:
    shapes = ['n{} = "{}"', "n{} = {{ version = '{}', extras = [\"x\"] }}  # n", 'n{}.version = "{}"', "\"n{}\" = '{}'"]
    lines = [shapes[shape].format(number, constraint) for number, (constraint, shape) in enumerate(constraints)]
    chosen = data.draw(st.integers(0, len(lines) - 1))
    old, new = constraints[chosen][0], data.draw(NEW)
    for path, header in (("pyproject.toml", "[tool.poetry.dependencies]"), ("Pipfile", "[packages]")):
        text = "\n".join(["# torch", header, *lines, "[scripts]", 'torch = "^1"', ""])
        found = manifest(path, text)
        assert len(found.requirements) == len(lines)
        each = found.requirements[chosen]
        edits = found.edits(each, new)
        if not each.editable:
            assert (path, old[:1] in "^~") == ("Pipfile", True)
            continue
        assert edits is not None
        before, after = tomllib.loads(text), tomllib.loads(splice(text, edits))
        table = after["tool"]["poetry"]["dependencies"] if path == "pyproject.toml" else after["packages"]
        value = table[f"n{chosen}"]["version"] if isinstance(table[f"n{chosen}"], dict) else table[f"n{chosen}"]
        bare = new.removeprefix("==") if path != "Pipfile" and old[:1].isdigit() and "," not in new else new
        assert value.replace(" ", "") == (bare if edits else old)
        for document in (before, after):
            (document["tool"]["poetry"]["dependencies"] if path == "pyproject.toml" else document["packages"]).pop(
                f"n{chosen}"
            )
        assert before == after


# --------------------------------------------------------------------------------------------- commands of notebooks

COMMANDS: dict[str, list[tuple[str, tuple[str, ...] | None]]] = {
    "pip install torch==2.4.1 -q": [("torch", ("==2.4.1",))],
    "!pip3 install 'torch>=2' \"peft[x]<1\"": [("torch", (">=2",)), ("peft", ("<1",))],
    "%pip install --index-url https://x torch==2.4.1+cu121": [("torch", ("==2.4.1",))],
    "!uv pip install --torch-backend cu121 torch==2.4": [("torch", ("==2.4",))],
    "!python -m pip install -U lightning": [("lightning", ("",))],
    "!/usr/bin/python3 -m pip install lightning": [],
    "!pip install git+https://github.com/huggingface/peft.git@x": [("peft", None)],
    "!conda install -y -c torch=1 pytorch=2.4": [("torch", ("==2.4.*",))],
    "pip download torch==2.4": [],
    "pip install 'torch": [],
    "echo pip install torch==2": [],
    "": [],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command(command: str) -> None:
    found = [each for each in installs(command) if isinstance(each, Requirement)]
    assert [(each.package, each.specs) for each in found] == COMMANDS[command]
    assert not any(each.editable for each in found)


def test_a_command_that_installs_from_a_file() -> None:
    assert installs("!pip install -q -r ../requirements.txt") == (Include("../requirements.txt"),)
    assert installs("pip install --requirement=a.txt -c b.txt") == (Include("a.txt"), Include("b.txt"))


def test_an_edit_is_one_span() -> None:
    found = manifest("requirements.txt", "torch==2.0\n")
    assert found.edits(found.requirements[0], ">=2.1") == (Edit("requirements.txt", 5, 10, ">=2.1"),)
