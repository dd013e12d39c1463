"""The campaign file is read strictly; a repository counts once, however it is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import git, repository

from codemods.model.plan import Target
from fixer.bulk.campaign import CampaignLimits, PullRequests, load_campaign
from fixer.bulk.repositories import targets
from fixer.errors import Refusal
from fixer.output.split import Split

WHOLE = """
name = "amp-2026"
repositories = ["a", "b"]
repositories-from = "more.txt"
base = "develop"
branch = "bot/{campaign}"
split = "directory:2"
max-files = 5
verify = "pytest -q"
engine = "ray"
state = "elsewhere.sqlite"
select = ["AMP,PL001"]
ignore = ["AMP010"]
unsafe-fixes = true
exclude = ["legacy/"]

[strategies]
AMP001 = "clear-cache"

[targets]
torch = "2.4"

[commit]
ticket = "ML-12"
trailers = ["Reviewed-by=Bo"]

[pull-request]
title = "{campaign}: {title}"
labels = ["amp"]
draft = true

[limits]
concurrent = 3
per-hour = 20
open-at-once = 50
"""


def load(tmp: Path, text: str) -> object:
    file = tmp / "CAMPAIGN.toml"
    file.write_bytes(text.encode())
    return load_campaign(file)


def test_the_least(tmp_path: Path) -> None:
    (tmp_path / "CAMPAIGN.toml").write_text('name = "x"\nrepositories = []\n')
    campaign = load_campaign(tmp_path / "CAMPAIGN.toml")
    assert campaign.branch_name == "fixer/x"
    assert campaign.state == tmp_path / "CAMPAIGN.sqlite"
    assert campaign.request.unsafe_fixes is False, "it is the campaign's to say"
    assert (campaign.limits, campaign.pull_requests) == (CampaignLimits(), PullRequests(open=False))


def test_everything(tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("\ufeffc\n# no\n\n  d  \n")
    (tmp_path / "CAMPAIGN.toml").write_text(WHOLE)
    campaign = load_campaign(tmp_path / "CAMPAIGN.toml")
    assert campaign.repositories == ("a", "b", "c", "d")
    assert (campaign.branch_name, campaign.base) == ("bot/amp-2026", "develop")
    assert campaign.split == Split("directory", 2, 5)
    assert campaign.state == tmp_path / "elsewhere.sqlite"
    assert campaign.request.select == ("AMP", "PL001")
    assert campaign.request.strategies == ("AMP001=clear-cache",)
    assert campaign.request.targets == (Target("torch", "==2.4.*", "CAMPAIGN.toml", given=True),)
    assert campaign.request.unsafe_fixes is True
    assert campaign.limits == CampaignLimits(concurrent=3, per_hour=20, open_at_once=50)
    assert campaign.pull_requests == PullRequests(open=True, title="{campaign}: {title}", labels=("amp",), draft=True)
    assert (campaign.commit.ticket, campaign.commit.trailers) == ("ML-12", ("Reviewed-by=Bo",))


def test_the_example_of_the_page(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "campaigns.md").read_text()
    example = page.partition("```toml\n# CAMPAIGN.toml\n")[2].partition("```")[0]
    (tmp_path / "CAMPAIGN.toml").write_text(example)
    campaign = load_campaign(tmp_path / "CAMPAIGN.toml")
    assert campaign.pull_requests.open and campaign.limits.per_hour == 20


def test_the_mark_is_that_of_what_is_planned(tmp_path: Path) -> None:
    def mark(text: str) -> str:
        (tmp_path / "CAMPAIGN.toml").write_text(text)
        return load_campaign(tmp_path / "CAMPAIGN.toml").mark

    least = 'name = "x"\nrepositories = []\n'
    assert mark(least) == mark(least + "limits.concurrent = 7\n") == mark('name = "x"\nrepositories = ["a"]\n')
    others = {mark(least + text) for text in ("unsafe-fixes = true\n", 'verify = "x"\n', 'split = "project"\n')}
    assert len(others) == 3 and mark(least) not in others


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("concurent = 3", "CAMPAIGN.toml:3: unknown key `concurent`: did you mean `limits.concurrent`?"),
        ("unsafe-fixs = true", "CAMPAIGN.toml:3: unknown key `unsafe-fixs`: did you mean `unsafe-fixes`?"),
        (
            "[limits]\n\nper-hours = 1",
            "CAMPAIGN.toml:5: unknown key `limits.per-hours`: did you mean `limits.per-hour`?",
        ),
        (
            "limits.concurent = 1",
            "CAMPAIGN.toml:3: unknown key `limits.concurent`: did you mean `limits.concurrent`?",
        ),
        ("[pull-request]\nlables = []", "CAMPAIGN.toml:4: unknown key `pull-request.lables`: did you mean"),
        ("[commit]\nsign-off = true", "CAMPAIGN.toml:4: unknown key `commit.sign-off`: did you mean `commit.signoff`?"),
        ("limits.concurrent = 0", "CAMPAIGN.toml:3: `limits.concurrent` must be a whole number above 0"),
        ("limits.per-hour = true", "CAMPAIGN.toml:3: `limits.per-hour` must be a whole number above 0"),
        ("[limits]\nsplit = 'x'", "CAMPAIGN.toml:4: unknown key `limits.split`: did you mean `split`?"),
        ("zzz = 1", "CAMPAIGN.toml:3: unknown key `zzz`: known keys are name, repositories"),
        ("limits = 3", "CAMPAIGN.toml:3: `limits` must be a table"),
        ('select = "AMP"', "CAMPAIGN.toml:3: `select` must be a list of strings"),
        ('select = ["AMP0001"]', "CAMPAIGN.toml:3: the campaign: there is no rule 'AMP0001'; did you mean AMP001"),
        ('strategies.AMP001 = "burn"', "CAMPAIGN.toml:3: the campaign: AMP001 has no strategy 'burn'; choose one of"),
        ('targets.torch = "two"', "CAMPAIGN.toml:3: `targets` 'torch=two': 'two' is no version; write PACKAGE=VERSION"),
        ('targets.troch = "2.4"', "CAMPAIGN.toml:3: `targets` 'troch=2.4': nothing depends on"),
        ('exclude = ["[z-a]"]', "CAMPAIGN.toml:3: '[z-a]' is not a path pattern"),
        ('split = "owner"', "CAMPAIGN.toml:3: `split` 'owner': write codeowners, project, or directory:N"),
        ("max-files = 3", "`max-files` requires `split`"),
        ('branch = "x/{campagin}"', "CAMPAIGN.toml:3: the template: there is no {campagin}; there are campaign"),
        ('pull-request.title = "{titel}"', "CAMPAIGN.toml:3: the template: there is no {titel}"),
        ('commit.trailers = ["x"]', "CAMPAIGN.toml:3: trailer 'x': write KEY=VALUE"),
        ('engine = "slurm"', "CAMPAIGN.toml:3: `engine` must be one of local, ray"),
        ('verify = " "', "CAMPAIGN.toml:3: `verify` must be a string that is not empty"),
        ("[verify-limits]\nsteps = 3", "CAMPAIGN.toml: `verify-limits` requires `verify`"),
        ('repositories-from = "none.txt"', "CAMPAIGN.toml:3: `repositories-from`:"),
        ("name =", "CAMPAIGN.toml: not valid TOML: line 3:"),
        ('name = "y"', "CAMPAIGN.toml: not valid TOML: line 3:"),
    ],
)
def test_a_typo_names_its_line_and_what_comes_close(tmp_path: Path, line: str, sentence: str) -> None:
    with pytest.raises(Refusal) as refusal:
        load(tmp_path, f'name = "x"\nrepositories = []\n{line}\n')
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("repositories = []", "`name` is missing: call the campaign something"),
        ('name = "x"', "`repositories` is missing: list paths, globs or URLs"),
        ('name = "a b"\nrepositories = []', "CAMPAIGN.toml:1: `name` must be letters, digits"),
        ('name = "../x"\nrepositories = []', "CAMPAIGN.toml:1: `name` must be letters, digits"),
    ],
)
def test_what_every_campaign_says(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(Refusal) as refusal:
        load(tmp_path, text)
    assert sentence in str(refusal.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "CAMPAIGN.toml").write_bytes(b"name = '\xff'")
    for name, sentence in (("CAMPAIGN.toml", "is not UTF-8"), ("none", "No such file"), (".", "Is a directory")):
        with pytest.raises(Refusal, match=sentence):
            load_campaign(tmp_path / name)


def test_one_repository_under_many_names(tmp_path: Path) -> None:
    root = repository(tmp_path / "a", {"x.py": "1\n"})
    git("worktree", "add", "-q", "../linked", at=root)
    (tmp_path / "symbolic").symlink_to("a")
    names = ["a", "./a/", "a/../a", str(root), f"file://{root}", "symbolic", "linked", "[a]", "a"]
    found, notes = targets(names, tmp_path)
    assert [target.name for target in found] == ["a"]
    assert notes[0] == "./a/ is the repository a, listed twice: it is worked on once"
    assert len(notes) == len(names) - 2, "one sentence for each spelling"


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (
            (
                "https://Git.example.org/ml/x.git",
                "https://git.example.org:443/ml/x",
                "https://me@git.example.org/ml/x/",
                "git@git.example.org:ml/x.git",
                "ssh://git@git.example.org/ml/x",
                "ssh://git@git.example.org:22/ml/x",
            ),
            "git.example.org/ml/x",
        ),
        (("ssh://git@git.example.org:2222/ml/x",), "git.example.org:2222/ml/x"),
    ],
)
def test_one_url_in_many_spellings(tmp_path: Path, names: tuple[str, ...], key: str) -> None:
    found, _ = targets(names, tmp_path)
    assert [(target.key, target.problem) for target in found] == [(key, "")]


@pytest.mark.parametrize(
    "name",
    ["https://ghp_0123456789@github.com/a/b", "https://u:p@example.org/a", "https://glpat-xyz@gitlab.com/a/b"],
)
def test_a_secret_goes_no_further(tmp_path: Path, name: str) -> None:
    (target,), _ = targets([name], tmp_path)
    assert target.problem.startswith("take the password or token out")
    assert "@" not in repr(target)


@pytest.mark.parametrize("name", ["-x", "--upload-pack=x", "ext::sh -c true", "", " ", "a\nb", "ftp://x/y", "https://"])
def test_what_is_no_repository(tmp_path: Path, name: str) -> None:
    (target,), _ = targets([name], tmp_path)
    assert target.problem
