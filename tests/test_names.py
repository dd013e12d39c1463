"""The tables of removed names: their schema, and what the installed libraries say of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from codemods.frameworks.removed_names.tables import LISTED, gone_names
from tests.gone_names import NEWEST
from tests.names import LIBRARIES, SECTIONS, TABLES, Row, check, rows, tables
from tests.releases import Library, Release

RULES = {"HF006", "HF007", "HF009", "HF010", "HF014", "HF015", "HF017", "HF022", "SCH004", "DST010",
         "PL103", "PL104", "PL105", "PL106", "VER009"}  # fmt: skip
STRINGS = ("new", "was", "since", "deprecated", "gone", "decide", "source", "unchecked")
KINDS: dict[str, tuple[type, ...]] = dict.fromkeys(STRINGS, (str,)) | {
    "values": (dict,), "harmless": (list,), "drop": (list,), "add": (list,), "unless": (list,), "given": (list,),
    "but": (list,), "position": (int,), "silent": (bool,), "below": (int,), "boolean": (bool,), "takes": (list,),
    "without": (list,), "excludes": (list,),
    "stored": (bool,), "also": (list,),
}  # fmt: skip
ALL = {name: list(rows(table)) for name, table in tables().items()}
INSTALLED = [name for name in LIBRARIES if name != "trl"]


def test_there_are_enough_rows() -> None:
    assert sum(map(len, ALL.values())) >= 250 and len(ALL) == 7 and all(ALL.values())


@pytest.mark.parametrize("name", LIBRARIES)
def test_schema(name: str) -> None:
    table = tables()[name]
    assert table["library"] == name and not set(table) - {
        "library",
        "inherits",
        "fields",
        "members",
        "requires",
        "companions",
        "needs",
        "telling",
        "generation",
        "tokens",
        "unread",
        "of_the_class",
        *SECTIONS,
    }
    assert all(isinstance(bases, list) for bases in table.get("inherits", {}).values())
    told = ("argument", "attribute", "hook")
    assert set(table.get("telling", ())) <= {row.old for row in ALL[name] if row.section in told}
    assert not [f"{row.label}: {problem}" for row in ALL[name] for problem in _problems(row)]


def _problems(row: Row) -> Iterator[str]:
    data, kind = row.data, row.data["kind"]
    yield from (f"unknown or wrong {key}" for key, value in data.items()
                if key not in ("rule", "kind") and not isinstance(value, KINDS.get(key, ())))  # fmt: skip
    if (data.get("rule") in RULES) is (row.section == "default"):
        yield "rule"
    if kind not in ({"default"} if row.section == "default" else {"rename", "delete", "decision"}):
        yield "kind"
    if kind == "rename" and "new" not in data:
        yield "a rename without `new`"
    of_another = row.section == "name" and data.get("new", "").split(".")[0] not in row.old
    if kind == "rename" and "since" not in data and row.section != "value" and not of_another:
        yield "since when is there `new`? (an older release is no floor)"
    if kind == "delete" and {"new", "values"} & set(data):
        yield "a deletion with a new name"
    if ("decide" in data) is not (kind in ("decision", "default") or (kind == "delete" and "harmless" in data)):
        yield "`decide` is missing, or nobody reads it"
    if not data.get("decide", ".").endswith("."):
        yield "`decide` is no sentence"
    if row.section == "signature" and not {"drop", "add"} & set(data):
        yield "which parameters?"
    if not {"deprecated", "gone"} & set(data) or not data.get("source"):
        yield "no version or no source"
    versions = {key: Version(data[key]) for key in ("since", "deprecated", "gone") if key in data}
    if "gone" in versions and versions["gone"] <= versions.get("deprecated", Version("0")):
        yield "gone before it was deprecated"
    for old, new in data.get("values", {}).items():
        ast.literal_eval(old), ast.literal_eval(new)


@pytest.mark.parametrize("name", LIBRARIES)
def test_rows_are_sorted(name: str) -> None:
    for _, group in _groups(ALL[name]):
        assert group == sorted(group)
    text = (TABLES / f"{name}.toml").read_text(encoding="utf-8")
    assert sum(" = { " in line and " kind = " in line for line in text.splitlines()) == len(
        ALL[name]
    )  # a line for each


def _groups(found: list[Row]) -> Iterator[tuple[object, list[str]]]:
    groups: dict[object, list[str]] = {}
    for row in found:
        groups.setdefault((row.section, row.owner, row.argument), []).append(row.old)
    yield from groups.items()


@cache
def _installed(name: str) -> Library:
    return Library(name, offline=True)


@pytest.mark.torch
@pytest.mark.parametrize("name", INSTALLED)
def test_installed_release_agrees(name: str) -> None:
    library = _installed(name)
    newest = max(version for row in ALL[name] for version in row.versions())
    if library.versions[0] < newest and name != "transformers":
        pytest.skip(f"{name} {library.versions[0]} is older than the tables")
    assert not [f"{row.label}: {problem}" for row in ALL[name] for problem in check(row, library)]


OLD = """
import warnings
from enum import Enum
def call(*, plain=False, kept=1, other=None): ...
class Choice(Enum):
    A = "a"
    B = "b"
class Owner:
    def __init__(self, first, second, gone=None, choice="a", **kwargs):
        if kwargs.pop("taken", None): warnings.warn("taken is deprecated")
        self.read = 1
    def method(self, batch, extra): ...
"""
NEW = """
from enum import Enum
def call(*, kept=1, fresh=None, other=None): ...
class Choice(Enum):
    A = "a"
class Owner:
    def __init__(self, first, second, choice="a", **kwargs): ...
    def method(self, batch, more): ...
def added(): ...
"""
TRUE: dict[tuple[str, str, str, str], dict[str, Any]] = {
    ("argument", "toy.call", "", "plain"): {"kind": "rename", "new": "fresh", "since": "3.0", "gone": "3.0"},
    ("argument", "toy.Owner", "", "taken"): {"kind": "delete", "deprecated": "2.0", "gone": "3.0"},
    ("argument", "toy.Owner", "", "gone"): {"kind": "delete", "gone": "3.0", "position": 2, "harmless": ["None"]},
    ("value", "toy.Owner", "choice", "b"): {"kind": "rename", "new": "a", "gone": "3.0"},
    ("attribute", "toy.Owner", "", "read"): {"kind": "decision", "gone": "3.0"},
    ("name", "", "", "toy.Choice.B"): {"kind": "rename", "new": "toy.added", "since": "3.0", "gone": "3.0"},
    ("signature", "toy.Owner", "", "method"): {"kind": "delete", "drop": ["extra"], "add": ["more"], "gone": "3.0"},
}
FALSE: list[tuple[str, dict[str, Any], str]] = [
    ("plain", {"new": "wrong"}, "wrong is not accepted in 3.0"),
    ("plain", {"gone": "2.0"}, "plain is accepted in 2.0"),
    ("plain", {"gone": "4.0", "since": "4.0"}, "fresh is accepted in 3.0"),
    ("plain", {"since": "2.0"}, "fresh is not accepted in 2.0"),
    ("taken", {"deprecated": "3.0"}, "nothing warns of taken in 3.0"),
    ("taken", {"gone": None}, "taken cannot be read in 4.0"),
    ("gone", {"position": 1}, "position 2 in 2.0"),
    ("gone", {"harmless": [0]}, "harmless lacks the default None"),
    ("b", {"new": "z"}, "z is not accepted in 4.0"),
    ("read", {"gone": "4.0"}, "read is not accepted in 3.0"),
    ("toy.Choice.B", {"new": "toy.missing"}, "toy.missing is not accepted in 3.0"),
    ("method", {"drop": ["batch"]}, "method cannot be read in 3.0"),
]


def _library(folder: Path) -> Library:
    library = Library("toy", offline=True)
    library.versions = [Version(version) for version in ("1.0", "2.0", "3.0", "4.0")]
    for version in library.versions:
        root = folder / str(version)
        (root / "toy").mkdir(parents=True)
        (root / "toy/__init__.py").write_text(OLD if version < Version("3.0") else NEW, encoding="utf-8")
        library._releases[version] = Release(version, {"toy": root})
    return library


def test_false_rows_are_reported(tmp_path: Path) -> None:
    library = _library(tmp_path)
    named = {key[3]: Row("toy", *key, data) for key, data in TRUE.items()}
    assert not {name: problems for name, row in named.items() if (problems := list(check(row, library)))}
    for old, changed, said in FALSE:
        row = named[old]
        data = {key: value for key, value in {**row.data, **changed}.items() if value is not None}
        found = list(check(Row("toy", row.section, row.owner, row.argument, old, data), library))
        assert said in found, (old, changed, found)


@pytest.mark.torch
def test_false_rows_of_the_tables_are_reported() -> None:
    """The same of real rows, with what the installed releases show."""
    wrong: list[tuple[str, str, dict[str, Any]]] = [
        ("transformers", "evaluation_strategy", {"new": "evaluate_strategy"}),
        ("transformers", "no_cuda", {"gone": None}),
        ("transformers", "transformers.AutoModelForVision2Seq", {"new": "transformers.AutoModelForImageToText"}),
        ("lightning", "replace_sampler_ddp", {"new": "distributed_sampler"}),
        ("lightning", "gpus", {"gone": None}),
        ("lightning", "pytorch_lightning.core.lightning.LightningModule", {"gone": None}),
        ("accelerate", "float16", {"new": "half"}),
        ("accelerate", "even_batches", {"gone": None}),
        ("peft", "peft.prepare_model_for_int8_training", {"gone": None}),
        ("torch", "broadcast_buffers", {"gone": "2.13.0"}),
    ]
    for name, old, changed in wrong:
        library = _installed(name)
        row = next(row for row in ALL[name] if row.old == old)
        assert not list(check(row, library)), row
        data = {key: value for key, value in {**row.data, **changed}.items() if value is not None}
        assert list(check(Row(name, row.section, row.owner, row.argument, old, data), library)), (old, changed)


@pytest.mark.torch
@pytest.mark.parametrize("name", ["accelerate", "datasets", "lightning", "peft", "torch", "transformers", "trl"])
def test_what_the_installed_release_requires(name: str) -> None:
    found = metadata.metadata("pytorch-lightning" if name == "lightning" else name)
    asked = tables()[name]["requires"].get(found["Version"])
    if asked is None:
        pytest.skip(f"no table says what {name} {found['Version']} requires")
    every = [Requirement(each) for each in found.get_all("Requires-Dist") or ()]
    real = {canonicalize_name(each.name): each.specifier for each in every if each.marker is None and each.specifier}
    assert {package: SpecifierSet(text) for package, text in asked.items()} == {
        **real,
        "python": SpecifierSet(found["Requires-Python"]),
    }


@pytest.mark.torch
@pytest.mark.parametrize("name", [name for name in LISTED if name in INSTALLED])
def test_listed_names_are_gone_from_the_installed_release(name: str) -> None:
    library = _installed(name)
    release = library.release(library.versions[0])
    mine = {old: row for old, row in gone_names().items() if row.library == name}
    assert mine and all(Version(row.gone) <= Version(NEWEST[name]) for row in mine.values())
    if library.versions[0] >= Version(NEWEST[name]):
        assert [row.old for row in mine.values() if release.find(row.old) is not None] == []
    assert release.find(PRESENT[name]) is not None, "what the release has is found"


PRESENT = {
    "accelerate": "accelerate.Accelerator",
    "datasets": "datasets.load_dataset",
    "lightning": "pytorch_lightning.Trainer",
    "peft": "peft.LoraConfig",
    "transformers": "transformers.Trainer",
    "trl": "trl.SFTTrainer",
}
