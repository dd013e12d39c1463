"""CODEOWNERS, as the documentation of GitHub and of GitLab says it is read."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from memory import Memory
from world import git, repository

from fixer.git.owners import Owners, find, lives_on_gitlab, parse


def github(*lines: str) -> Owners:
    return parse("\n".join(lines).encode(), "CODEOWNERS", gitlab=False)


def gitlab(*lines: str) -> Owners:
    return parse("\n".join(lines).encode(), "CODEOWNERS", gitlab=True)


def test_an_empty_file_names_nobody() -> None:
    for read in (github, gitlab):
        assert read().of("a.py") == ()
        assert read("# only", "", "  # comments").of("a.py") == ()
        assert read("# only", "", "  # comments").problems == ()


GITHUB = [
    ("*", "a.py", True),
    ("*", ".hidden/a.py", True),
    ("*.py", "deep/er/a.py", True),
    ("*.py", "a.pyc", False),
    ("/build/logs/", "build/logs/x/y.txt", True),
    ("/build/logs/", "a/build/logs/y.txt", False),
    ("/build/logs/", "build/logs", False),
    ("docs/*", "docs/start.md", True),
    ("docs/*", "docs/app/start.md", False),
    ("docs/*", "a/docs/start.md", False),
    ("apps/", "a/b/apps/x.py", True),
    ("apps/", "apps", False),
    ("/docs/", "docs/a/b", True),
    ("/docs", "docs/a/b", True),
    ("docs", "a/docs/b", True),
    ("docs/app", "docs/app/x", True),
    ("docs/app", "a/docs/app/x", False),
    ("**/logs", "deeply/nested/logs/x", True),
    ("**/logs", "logs", True),
    ("/a/**/z.py", "a/z.py", True),
    ("/a/**/z.py", "a/b/c/z.py", True),
    ("/a/**", "a/b/c", True),
    ("/a/**", "a", False),
    ("**", "a/b", True),
    ("a?c.py", "abc.py", True),
    ("a?c.py", "a/c.py", False),
    ("a.b", "axb", False),
    (r"with\ space/", "with space/x.py", True),
    (r"with\ space.py", "with", False),
    ("a#b.py", "a#b.py", True),
    ("A.py", "a.py", False),
]
GITLAB = [
    ("*", "a/b.py", True),
    ("*.rb", "a/.b.rb", True),
    ("README.md", "internal/README.md", True),
    ("/README.md", "internal/README.md", False),
    ("internal/README.md", "docs/api/internal/README.md", True),
    ("/docs/", "docs/a/b.md", True),
    ("/docs", "docs/a.md", False),
    ("docs", "a/docs", True),
    ("lib/", "a/lib/b/c.rb", True),
    ("/docs/*", "docs/a.md", True),
    ("/docs/*", "docs/a/b.md", False),
    ("/docs/**/*.md", "docs/b.md", True),
    ("/docs/**/*.md", "docs/a/b.md", True),
    ("/docs/**", "docs/a/b.md", False),
    ("/docs/*spec*", "docs/qa_specs.rb", True),
    ("/docs/*/README.md", "docs/a/b/README.md", False),
    (r"\#file.rb", "a/#file.rb", True),
    (r"path\ with\ spaces/*.md", "path with spaces/a.md", True),
    ("/[ab].py", "a.py", True),
    ("/[!ab].py", "a.py", False),
    ("/[^ab].py", "c.py", True),
    ("/a[", "a[", True),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), GITHUB)
def test_patterns_of_github(pattern: str, path: str, expected: bool) -> None:
    owners = github(f"{pattern} @ada")
    assert (owners.of(path), owners.problems) == (("@ada",) if expected else (), ())


@pytest.mark.parametrize(("pattern", "path", "expected"), GITLAB)
def test_patterns_of_gitlab(pattern: str, path: str, expected: bool) -> None:
    owners = gitlab(f"{pattern} @ada")
    assert (owners.of(path), owners.problems) == (("@ada",) if expected else (), ())


def test_patterns_of_github_match_as_git_ignores(tmp_path: Path) -> None:
    """But for `docs/*`, where GitHub differs on purpose."""
    root = repository(tmp_path / "r", {"README": ""})
    names = ["a", "b", "a.py", "ab"]
    paths = ["/".join(parts) for depth in (1, 2, 3) for parts in itertools.product(names, repeat=depth)]
    asked = "\0".join([*paths, "always"]).encode()
    pick = random.Random(7)
    pieces = ["a", "b", "a*", "*.py", "?b", "**", "ab", "*a*p*", "*b*"]
    matched = 0
    for _ in range(150):
        middle = "/".join(pick.choice(pieces) for _ in range(pick.randint(1, 3)))
        pattern = pick.choice(["", "/", "**/"]) + middle + pick.choice(["", "", "/"])
        if "**/**" in pattern or pattern.endswith("**/"):
            continue
        (root / "ignore").write_text(f"{pattern}\nalways\n")
        setting = ("-c", "core.excludesFile=ignore", "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")
        fields = git(*setting, at=root, data=asked).split("\0")
        expected = {path for where, path in zip(fields[::4], fields[3::4], strict=False) if where}
        entry = github(f"{pattern} @ada")
        # What is not there has no kind, so git takes the last name for a file.
        assert {path for path in paths if entry.of(path)} == expected - {"always"}, pattern
        matched += len(expected)
    assert matched > 1_000


def test_the_last_line_that_matches_wins() -> None:
    lines = ("* @all", "/src/ @src @b", "*.md docs@example.org", "/src/legacy/")
    for owners in (github(*lines), gitlab(*lines)):
        assert [owners.of(path) for path in ("x", "src/a.py", "src/a.md", "src/legacy/b.py")] == [
            ("@all",),
            ("@src", "@b"),
            ("docs@example.org",),
            (),
        ]


def test_github_knows_comments_behind_a_line_and_gitlab_does_not() -> None:
    line = "*.js @js #This is an @inline comment."
    assert github(line).of("a.js") == ("@js",)
    assert gitlab(line).of("a.js") == ("@js", "@inline")
    assert gitlab(line).problems == (
        "CODEOWNERS:1: GitLab knows no comments behind an entry: owners named there count",
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("!a.py @b", "'!a.py' negates, which GitHub does not know; GitHub skips the line"),
        ("[ab].py @b", "'[ab].py' holds a character range, which GitHub does not know; GitHub skips the line"),
        (r"\#a.py @b", r"'\\#a.py' escapes a #, which GitHub does not know; GitHub skips the line"),
        ("/ @b", "'/' matches nothing (* is everything); GitHub skips the line"),
        ("a.py ada", "'ada' is not an owner (@user, @org/team or an e-mail address); GitHub skips the line"),
        ("a.py @ada @org/team/sub", "'@org/team/sub' is not an owner"),
        ("a b.py @ada", "'b.py' is not an owner"),
    ],
)
def test_github_skips_a_line_with_an_error(line: str, why: str) -> None:
    owners = github("* @all", line)
    assert owners.of("a.py") == ("@all",)
    assert len(owners.problems) == 1
    assert owners.problems[0].startswith(f"CODEOWNERS:2: {why}")


def test_gitlab_passes_over_what_is_no_owner() -> None:
    owners = gitlab("LICENSE @legal this does not match jane@gitlab.com", "/c/ @@maintainers", "/d/ @a/b/c @@boss")
    assert owners.of("LICENSE") == ("@legal", "jane@gitlab.com")
    assert (owners.of("c/x"), owners.of("d/x")) == (("@@maintainers",), ("@a/b/c",))
    assert [problem[:21] for problem in owners.problems] == ["CODEOWNERS:1: 'this' ", "CODEOWNERS:3: '@@boss"]


def test_sections_of_gitlab() -> None:
    owners = gitlab(
        "* @admin",
        "[README Owners]",
        "README.md @user1 @user2",
        "internal/README.md @user4",
        "[Data][2] @data @ada",
        "/model/db/",
        "/model/db/setup.md @docs",
        "^[Go] @go",
        "*.go",
        "[readme OWNERS]",
        "model/README.md @late",
    )
    assert owners.of("README.md") == ("@admin", "@user1", "@user2")
    assert owners.of("internal/README.md") == ("@admin", "@user4")
    assert owners.of("model/README.md") == ("@admin", "@late")
    assert owners.of("model/db/x.sql") == ("@admin", "@data", "@ada")
    assert owners.of("model/db/setup.md") == ("@admin", "@docs")
    assert owners.of("x.go") == ("@admin",)
    assert owners.problems == ()


def test_an_optional_section_speaks_where_no_other_does() -> None:
    lines = ("^[Go]", "*.go @go", "[Ruby]", "*.rb @ruby")
    assert (gitlab(*lines).of("x.go"), gitlab(*lines).of("x.rb")) == (("@go",), ("@ruby",))
    assert gitlab(*lines, "/b/ @b").of("b/x.go") == ("@b",)
    assert gitlab(*lines, "[GO]", "/b/ @b").sections[0].optional is False


def test_an_exclusion_of_gitlab_holds_for_its_section() -> None:
    owners = gitlab("* @all", "!pom.xml", "/a/pom.xml @late", "[Ruby]", "*.rb @ruby", "!/config/**/*.rb")
    assert (owners.of("pom.xml"), owners.of("a/pom.xml")) == ((), ())
    assert (owners.of("x.rb"), owners.of("config/x.rb")) == (("@all", "@ruby"), ("@all",))


def test_a_heading_that_is_none_is_a_path_of_the_section_before() -> None:
    owners = gitlab("* @group", "[Section name", "docs/ @docs")
    assert owners.of("docs/x") == ("@docs",)
    assert owners.problems == (
        "CODEOWNERS:2: '[Section name' is not a section heading ([Name], ^[Name], [Name][2] @owner); read as a path",
        "CODEOWNERS:2: 'name' is not an owner (@user, @group, @@role or an e-mail address); GitLab ignores it",
    )


def test_a_pattern_that_means_nothing_is_an_error_of_its_line() -> None:
    owners = gitlab("* @all", "[z-a].py @b")
    assert owners.of("z.py") == ("@all",)
    assert owners.problems[0].startswith("CODEOWNERS:2: '[z-a].py' is not a path pattern (")


def test_a_pattern_does_not_take_time_that_grows_with_its_stars() -> None:
    """Tried one place after the other, these would take years."""
    name, directories = "a" * 200, "a/" * 200
    for read in (github, gitlab):
        assert read(f"{'*a' * 60}*b @x").of(name) == ()
        assert read(f"{'*a' * 60}* @x").of(name) == ("@x",)
        assert read(f"/{'**/a/' * 60}b @x").of(f"{directories}c") == ()
        assert read(f"/{'**/a/' * 60}c @x").of(f"{directories}c") == ("@x",)


def test_bytes_that_are_no_text_and_windows_line_ends() -> None:
    owners = parse(b"\xef\xbb\xbf* @all\r\n/\xff/ @b\r\n", "CODEOWNERS", gitlab=False)
    assert owners.of("a.py") == ("@all",)


def test_github_reads_no_file_above_its_limit() -> None:
    owners = parse(b"* @all\n" + b"#" * 3_000_000, "CODEOWNERS", gitlab=False)
    assert owners.of("a.py") == ()
    assert owners.problems == ("CODEOWNERS: 3,000,007 bytes; GitHub reads none above 3,000,000",)


def test_the_first_place_that_has_the_file() -> None:
    tree = {"CODEOWNERS": "* @root", "docs/CODEOWNERS": "* @docs", ".github/CODEOWNERS": "* @github"}

    def owner(*without: str, on_gitlab: bool) -> tuple[str, str]:
        found = find(Memory({k: v for k, v in tree.items() if k not in without}).read, gitlab=on_gitlab)
        assert found is not None
        return found.source, found.forge

    assert owner(on_gitlab=False) == (".github/CODEOWNERS", "GitHub")
    assert owner(on_gitlab=True) == ("CODEOWNERS", "GitLab")
    assert owner("CODEOWNERS", on_gitlab=True) == ("docs/CODEOWNERS", "GitLab")
    assert owner("CODEOWNERS", "docs/CODEOWNERS", on_gitlab=True) == (".github/CODEOWNERS", "GitHub")
    assert find(Memory({}).read, gitlab=False) is None


@pytest.mark.parametrize(
    ("tree", "remote", "expected"),
    [
        ({}, None, False),
        ({"CODEOWNERS": "* @a"}, "git@github.com:o/gitlab-tools.git", False),
        ({".github/CODEOWNERS": "* @a"}, "https://gitlab.example.org/o/r.git", True),
        ({"CODEOWNERS": "* @a"}, "ssh://git@gitlab.example.org:2222/o/r.git", True),
        ({"CODEOWNERS": "* @a"}, "https://git.example.org/o/r.git", False),
        ({"CODEOWNERS": "* @a", ".gitlab-ci.yml": ""}, "https://git.example.org/o/r.git", True),
        ({".gitlab/CODEOWNERS": "* @a"}, None, True),
        ({"CODEOWNERS": "# [x]\n^[Docs] @docs\n"}, None, True),
        ({"docs/CODEOWNERS": "[ab].py @docs\n"}, None, False),
        ({".github/CODEOWNERS": "* @a", ".gitlab-ci.yml": ""}, None, False),
    ],
)
def test_whose_rules_hold(tree: dict[str, str], remote: str | None, expected: bool) -> None:
    assert lives_on_gitlab(Memory(tree).read, remote) is expected
