"""Which versions a project allows: every format by a literal case, then the verdicts against brute force."""

from __future__ import annotations

import itertools
import json
import re

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from world import LONG

from codemods.model.plan import Target
from codemods.project.ranges import every, meet, some
from codemods.project.versions import Versions, may, parse_target, project_root, surely, targets
from codemods.sources.manifest import Manifest, read
from codemods.sources.manifest.specifiers import alternatives
from codemods.sources.text import LARGEST


class Files(dict[str, str | bytes]):
    """A tree in memory."""

    def read(self, path: str, /) -> bytes | None:
        data = self.get(path)
        return data.encode() if isinstance(data, str) else data

    def exists(self, path: str, /) -> bool:
        return path in self

    def files(self) -> list[str]:
        return sorted(path for path in self if not path.startswith(("/", "../")))


def specs(files: dict[str, str | bytes], path: str = "train.py", **overrides: str) -> dict[str, str]:
    """Package → spec, with the twin of Lightning left out."""
    found = targets(Files(files), path, overrides)
    return {name: target.spec for name, target in found.items() if name != "pytorch-lightning"}


# --------------------------------------------------------------------------------------------------- no-op first


def test_nothing_says_nothing() -> None:
    assert specs({}) == {}
    assert specs({"requirements.txt": "numpy==1.26\n# torch==2.4\n"}) == {}
    assert specs({"pyproject.toml": "[tool.black]\nline-length = 100\n"}) == {}


# ------------------------------------------------------------------------------------------ one line, every dialect

PIP = {
    "torch": "",
    "torch==2.4.1": "==2.4.1",
    "torch==2.4.1+cu121": "==2.4.1",
    "torch===2.4.1+cu121": "==2.4.1",
    "torch == 2.4.*  # nightly was worse": "==2.4.*",
    "torch~=2.1": "~=2.1",
    "torch<3,>=2.0": ">=2.0,<3",
    "torch (>=1.7,!=1.12.0)": ">=1.7,!=1.12.0",
    "torch>=1.7.*": ">=1.7",
    "torch[opt-einsum]>=2.0": ">=2.0",
    'torch>=2.0; sys_platform == "linux"': ">=2.0",
    "torch==2.1.1 --index-url https://download.pytorch.org/whl/cu118": "==2.1.1",
    "torch==2.1.1 --hash=sha256:00 --hash=sha256:01": "==2.1.1",
    "torch==2.1.1 \\\n    --hash=sha256:00 \\\n    --hash=sha256:01": "==2.1.1",
    "torch==2.6.0.dev20241112+cu124": "==2.6.0.dev20241112",
    "torch=2.4": "==2.4.*",
    "pytorch=1.7.1=py3.7_cuda10.2.89_cudnn7.6.5_0": "==1.7.1",
    "Torch==2": "==2",
    # the version cannot be told
    "torch @ https://download.pytorch.org/whl/torch-2.4.1-cp311-linux_x86_64.whl": "",
    "torch@git+https://github.com/pytorch/pytorch": "",
    "https://download.pytorch.org/whl/cpu/torch-1.8.1%2Bcpu-cp37-cp37m-linux_x86_64.whl": "",
    "-e git+https://github.com/pytorch/pytorch.git@main#egg=torch": "",
    "git+https://github.com/someone/torch.git@a/b": "",
    "git+https://github.com/someone/torch": "",
    "git+ssh://git@github.com/someone/torch ; python_version > '3'": "",
    "torch==${TORCH_VERSION}": "",
    "torch==two": "",
    "torch>=" + ",!=".join(f"1.{n}" for n in range(200)): "",
}
SILENT = [
    "-e .",
    "--extra-index-url https://torch",
    "-f https://x/torch",
    "torchvision==0.9",
    "rotary-embedding-torch",
    "./torch-2.1.whl",
    "-i x",
    "@",
    ";",
    "==2.4",
    "\x00",
    "python==3.10",
    "torch" * 1000,
    "git+https://torch/x.git",
]


@pytest.mark.parametrize("line", PIP)
def test_a_line_of_a_requirements_file(line: str) -> None:
    assert specs({"requirements.txt": f"numpy\n{line}\n"}) == {"torch": PIP[line]}


@pytest.mark.parametrize("line", SILENT)
def test_a_line_that_says_nothing(line: str) -> None:
    assert specs({"requirements.txt": line}) == {}


DIALECTS = {
    "": ("",),
    "*": ("",),
    "2.1": ("==2.1",),
    "v2.1": ("==2.1",),
    "=2.4": ("==2.4.*",),
    "=2.4.1": ("==2.4.1",),
    "=2.4.*": ("==2.4.*",),
    "^2.1": (">=2.1,<3",),
    "^2": (">=2,<3",),
    "^0.2.3": (">=0.2.3,<0.3",),
    "^0.0.3": (">=0.0.3,<0.0.4",),
    "^0.0": (">=0.0,<0.1",),
    "^0": (">=0,<1",),
    "~2.1.3": (">=2.1.3,<2.2",),
    "~2.1": (">=2.1,<2.2",),
    "~2": (">=2,<3",),
    ">=2.0 <3": (">=2.0,<3",),
    ">= 2.0 , < 3": (">=2.0,<3",),
    "^1.13 || ^2.0": (">=1.13,<2", ">=2.0,<3"),
    "1.13|2.0": ("==1.13", "==2.0"),
    "<=2.4.*": None,
    "2.4 py311": None,
    "[version='>=2']": None,
    ">=,<2": None,
    "latest": None,
}


@pytest.mark.parametrize("written", DIALECTS)
def test_a_constraint_in_any_dialect(written: str) -> None:
    assert alternatives(written) == DIALECTS[written]


# ----------------------------------------------------------------------------------------------------- the formats

PYPROJECT = """
[project]
name = "train"
requires-python = ">=3.10,<3.13"
dependencies = ["torch>=2.3", 7]
[project.optional-dependencies]
lightning = ["pytorch-lightning~=2.2"]
[dependency-groups]
dev = ["transformers>=4.40", {include-group = "test"}]
[tool.pdm.dev-dependencies]
tune = ["peft<0.12"]
[tool.uv]
dev-dependencies = ["trl"]
constraint-dependencies = ["accelerate<1"]
"""
POETRY = """
[tool.poetry.dependencies]
python = "^3.10"
torch = {version = "^2.1", source = "pytorch"}
transformers = [{version = "4.40.0", python = "<3.11"}, {version = "^4.45", python = ">=3.11"}]
peft = {git = "https://github.com/huggingface/peft.git"}
lightning = {version = "~2.2", optional = true}
trl = 3
[tool.poetry.group.dev.dependencies]
accelerate = "*"
[tool.poetry.dev-dependencies]
torch = ">=2.2"
"""
SETUP_PY = """
import os
from setuptools import setup
raise SystemExit("this file is read, never run")
BASE = ["torch>=2.0", f"peft=={os.environ['PEFT']}"]
if os.name == "nt":
    LIGHTNING = ["lightning==2.1"]
else:
    LIGHTNING = ["lightning==2.2"]
def requirements():
    return open("requirements.txt").read()
LOOP = LOOP + ["trl<1"]
setup(
    install_requires=[*BASE, "accelerate"] + LIGHTNING + LOOP + requirements(),
    extras_require={"hf": ["transformers>=4.40"], **{}, "x": BASE},
    python_requires=">=3.9",
)
"""
SETUP_CFG = """
[options]
python_requires = >=3.9
install_requires =
    torch>=2.0
    lightning
[options.extras_require]
hf = transformers==4.40.0
more = file: extra/more.txt
"""
ENVIRONMENT = """\
name: ldm
channels:
  - pytorch
  - torch=9
dependencies:
  - python=3.8.5
  # the next one is pinned
  - "pytorch::pytorch=1.13.1=py3.8_cuda11.7_cudnn8.5.0_0"   # by build
  - pytorch-cuda=11.7
  - accelerate[version='>=1']
  - pip:
    - pytorch-lightning==1.4.2
    - -e git+https://github.com/huggingface/peft.git#egg=peft
    - -r more.txt
  - transformers >=4.30,<5
variables:
  - trl=1
"""
PIPFILE = """
[packages]
torch = "==2.4.1"
lightning = {version = ">=2.2", extras = ["extra"]}
[dev-packages]
trl = "*"
[requires]
python_version = "3.11"
[scripts]
transformers = "x"
"""
LOCK = """
[[package]]
name = "torch"
version = "2.8.0"
source = { registry = "https://pypi.org/simple" }
[[package]]
name = "torch"
version = "2.8.0+cpu"
[[package]]
name = "Transformers"
version = "4.57.0"
[[package]]
name = "peft"
source = { editable = "." }
[[package]]
version = "0"
"""
PIPFILE_LOCK = '{"default": {"torch": {"version": "==2.4.1"}}, "develop": {"peft": {"git": "x"}}}'

FORMATS: dict[str, tuple[dict[str, str | bytes], dict[str, str]]] = {
    "pyproject": (
        {"pyproject.toml": PYPROJECT},
        {
            "torch": ">=2.3",
            "lightning": "~=2.2",
            "transformers": ">=4.40",
            "accelerate": "<1",
            "peft": "<0.12",
            "trl": "",
            "python": ">=3.10,<3.13",
        },
    ),
    "poetry": (
        {"pyproject.toml": POETRY},
        {
            "torch": ">=2.1,<3",
            "transformers": "==4.40.0 || >=4.45,<5",
            "peft": "",
            "lightning": ">=2.2,<2.3",
            "trl": "",
            "accelerate": "",
            "python": ">=3.10,<4",
        },
    ),
    "setuptools-dynamic": (
        {
            "pyproject.toml": '[tool.setuptools.dynamic]\ndependencies = {file = "deps/a.txt"}\n'
            '[tool.setuptools.dynamic.optional-dependencies]\nhf = {file = ["deps/b.txt", 1]}\n',
            "deps/a.txt": "torch>=2",
            "deps/b.txt": "transformers==4.40",
        },
        {"torch": ">=2", "transformers": "==4.40"},
    ),
    "setup.py": (
        {"setup.py": SETUP_PY},
        {
            "torch": ">=2.0",
            "accelerate": "",
            "lightning": "==2.1 || ==2.2",
            "trl": "<1",
            "transformers": ">=4.40",
            "python": ">=3.9",
        },
    ),
    "setup.py, odd": (
        {"setup.py": "import x\nx.setup(n=1, install_requires='torch>=2\\npeft', python_requires=X)\nf()"},
        {"torch": ">=2", "peft": ""},
    ),
    "setup.cfg": (
        {"setup.cfg": SETUP_CFG, "extra/more.txt": "peft<1"},
        {"torch": ">=2.0", "lightning": "", "transformers": "==4.40.0", "peft": "<1", "python": ">=3.9"},
    ),
    "conda": (
        {"environment.yml": ENVIRONMENT, "more.txt": "trl==0.9"},
        {
            "torch": "==1.13.1",
            "lightning": "==1.4.2",
            "transformers": ">=4.30,<5",
            "accelerate": "",
            "peft": "",
            "trl": "==0.9",
            "python": "==3.8.5",
        },
    ),
    "conda, fuzzy": (
        {"environment.yaml": "dependencies:\n- pytorch=2.4\n- ??\n- pip\n- pip:\n  - peft\n- python>=3.9\n"},
        {"torch": "==2.4.*", "peft": "", "python": ">=3.9"},
    ),
    "conda, not a list": ({"environment.yaml": "dependencies: {pytorch: 2.4}\nname: x\n"}, {}),
    "conda, between brackets": ({"environment.yaml": "dependencies: [pytorch=2.4]"}, {"torch": "==2.4.*"}),
    "Pipfile": (
        {"Pipfile": PIPFILE},
        {"torch": "==2.4.1", "lightning": ">=2.2", "trl": "", "python": "==3.11.*"},
    ),
    "uv.lock": ({"uv.lock": LOCK}, {"torch": "==2.8.0", "transformers": "==4.57.0", "peft": ""}),
    "poetry.lock": ({"poetry.lock": LOCK}, {"torch": "==2.8.0", "transformers": "==4.57.0", "peft": ""}),
    "pdm.lock": ({"pdm.lock": LOCK}, {"torch": "==2.8.0", "transformers": "==4.57.0", "peft": ""}),
    "pylock": (
        {"pylock.toml": LOCK.replace("package]", "packages]")},
        {"torch": "==2.8.0", "transformers": "==4.57.0", "peft": ""},
    ),
    "Pipfile.lock": ({"Pipfile.lock": PIPFILE_LOCK}, {"torch": "==2.4.1", "peft": ""}),
    "UTF-16, as PowerShell writes": (
        {"requirements.txt": "torch==2.4\r\npeft\r\n".encode("utf-16")},
        {"torch": "==2.4", "peft": ""},
    ),
    "latin-1, CRLF": ({"requirements.txt": b"# f\xfcr\r\ntorch==2.4 \\\r\n  --hash=x\r\n"}, {"torch": "==2.4"}),
    "byte-order mark": ({"requirements.txt": b"\xef\xbb\xbftorch==2.4"}, {"torch": "==2.4"}),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_format(name: str) -> None:
    files, expected = FORMATS[name]
    assert specs(files) == expected


MALFORMED: dict[str, bytes] = {
    "pyproject.toml": b"[project\ndependencies = ['torch==2.4']",
    "setup.py": b"setup(install_requires=['torch==2.4']",
    "setup.cfg": b"install_requires = torch==2.4",
    "Pipfile.lock": b"[" * 100_000,
    "uv.lock": b"a = " + b"[" * 100_000,
    "requirements.txt": b"\xff\xfe\x00\xd8\x00",
    "requirements-gpu.txt": b" " * (LARGEST + 1),
}


@pytest.mark.parametrize("path", MALFORMED)
def test_a_malformed_file_is_silent_and_noted(path: str) -> None:
    versions = Versions(Files({path: MALFORMED[path]}))
    assert versions.project("").targets == {}
    assert len(versions.notes) == 1
    assert versions.notes[0].startswith(f"{path}: ")


NAMES = ["requirements.txt", "constraints.in", "pyproject.toml", "setup.py", "setup.cfg", "environment.yml", "Pipfile"]
NAMES += ["uv.lock", "pylock.toml", "Pipfile.lock", "pixi.lock"]


@settings(max_examples=examples(300))
@given(st.sampled_from(NAMES), st.binary(max_size=80) | st.text("torch=[]{}'\"\n<>,;@-#.24: \\").map(str.encode))
def test_no_bytes_raise(path: str, data: bytes) -> None:
    Versions(Files({path: data})).project("")


ODD_TOML = st.recursive(
    st.sampled_from(["1", "true", '"torch==2"', '""', "1979-05-27"]),
    lambda inner: (
        st.lists(inner, max_size=2).map(lambda parts: f"[{','.join(parts)}]")
        | st.dictionaries(st.sampled_from(["torch", "version", "file", "dependencies", "x"]), inner, max_size=2).map(
            lambda table: "{" + ",".join(f"{key}={value}" for key, value in table.items()) + "}"
        )
    ),
    max_leaves=5,
)
KEYS = [
    "project.dependencies",
    "project.optional-dependencies",
    "dependency-groups",
    "tool.poetry.dependencies",
    "tool.poetry",
    "tool.poetry.group",
    "tool.uv",
    "tool",
    "tool.setuptools.dynamic",
    "tool.pdm.dev-dependencies",
    "package",
    "packages",
    "requires",
    "dev-packages",
    "project.requires-python",
    "project",
]


@settings(max_examples=examples(300))
@given(st.sampled_from(["pyproject.toml", "Pipfile", "uv.lock"]), st.sampled_from(KEYS), ODD_TOML)
def test_no_shape_raises(path: str, key: str, value: str) -> None:
    assert isinstance(read(path, f"{key} = {value}"), Manifest)


# ------------------------------------------------------------------------------------------------ several files


def test_includes_are_followed_but_not_out_of_the_tree_nor_in_circles() -> None:
    files: dict[str, str | bytes] = {
        "a/requirements.txt": "-r sub/base.txt\n-c ../constraints.txt\n-r ../../secret.txt\n-r /etc/secret.txt\n"
        "--requirement=gone.txt\n-r https://example.org/torch.txt\n",
        "a/sub/base.txt": "torch\n-r ../requirements.txt\n-r base.txt",
        "constraints.txt": "torch<2.5",
        "secret.txt": "peft==1",
        "../secret.txt": "peft==1",
        "/etc/secret.txt": "peft==1",
    }
    assert specs(files, "a/x.py") == {"torch": "<2.5"}
    assert targets(Files(files), "a/x.py")["torch"] == Target("torch", "<2.5", "constraints.txt")


def test_a_chain_of_includes_is_narrowed_down_together() -> None:
    files: dict[str, str | bytes] = {"requirements.txt": "-r base.txt\ntorch<3", "base.txt": "torch>=2.0"}
    assert specs(files) == {"torch": ">=2.0,<3"}


CHOICES: list[tuple[str, dict[str, str | bytes], str]] = [
    ("pin over range", {"pyproject.toml": '[project]\ndependencies=["torch>=2.0"]', "requirements.txt": "torch==2.4.1"},
     "==2.4.1"),
    ("range over mention", {"setup.py": "setup(install_requires='torch')", "requirements.txt": "torch>=2.1"}, ">=2.1"),
    ("lock over pin", {"uv.lock": LOCK, "requirements.txt": "torch==2.4.1"}, "==2.8.0"),
    ("two pins", {"requirements-gpu.txt": "torch==2.4", "requirements-cpu.txt": "torch==2.1"}, "==2.1 || ==2.4"),
    ("pin outside the range", {"setup.py": "setup(install_requires='torch>=2.4')", "requirements.txt": "torch==1.13"},
     ">=2.4 || ==1.13"),
    ("markers", {"requirements.txt": "torch==2.1; os_name=='nt'\ntorch==2.4; os_name!='nt'"}, "==2.1 || ==2.4"),
    ("marker beside no marker", {"requirements.txt": "torch>=2.0\ntorch<2.3; os_name=='nt'"}, ">=2.0"),
    ("an extra does not narrow", {"pyproject.toml": '[project]\ndependencies=["torch"]\n'
     '[project.optional-dependencies]\ncompile=["torch>=2.4"]'}, ""),
    ("an extra that contradicts", {"pyproject.toml": '[project]\ndependencies=["torch>=2.4"]\n'
     '[project.optional-dependencies]\nold=["torch<2"]'}, ">=2.4 || <2"),
    ("a pin for tests does not narrow", {"requirements.txt": "torch>=1.9", "requirements-test.txt": "torch==2.4"},
     ">=1.9"),
    ("a pin for tests is better than nothing", {"requirements_dev.txt": "torch==2.4"}, "==2.4"),
    ("contradiction in one file", {"requirements.txt": "torch==2.4\ntorch==2.1"}, "==2.4 || ==2.1"),
    ("wider range holds the narrower", {"setup.py": "setup(install_requires='torch>=2.1,<3')",
                                        "requirements.txt": "torch>=2"}, ">=2"),
    ("an address beside a version", {"requirements.txt": "torch==2.4", "requirements_gpu.txt": "torch @ git+https://x"},
     ""),
    ("a hundred and one lines", {"requirements.txt": "\n".join(f"torch!=2.{n}" for n in range(101))}, ""),
    ("many alternatives", {"pyproject.toml": '[tool.poetry.dependencies]\ntorch="'
     + "||".join(f"1.{n}" for n in range(11)) + '"\n[tool.poetry.group.x.dependencies]\ntorch="'
     + "||".join(f"!=1.{n}" for n in range(11)) + '"'}, " || ".join(f"==1.{n}" for n in range(11))),
]  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), [pytest.param(*case[1:], id=case[0]) for case in CHOICES])
def test_several_statements_come_to_one(files: dict[str, str | bytes], expected: str) -> None:
    assert specs(files)["torch"] == expected


TREE: dict[str, str | bytes] = {
    "uv.lock": LOCK,
    "pyproject.toml": '[project]\nrequires-python=">=3.9"',
    "apps/one/requirements.txt": "torch==1.13",
    "apps/one/inner/pyproject.toml": "",
    "apps/two/setup.cfg": "[options]\ninstall_requires = torch",
}


@pytest.mark.parametrize(
    ("path", "root", "torch"),
    [
        ("train.py", "", "==2.8.0"),
        ("apps/train.py", "", "==2.8.0"),
        ("apps/one/train.py", "apps/one", "==1.13"),
        ("./apps/one/deep/er/train.py", "apps/one", "==1.13"),
        ("apps/one/inner/train.py", "apps/one/inner", "==1.13"),
        ("apps/two/train.py", "apps/two", ""),
        ("", "", "==2.8.0"),
        ("../outside.py", "", "==2.8.0"),
    ],
)
def test_the_nearest_project_that_mentions_a_package_decides(path: str, root: str, torch: str) -> None:
    assert project_root(Files(TREE), path) == root
    found = targets(Files(TREE), path)
    assert found["torch"].spec == torch
    assert found["transformers"] == Target("transformers", "==4.57.0", "uv.lock")
    assert found == targets(Files(TREE), root)


def test_the_directory_of_a_project_is_not_above_itself() -> None:
    assert project_root(Files(TREE), "apps/one") == ""
    assert targets(Files(TREE), "apps/one")["torch"].spec == "==1.13"
    assert project_root(Files({}), "a/b.py") == ""


def test_a_target_on_the_command_line_comes_first() -> None:
    found = targets(Files(TREE), "apps/one/train.py", {"torch": "==2.4.*", "pytorch-lightning": "==2.2"})
    assert found["torch"] == Target("torch", "==2.4.*", "--target", given=True)
    assert found["lightning"] == Target("pytorch-lightning", "==2.2", "--target", given=True)
    assert found["lightning"] == found["pytorch-lightning"]
    assert found["transformers"].source == "uv.lock"
    both = targets(Files({}), "x.py", {"lightning": "==2.2", "pytorch-lightning": "==1.9"})
    assert [both[name].spec for name in ("lightning", "pytorch-lightning")] == ["==2.2", "==1.9"]


def test_lightning_by_either_name() -> None:
    for line in ("lightning==2.2", "pytorch_lightning==2.2"):
        found = targets(Files({"requirements.txt": line}), "x.py")
        assert found["lightning"] == found["pytorch-lightning"]
        assert surely(found["lightning"], ">=2.0")
    same = targets(Files({"requirements.txt": "lightning==2.2\npytorch-lightning==2.2"}), "x.py")
    assert same["pytorch-lightning"].spec == "==2.2"
    wider = targets(Files({"requirements.txt": "lightning==2.0.9\npytorch-lightning==2.0.9.post0"}), "x.py")
    assert (wider["lightning"].package, wider["lightning"].spec) == ("lightning", "==2.0.9")
    assert [each.spec for each in wider["lightning"].either] == ["==2.0.9", "==2.0.9.post0"]
    different = targets(Files({"requirements.txt": "lightning==2.2\npytorch-lightning==1.9"}), "x.py")["lightning"]
    assert different.spec == "==2.2 || ==1.9"
    assert may(different, ">=2.0") and may(different, "<2.0")
    assert not surely(different, ">=2.0")


def test_each_directory_is_looked_at_once() -> None:
    class Counting(Files):
        reads = 0
        listings = 0

        def read(self, path: str, /) -> bytes | None:
            self.reads += 1
            return super().read(path)

        def files(self) -> list[str]:
            self.listings += 1
            return super().files()

    files = Counting(TREE)
    versions = Versions(files)
    for number in range(1000):
        versions.project(versions.root(f"apps/one/{number}.py"))
        versions.project(versions.root(f"{number}.py"))
    assert (files.listings, files.reads) == (1, 3)


# ------------------------------------------------------------------------------------------------------ --target


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch=2.4", ("torch", "==2.4.*")),
        ("torch = 2", ("torch", "==2.*")),
        ("torch=2.4.1", ("torch", "==2.4.1")),
        ("torch==2.4.1", ("torch", "==2.4.1")),
        ("torch==2.4.1+cu121", ("torch", "==2.4.1")),
        ("torch=2.6.0rc1", ("torch", "==2.6.0rc1")),
        ("torch>=2.3", ("torch", ">=2.3")),
        ("torch>=2.3, <3", ("torch", ">=2.3,<3")),
        ("PyTorch_Lightning~=2.2", ("pytorch-lightning", "~=2.2")),
        ("python=3.11", ("python", "==3.11.*")),
    ],
)
def test_a_target_is_parsed(text: str, expected: tuple[str, str]) -> None:
    assert parse_target(text) == Target(*expected, "--target", given=True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "write PACKAGE=VERSION, such as torch=2.4 or 'torch>=2.4,<3'"),
        ("torch", "write PACKAGE=VERSION, such as torch=2.4 or 'torch>=2.4,<3'"),
        ("torch 2.4", "write PACKAGE=VERSION; did you mean torch=2.4?"),
        ("torch2.4", "write PACKAGE=VERSION; did you mean torch=2.4?"),
        ("pytorch2.4.1", "write PACKAGE=VERSION; did you mean torch=2.4.1?"),
        ("numpy2", "write PACKAGE=VERSION, such as torch=2.4 or 'torch>=2.4,<3'"),
        ("pytorch=2.4", "nothing depends on the version of pytorch; did you mean torch=2.4?"),
        ("troch>=2.4, <3", "nothing depends on the version of troch; did you mean torch>=2.4, <3?"),
        ("Lightening=2", "nothing depends on the version of Lightening; did you mean lightning=2?"),
        ("numpy=1.26", "nothing depends on the version of numpy; give one of torch, lightning, pytorch-lightning, "),
        ("torch=", "'' is no version; write PACKAGE=VERSION, such as torch=2.4 or 'torch>=2.4,<3'"),
        ("torch=abc", "'abc' is no version; write PACKAGE=VERSION, such as torch=2.4 or 'torch>=2.4,<3'"),
        ("torch=*", "'*' is no version; "),
        ("torch>=3,<2", "no version is in >=3,<2"),
    ],
)
def test_a_bad_target_gets_a_sentence(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=rf"^--target {re.escape(repr(text))}: {re.escape(says)}"):
        parse_target(text)


# ------------------------------------------------------------------------------------------------ may and surely

VERDICTS = [
    # target, range, may, surely
    ("==2.4.1", "<2.11", True, True),
    ("==2.11.0", "<2.11", False, False),
    (">=2.11", "<2.11", False, False),
    (">=2.10", "<2.11", True, False),
    ("<2.11", ">=2.11", False, False),
    ("<=2.11", ">=2.11", True, False),
    (">2.3", ">=2.4", True, False),
    (">2.3", ">=2.3.1", True, True),
    (">=2.3,<3", ">=2.3", True, True),
    ("==2.4.*", ">=2.4,<2.5", True, True),
    ("==2.4.*", "==2.4.0", True, False),
    ("~=2.1", ">=2.1,<3", True, True),
    ("~=2.1.3", "<2.2", True, True),
    (">=2,!=2.4.0", "!=2.4", True, True),
    (">=2.4,<=2.4", "==2.4", True, True),
    (">=1!2.0", "<3", True, False),  # nothing known of epochs
    ("", "<2", True, False),
    ("==2.1 || ==2.4", ">=2.3", True, False),
    ("==2.1 || ==2.4", ">=2.0", True, True),
    ("==2.1 || ==2.4", ">=2.5", False, False),
    (">3,<2", ">=0", True, False),  # contradicts itself
    (">3,<2 || ==2.4", ">=2.4", True, True),
    ("not a version", ">=0", True, False),
    ("==2.4.1+cu121", ">=2.4.1", True, True),
    # a post-release counts as its release
    ("==2.5.0.post0", "<=2.5.0", True, True),
    ("==2.5.0.post0", ">2.5.0", False, False),
    ("==2.5.0.post0", "==2.5.0", True, True),
    (">=2.5.0.post0", ">=2.5.0", True, True),
    ("<=2.5.0", "<2.5.0.post1", True, True),
    # a pinned pre-release may have what came before and what is to come
    ("==2.6.0.dev20241112", "<2.6", True, False),
    ("==2.6.0rc1", ">=2.6", True, False),
    ("==2.6.0rc1", ">=2.5", True, True),
    ("==2.6.0rc1", ">=2.7", False, False),
    ("==3.0rc1", "<2.9", False, False),
    ("==0.0.0rc1", ">=0", True, True),
    # an open range is not about pre-releases
    (">=2.6.0rc1", "<2.6", False, False),
    ("<2.6", ">=2.6.0rc1", False, False),
    ("<2.6.0rc1", ">=2.6", False, False),
]


@pytest.mark.parametrize(("spec", "range", "expected_may", "expected_surely"), VERDICTS)
def test_a_verdict(spec: str, range: str, expected_may: bool, expected_surely: bool) -> None:
    target = Target("torch", spec, "requirements.txt")
    assert (may(target, range), surely(target, range)) == (expected_may, expected_surely)


def test_a_package_that_is_not_mentioned_is_unknown() -> None:
    assert may(None, "<2.11")
    assert not surely(None, ">=0")


GRID = [Version(".".join(map(str, parts))) for parts in itertools.product(range(5), repeat=3)]
"""Every version of three parts up to one past the greatest that the strategies name."""

RELEASES = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(lambda parts: ".".join(map(str, parts)))
CLAUSES = st.one_of(
    st.tuples(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), RELEASES).map("".join),
    st.tuples(st.sampled_from(["==", "!="]), RELEASES, st.just(".*")).map("".join),
    st.tuples(
        st.just("~="), st.lists(st.integers(0, 3), min_size=2, max_size=3).map(lambda p: ".".join(map(str, p)))
    ).map("".join),
)
SPECS = st.lists(CLAUSES, min_size=1, max_size=3).map(",".join)


@settings(max_examples=examples(2000))
@given(st.lists(SPECS, min_size=1, max_size=2), SPECS)
def test_the_verdicts_agree_with_trying_every_version(options: list[str], range: str) -> None:
    target = Target("torch", " || ".join(options), "x")
    allowed = {version for option in options for version in SpecifierSet(option).filter(GRID)}
    inside = allowed & set(SpecifierSet(range).filter(GRID))
    assert may(target, range) == (bool(inside) or not allowed)
    assert surely(target, range) == (bool(allowed) and inside == allowed)


@settings(max_examples=examples(500))
@given(SPECS, RELEASES)
def test_below_and_from_a_version_are_complements(spec: str, release: str) -> None:
    target = Target("torch", spec, "x")
    below, onwards = f"<{release}", f">={release}"
    if surely(target, below):
        assert not may(target, onwards)
    if not may(target, below):
        assert surely(target, onwards)


@settings(max_examples=examples(500))
@given(st.lists(SPECS, min_size=2, max_size=3))
def test_no_file_rules_out_the_pin_of_another(options: list[str]) -> None:
    pins = [option for option in options if any(SpecifierSet(option).filter(GRID))]
    names = ["requirements-gpu.txt", "requirements-cpu.txt", "requirements-cuda.txt"]
    files: dict[str, str | bytes] = {name: f"torch{spec}" for name, spec in zip(names, pins, strict=False)}
    target = targets(Files(files), "x.py").get("torch")
    for spec in pins:
        if "==" in spec:
            assert may(target, spec)


@pytest.mark.timeout(LONG)
def test_hostile_constraints_take_no_time() -> None:
    """Seconds, where one way too many would take ages."""
    many = ",".join(f"!={n}.{n}" for n in range(60))
    specs(
        {
            "requirements.txt": "\n".join(f"torch!={n}.0.{n},!=9.9" for n in range(3000)),
            "requirements-gpu.txt": f"torch{many}\n" * 3000,
            "setup.py": "a = ['torch<9']\n"
            + "".join(f"a{n} = a{n - 1} + a{n - 1}\n" for n in range(1, 60))
            + "setup(install_requires=a59)",
        }
    )
    may(Target("torch", many, "x"), many)


# ------------------------------------------------------------------------------------------------ which files count


@pytest.mark.parametrize(
    "name",
    [
        *("requirements.txt", "requirements-train.in", "requirements_torch_2.4.txt", "my-requirements.txt"),
        *("requirements/anything.txt", "constraints.txt", "extra/../requirements.txt"),
    ],
)
def test_requirements_files_by_any_name(name: str) -> None:
    assert specs({name: "torch==2.4.1"}) == ({} if ".." in name else {"torch": "==2.4.1"})


def test_a_folder_of_requirements_belongs_to_the_project_around_it() -> None:
    files: dict[str, str | bytes] = {"a/requirements/gpu.txt": "torch==2.4.1", "a/src/x.py": ""}
    versions = Versions(Files(files))
    assert versions.root("a/src/x.py") == "a"
    assert versions.root("a/requirements/x.py") == "a"
    assert versions.manifests("a") == ["a/requirements/gpu.txt"]


PURPOSES: list[tuple[str, str]] = [
    ("requirements-onnx.txt", ""),
    ("requirements-dev.txt", ""),
    ("requirements/docs.txt", ""),
    ("environment-viewer.yml", ""),
    ("requirements-gpu.txt", "==2.4.1"),
    ("requirements-cu121.txt", "==2.4.1"),
    ("requirements/base.txt", "==2.4.1"),
]


@pytest.mark.parametrize(("name", "expected"), PURPOSES)
def test_a_pin_for_a_purpose_of_its_own_does_not_narrow(name: str, expected: str) -> None:
    pin = "dependencies:\n- pytorch==2.4.1" if name.endswith(".yml") else "torch==2.4.1"
    assert specs({"requirements.txt": "torch", name: pin}) == {"torch": expected}
    assert specs({name: pin}) == {"torch": "==2.4.1"}
    if name.endswith(".txt"):
        assert specs({"requirements.txt": f"torch\n-r {name}", name: "torch==2.4.1"}) == {"torch": "==2.4.1"}


def test_all_mentions_of_a_package_come_from_the_nearest_project_that_has_any() -> None:
    files: dict[str, str | bytes] = {
        "requirements.txt": "torch\npytorch-lightning",
        "a/requirements.txt": "-r sub/requirements.txt\nlightning>=2",
        "a/sub/requirements.txt": "lightning<3; os_name=='nt'",
    }
    versions = Versions(Files(files))
    found = {name: versions.requirements("a", name) for name in ("torch", "lightning", "pytorch-lightning", "peft")}
    assert [path for path, _ in found["lightning"]] == ["a/requirements.txt", "a/sub/requirements.txt"]
    assert found["pytorch-lightning"] == found["lightning"]
    assert [(path, each.package) for path, each in found["torch"]] == [("requirements.txt", "torch")]
    assert found["peft"] == []
    assert versions.requirements("", "lightning")[0][1].package == "pytorch-lightning"
    (_, lightning), _ = found["lightning"]
    supposed = versions.supposing("a", "lightning", {lightning: (">=2.5",)})
    assert supposed is not None
    assert supposed.spec == ">=2.5"
    assert versions.supposing("a", "peft", {}) is None


def test_what_cannot_be_read_is_noted_once_with_its_line() -> None:
    versions = Versions(
        Files({"requirements.txt": "peft\ntorch=>2.4\n", "pyproject.toml": "[project]\n[[", "x/setup.py": "("})
    )
    for path in ("x/y.py", "x.py", "x/y.py"):
        versions.allowed(path)
    assert versions.notes == [
        "x/setup.py: its versions cannot be read: line 1: '(' was never closed",
        "pyproject.toml: its versions cannot be read: line 2: Invalid initial character for a key part",
        "requirements.txt: line 2: torch: nobody reads the constraint =>2.4",
    ]


def notebook(*lines: str) -> str:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": list(lines)}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_what_a_notebook_installs_comes_before_its_project() -> None:
    files: dict[str, str | bytes] = {
        "requirements.txt": "torch==2.8\npeft==0.13\ntransformers==5.0",
        "old/requirements.txt": "torch==1.13",
        "a.ipynb": notebook("!pip install -q torch==2.4.1 lightning transformers\n", "%pip install -U peft\n"),
        "b.ipynb": notebook("!pip install -r old/requirements.txt\n", "!pip install -r ../x.txt\n"),
        "../x.txt": "torch==1.12",
        "c.ipynb": notebook("print(1)\n"),
        "d.ipynb": "no notebook",
    }

    def of(path: str, **overrides: str) -> dict[str, str]:
        return {name: target.spec for name, target in Versions(Files(files), overrides).allowed(path).items()}

    project = {"torch": "==2.8", "peft": "==0.13", "transformers": "==5.0"}
    assert of("a.ipynb") == {"torch": "==2.4.1", "peft": "", "transformers": "==5.0"}
    assert of("a.ipynb", torch="==2.9") == {"torch": "==2.9", "peft": "", "transformers": "==5.0"}
    assert of("b.ipynb") == {**project, "torch": "==1.13"}
    assert of("c.ipynb") == of("d.ipynb") == of("train.py") == project


# -------------------------------------------------------------------------------------------- specs of requirements


def test_some_every_and_meet() -> None:
    assert (some((">=2,<3",), ">=2.5"), every((">=2,<3",), ">=2.5")) == (True, False)
    assert (some(("==2.1", "==2.4"), "<2"), every(("==2.1", "==2.4"), ">=2")) == (False, True)
    assert (some(None, ">=2"), every(None, ">=0")) == (True, False)
    assert (some(("",), "<2"), every(("",), ">=0.1")) == (True, False)
    assert meet((">=2",), ("<2", "==2.4"))
    assert not meet((">=2",), ("<2",))
    assert meet(("",), ("==2.4",))
    assert meet(None, ("==2.4",))
