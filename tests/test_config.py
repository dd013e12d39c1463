"""Settings: where they come from, how they add up, and what is said about wrong ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from memory import Memory
from world import fixer, write

from codemods.model.plan import Target
from fixer.errors import Refusal
from fixer.project.configuration import CommitSettings, Settings, cascade
from fixer.report.terminal import what_is_left
from fixer.run.execute import no_progress
from fixer.run.request import Request, plan_directory

CALLS = "old_one(1)\nold_two(2)\n"


def _codes(root: Path, *arguments: str) -> list[str]:
    found = json.loads(fixer("check", "--format", "json", *arguments, at=root).out)["findings"]
    return [f"{finding['path']} {finding['code']}" for finding in found]


def test_without_files_everything_has_its_default() -> None:
    assert cascade(Memory({}))("some/where") == Settings()


def test_a_pyproject_without_our_table_says_nothing() -> None:
    of = cascade(Memory({"pyproject.toml": "[tool.other]\nselect = 1\n", "sub/pyproject.toml": "broken ["}))
    assert of("sub") == Settings()


def test_all_keys() -> None:
    text = """
        [tool.fixer]
        select = ["AMP"]
        ignore = ["AMP002"]
        unsafe-fixes = true
        exclude = ["old", "/tests/data/*.py"]
        include-vendored = true
        [tool.fixer.strategies]
        AMP001 = "clear-cache"
        [tool.fixer.targets]
        torch = "2.4"
        [tool.fixer.per-file-ignores]
        "scripts/*.py" = ["PL"]
        [tool.fixer.commit]
        subject = "s"
        body = "b"
        author = "A <a@b>"
        signoff = true
        trailers = ["K=V"]
    """
    assert cascade(Memory({"pyproject.toml": text}))("any") == Settings(
        select=("AMP",),
        ignore=("AMP002",),
        unsafe_fixes=True,
        strategies={"AMP001": "clear-cache"},
        targets={"torch": Target("torch", "==2.4.*", "[tool.fixer] of pyproject.toml", given=True)},
        exclude=("**/old", "tests/data/*.py"),
        include_vendored=True,
        per_file_ignores=(("scripts/*.py", ("PL",)),),
        commit=CommitSettings("s", "b", "A <a@b>", True, ("K=V",)),
        sources=("pyproject.toml",),
    )


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ('pytorch = "2.4"', "did you mean torch=2.4?"),
        ('troch = "==2.4"', "did you mean torch==2.4?"),
        ('torch = "abc"', "'abc' is no version"),
    ],
)
def test_targets_that_mean_nothing_are_refused(tmp_path: Path, table: str, why: str) -> None:
    write(tmp_path, {"sub/pyproject.toml": f"[tool.fixer.targets]\n{table}\n", "sub/a.py": CALLS, "b.py": CALLS})
    answer = fixer("check", at=tmp_path)
    assert answer.code == 2 and "b.py:1:1" in answer.text and "sub/a.py" not in answer.text
    assert "fixer: sub/pyproject.toml: targets '" in answer.err and why in answer.err


def test_targets_say_where_they_are_from(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pyproject.toml": '[tool.fixer.targets]\ntorch = ">=2.4,<3"\npeft = "==0.13.2"\nlightning = "2.2"\n',
            "requirements.txt": "torch==2.11\naccelerate==1.2\n",
            "sub/fixer.toml": 'targets.lightning = "2.5"\n',
            "sub/a.py": CALLS,
        },
    )
    told = json.loads(fixer("check", "--format", "json", "--target", "peft=0.14", at=tmp_path).out)
    (project,) = told["projects"]
    assert {name: (each["spec"], each["from"]) for name, each in project["targets"].items()} == {
        "accelerate": ("==1.2", "requirements.txt"),
        "torch": (">=2.4,<3", "[tool.fixer] of pyproject.toml"),
        "lightning": ("==2.5.*", "sub/fixer.toml"),
        "pytorch-lightning": ("==2.5.*", "sub/fixer.toml"),
        "peft": ("==0.14.*", "--target"),
    }


def test_the_nearer_file_wins_and_the_outer_shows_through() -> None:
    of = cascade(
        Memory(
            {
                "pyproject.toml": '[tool.fixer]\nselect = ["A"]\nignore = ["B"]\nexclude = ["x"]\n'
                '[tool.fixer.strategies]\nA1 = "p"\nA2 = "q"\n',
                "sub/fixer.toml": 'select = ["C"]\nexclude = ["y/z.py"]\n[strategies]\nA2 = "r"\n',
                "sub/pyproject.toml": "[tool.fixer]\nselect = []\n",
            }
        )
    )
    assert of("sub/deeper") == Settings(
        select=("C",),
        ignore=("B",),
        strategies={"A1": "p", "A2": "r"},
        exclude=("**/x", "sub/y/z.py"),
        sources=("pyproject.toml", "sub/fixer.toml"),
    )
    assert of("elsewhere").select == ("A",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[tool.fixer", "pyproject.toml is not valid TOML (Expected ']'"),
        ("\xff", "pyproject.toml is not valid TOML"),
        ("[tool]\nfixer = 1", "pyproject.toml: `fixer` must be a table"),
        ("[tool.fixer]\nselct = []", "pyproject.toml: unknown key `selct`: did you mean `select`?"),
        ("[tool.fixer]\nzzz = []", "pyproject.toml: unknown key `zzz`: known keys are select, ignore"),
        ("[tool.fixer]\nselect = 'AMP'", "pyproject.toml: `select` must be a list of strings"),
        ("[tool.fixer]\nunsafe-fixes = 1", "pyproject.toml: `unsafe-fixes` must be true or false"),
        ("[tool.fixer]\nstrategies = []", "pyproject.toml: `strategies` must be a table of strings"),
        ("[tool.fixer]\ncommit = 1", "pyproject.toml: `commit` must be a table"),
        ("[tool.fixer.commit]\nsubjekt = ''", "unknown key `commit.subjekt`: did you mean `commit.subject`?"),
        ("[tool.fixer.commit]\nbody = 1", "`commit.body` must be a string"),
        ("[tool.fixer]\nper-file-ignores = {a = 'X'}", "`per-file-ignores` must be a list of strings"),
        ("[tool.fixer]\nexclude = ['[z-a]']", "pyproject.toml: '**/[z-a]' is not a path pattern"),
    ],
)
def test_wrong_files_are_named_with_what_is_wrong(text: str, sentence: str) -> None:
    with pytest.raises(Refusal) as caught:
        cascade(Memory({"pyproject.toml": text.encode("latin-1")}))("")
    assert sentence in str(caught.value)


def test_a_broken_root_file_ends_the_run_and_isolated_goes_around_it(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": CALLS, "pyproject.toml": "this is no toml"})
    result = fixer("check", at=tmp_path)
    assert (result.code, result.out) == (2, b"")
    assert "repair it, or run with --isolated" in result.err
    assert fixer("check", "--isolated", at=tmp_path).code == 1


def test_a_broken_nested_file_costs_only_its_own_directory(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": CALLS, "sub/b.py": CALLS, "sub/pyproject.toml": "[tool.fixer]\nselect = ['XYZ']\n"})
    result = fixer("check", at=tmp_path)
    assert result.code == 2
    assert result.text.count("a.py") == 2 and "b.py" not in result.text
    assert "sub/pyproject.toml: select: there is no rule 'XYZ'" in result.err


def test_each_directory_has_its_own_settings(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pyproject.toml": '[tool.fixer]\nselect = ["OLD001"]\n',
            "a.py": CALLS,
            "sub/b.py": CALLS,
            "sub/fixer.toml": 'select = ["OLD002"]\n',
        },
    )
    assert _codes(tmp_path) == ["a.py OLD001", "sub/b.py OLD002"]
    assert _codes(tmp_path, "--select", "OLD") == [
        "a.py OLD001",
        "a.py OLD002",
        "sub/b.py OLD001",
        "sub/b.py OLD002",
    ]
    fixer("apply", at=tmp_path)
    assert (tmp_path / "a.py").read_text() == "new_one(1)\nold_two(2)\n"
    assert (tmp_path / "sub/b.py").read_text() == "old_one(1)\nold_one(2)\n"


def test_ignores_by_file(tmp_path: Path) -> None:
    settings = '[per-file-ignores]\n"test_*.py" = ["OLD"]\n"sub/" = ["OLD001"]\n"a.py" = ["OLD002"]\n'
    write(tmp_path, {"fixer.toml": settings, "a.py": CALLS, "x/test_b.py": CALLS, "sub/deep/c.py": CALLS})
    assert _codes(tmp_path) == ["a.py OLD001", "sub/deep/c.py OLD002"]


def test_a_named_file_replaces_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": CALLS, "fixer.toml": 'select = ["OLD001"]\n', "other.toml": 'select = ["OLD002"]\n'})
    assert _codes(tmp_path, "--config", "other.toml") == ["a.py OLD002"]
    assert _codes(tmp_path, "--isolated") == ["a.py OLD001", "a.py OLD002"]


def test_unsafe_fixes_by_setting_and_back(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "old_three(1)\n", "fixer.toml": "unsafe-fixes = true\n"})
    assert fixer("apply", "--dry-run", at=tmp_path).code == 1
    assert fixer("apply", "--dry-run", "--no-unsafe-fixes", at=tmp_path).code == 0


def test_a_campaign_is_not_told_of_an_option_that_it_does_not_have() -> None:
    for only_ignores, said in ((True, "repair it"), (False, "repair it, or run with --isolated")):
        with pytest.raises(Refusal) as refused:
            cascade(Memory({"fixer.toml": b"= x"}), only_ignores=only_ignores)("")
        assert str(refused.value).endswith(f": {said}")


def test_what_could_not_be_fixed_is_not_promised_to_another_run(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "from torch.cuda.amp import autocast\nwith autocast():\n    pass\n"})
    found = plan_directory(Request(cache=False), tmp_path, fix=False, progress=no_progress).plan
    (said,) = what_is_left(found, frozenset(), "fixed")
    assert said == "1 could not be fixed together with the others: `fixer check` says what is left of them."
