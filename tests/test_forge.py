"""Pull requests: opened, renewed, closed and left alone in the same way on every host."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from forges import PREFIXES, TOKEN, Clock, Server, forge
from hypothesis import given
from hypothesis import strategies as st

from fixer.errors import Refusal
from fixer.git.credentials import Kind, Token
from fixer.git.forge.find import ForgeRepository, forge_at, place_of, token_for
from fixer.git.forge.forge import Forge
from fixer.git.forge.patience import FailedRequest, Patience, wait
from fixer.git.forge.pull_request import LONGEST, Existing, PullRequest, short, signed
from fixer.git.remotes import parse, without_secrets

KINDS = ("github", "gitlab", "gitea")
PULL = PullRequest("fix/amp", "main", "Fix 2 bugs", "## What\n\nText.")


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with forge(request.param) as running:
        yield running


@pytest.fixture
def github() -> Iterator[Server]:
    with forge("github") as running:
        yield running


def connected(server: Server, clock: Clock | None = None, path: str = "", token: str = TOKEN) -> Forge:
    url = server.url.rpartition("/api/")[0]
    path = path or ("group/app" if server.kind == "gitlab" else "acme/app")
    place = ForgeRepository(server.kind, "127.0.0.1", url, path)  # type: ignore[arg-type]
    return forge_at(place, Token(token, "a test"), (clock or Clock()).patience())


def test_nothing_is_done_where_nothing_is_to_be_done(server: Server) -> None:
    there = connected(server)
    assert there.deliver(replace(PULL, empty=True)).outcome == "unchanged"
    there.deliver(PULL)
    before = len(server.wrote)
    assert there.deliver(PULL).outcome == "unchanged"
    assert len(server.wrote) == before


def test_one_is_opened_with_labels_and_reviewers(server: Server) -> None:
    reviewers = ("@ada", "@author", "@acme/core", "@else/where", "bo@example.org", "@ada")
    delivered = connected(server).deliver(replace(PULL, labels=("amp", "bot"), reviewers=reviewers))
    pull = server.pulls[0]
    assert (delivered.outcome, delivered.number) == ("opened", 1)
    assert delivered.url.startswith("https://forge.test/")
    assert (pull.branch, pull.base, pull.title, pull.labels) == ("fix/amp", "main", "Fix 2 bugs", ["amp", "bot"])
    assert pull.body.startswith("## What\n\nText.\n\n<!-- fixer: open ")
    # An author is not asked, nor whom the host cannot know; those are named.
    assert pull.reviewers == ([11, 13] if server.kind == "gitlab" else ["ada", "core"])
    assert any("bo@example.org could not be asked for a review" in note for note in delivered.notes)
    assert any("@else/where could not be asked" in note for note in delivered.notes)


def test_a_draft_stays_what_a_person_makes_of_it(server: Server) -> None:
    there = connected(server)
    there.deliver(replace(PULL, draft=True))
    prefix = {"github": "", "gitlab": "Draft: ", "gitea": "WIP: "}[server.kind]
    pull = server.pulls[0]
    assert (pull.title, pull.draft) == (f"{prefix}Fix 2 bugs", server.kind == "github")
    assert there.deliver(replace(PULL, draft=True)).outcome == "unchanged"
    assert there.deliver(replace(PULL, title="Fix 3 bugs", draft=True)).outcome == "updated"
    assert pull.title == f"{prefix}Fix 3 bugs"
    pull.title = "Fix 3 bugs"  # made ready for review
    assert there.deliver(replace(PULL, title="Fix 4 bugs", draft=True)).outcome == "updated"
    assert pull.title == "Fix 4 bugs"


def test_another_text_is_an_update_and_so_is_another_base(server: Server) -> None:
    there = connected(server)
    there.deliver(PULL)
    assert there.deliver(replace(PULL, body="New.")).outcome == "updated"
    assert there.deliver(replace(PULL, body="New.", base="next")).outcome == "updated"
    assert there.deliver(replace(PULL, body="New.", base="next")).outcome == "unchanged"
    assert (len(server.pulls), server.pulls[0].base) == (1, "next")
    assert server.pulls[0].body.startswith("New.\n")


@pytest.mark.parametrize("change", ["title", "body", "mark"])
def test_a_text_that_a_person_changed_stays(server: Server, change: str) -> None:
    there = connected(server)
    there.deliver(PULL)
    pull = server.pulls[0]
    if change == "title":
        pull.title = "My title"
    else:
        pull.body = f"Read this first. {pull.body}" if change == "body" else "Mine alone."
    title, body = pull.title, pull.body
    delivered = there.deliver(replace(PULL, title="Fix 3 bugs", body="New."))
    assert (delivered.outcome, pull.title, pull.body) == ("unchanged", title, body)
    assert "was changed by a person and stays" in delivered.notes[0]


def test_line_ends_that_a_host_changes_are_nobodys_work(server: Server) -> None:
    there = connected(server)
    there.deliver(PULL)
    server.pulls[0].body = server.pulls[0].body.replace("\n", "\r\n") + "\r\n"
    assert there.deliver(PULL).outcome == "unchanged"
    assert there.deliver(replace(PULL, body="New.")).outcome == "updated"


def test_one_that_became_empty_is_closed_and_another_is_opened_later(server: Server) -> None:
    there = connected(server)
    there.deliver(PULL)
    delivered = there.deliver(replace(PULL, empty=True))
    assert (delivered.outcome, server.pulls[0].state) == ("closed", "closed")
    assert "Nothing is left to fix here: `main` has it all." in server.pulls[0].comments[0]
    assert there.deliver(replace(PULL, empty=True)).outcome == "unchanged"
    assert (there.deliver(PULL).outcome, len(server.pulls)) == ("opened", 2)


def test_one_that_a_person_closed_is_not_asked_for_again(server: Server) -> None:
    there = connected(server)
    there.deliver(PULL)
    server.pulls[0].state = "closed"
    delivered = there.deliver(replace(PULL, title="Fix 3 bugs"))
    assert (delivered.outcome, len(server.pulls)) == ("left-alone", 1)
    assert "was closed by a person, so fix/amp is left alone" in delivered.notes[0]


def test_after_a_merge_another_is_opened(server: Server) -> None:
    there = connected(server)
    there.deliver(PULL)
    server.pulls[0].state = "merged"
    assert there.deliver(PULL).outcome == "opened"


def test_an_answer_that_was_lost_leads_to_no_second_one(server: Server) -> None:
    """The request to open one came through, its answer did not; the next attempt is told that there is one."""
    clock = Clock()
    there = connected(server, clock)
    standing = there.standing(PULL.branch)
    title = "WIP: x" if server.kind == "gitea" else "x"
    server.add(PULL.branch, "main", title, signed("x", "y"))
    assert there.deliver(PULL, standing).outcome == "updated"
    assert len(server.pulls) == 1


def test_a_list_of_another_branch_is_not_ours(server: Server) -> None:
    server.add("else", "main", "Theirs", "")
    assert connected(server).deliver(PULL).outcome == "opened"
    assert server.pulls[0].title == "Theirs"


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_an_error_of_the_server_is_tried_again(server: Server, status: int) -> None:
    clock = Clock()
    server.next = [(status, {}, {"message": "oops"})] * 2
    assert connected(server, clock).deliver(PULL).outcome == "opened"
    assert clock.slept == [1.5, 2.5]


def test_an_error_of_the_server_that_lasts_is_said(server: Server) -> None:
    server.next = [(503, {}, {"message": "oops"})] * 20
    with pytest.raises(Refusal, match=r"answers with an error of its own \(503\): run this again later"):
        connected(server).deliver(PULL)
    assert len(server.asked) == 6


LIMITS = {
    "secondary, with a pause": (403, {"Retry-After": "30"}, "You have exceeded a secondary rate limit", [33.0 - 1.5]),
    "secondary, without": (403, {}, "You have exceeded a secondary rate limit", [63.0]),
    "primary": (
        403,
        {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1000090"},
        "API rate limit exceeded",
        [95.55],
    ),
    "too many": (429, {"Retry-After": "7"}, "Too many requests", [7.5]),
    "a date": (429, {"Retry-After": "Mon, 12 Jan 1970 13:47:40 GMT"}, "Slow down", [63.0]),
    "reset": (429, {"RateLimit-Remaining": "0", "RateLimit-Reset": "1000010"}, "Retry later", [11.55]),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_is_waited_for(server: Server, limit: str) -> None:
    status, headers, message, slept = LIMITS[limit]
    clock = Clock()
    server.next = [None, (status, headers, {"message": message})]
    assert connected(server, clock).deliver(PULL).outcome == "opened"
    assert clock.slept == pytest.approx(slept)
    assert clock.told and "asks for a pause of" in clock.told[0]


def test_a_limit_that_lasts_too_long_is_said(server: Server) -> None:
    clock = Clock()
    server.next = [(429, {"Retry-After": "3600"}, {"message": "Slow down"})]
    with pytest.raises(
        Refusal, match="limits how often it is asked: run this again in 63 min; what was done stays done"
    ):
        connected(server, clock).deliver(PULL)
    assert clock.slept == []


@given(
    st.sampled_from([None, 403, 429, 500, 502, 503]),
    st.dictionaries(
        st.sampled_from(["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit-reset"]),
        st.sampled_from(["0", "5", "70", "1000100", "", "soon", "-1", "Mon, 12 Jan 1970 13:47:40 GMT"]),
    ),
    st.integers(0, 5),
)
def test_we_never_come_back_before_we_are_asked_to(status: int | None, headers: dict[str, str], attempt: int) -> None:
    waited = wait(FailedRequest(status, "rate limit", headers), attempt, 1_000_000.0)
    assert waited is not None and waited >= 0
    if headers.get("retry-after", "").isdigit():
        assert waited >= int(headers["retry-after"])
    elif status in (403, 429) and headers.get("x-ratelimit-remaining") == "0":
        assert headers.get("x-ratelimit-reset") != "1000100" or waited > 100


def test_a_plain_no_is_no_limit() -> None:
    for status in (400, 401, 404, 409, 422):
        assert wait(FailedRequest(status, "rate limit", {"retry-after": "5"}), 0, 0.0) is None
    assert wait(FailedRequest(403, "Resource not accessible by integration"), 0, 0.0) is None


@pytest.mark.parametrize(
    ("status", "message", "sentence"),
    [
        (401, "Bad credentials", "the token is wrong or has expired: make a new one (401 Bad credentials)"),
        (403, "Resource not accessible", "the token is not allowed to: it must be able to write to pull requests"),
        (404, "Not Found", "there is no such repository, or the token is not allowed to see it (404 Not Found)"),
        (422, "No commits between main and fix/amp", "422 No commits between main and fix/amp"),
    ],
)
def test_a_no_is_explained(server: Server, status: int, message: str, sentence: str) -> None:
    lookups = 1 if server.kind == "gitlab" else 2
    server.next = [None] * lookups + [(status, {}, {"message": message})]
    with pytest.raises(Refusal) as caught:
        connected(server).deliver(PULL)
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(
        f"{ {'github': 'GitHub', 'gitlab': 'GitLab', 'gitea': 'Gitea'}[server.kind] } did"
    )


def test_a_page_instead_of_an_answer_is_said(server: Server) -> None:
    server.next = [(200, {"Content-Type": "text/html"}, "<html>Sign in</html>")]
    with pytest.raises(Refusal, match="does not answer as it should: check the address and the network"):
        connected(server).deliver(PULL)


def test_nobody_at_that_address(server: Server) -> None:
    clock = Clock()
    there = connected(server, clock)
    there = connected(replace(server, url=f"http://127.0.0.1:9{server.url[server.url.index('/api') :]}"), clock)
    with pytest.raises(Refusal, match=r"cannot be reached \(Connection refused\): check the address and the network"):
        there.deliver(PULL)


def test_an_archived_repository_is_said(github: Server) -> None:
    github.archived = True
    with pytest.raises(Refusal, match="acme/app is archived on GitHub: nobody can change it"):
        connected(github).deliver(PULL)


def test_a_repository_that_was_renamed_is_found_by_its_new_name(github: Server) -> None:
    assert connected(github, path="ACME/App").deliver(PULL).outcome == "opened"


def test_a_reviewer_who_is_not_allowed_spoils_it_for_nobody(github: Server) -> None:
    github.refused_reviewers = frozenset({"bo"})
    delivered = connected(github).deliver(replace(PULL, reviewers=("@ada", "@bo", "@acme/core")))
    assert github.pulls[0].reviewers == ["ada", "core"]
    assert delivered.notes == (
        "bo could not be asked for a review: 422 Reviews may only be requested from collaborators.",
    )


def test_a_crowd_of_reviewers_is_cut(github: Server) -> None:
    delivered = connected(github).deliver(replace(PULL, reviewers=tuple(f"@p{n:02}" for n in range(17))))
    assert github.pulls[0].reviewers == [f"p{n:02}" for n in range(15)]
    assert delivered.notes == ("p15, p16 were not asked for a review: GitHub takes 15 at most",)


def test_labels_that_cannot_be_set_are_named(github: Server) -> None:
    github.next = [None, None, None, (403, {}, {"message": "Must have triage rights"})]
    delivered = connected(github).deliver(replace(PULL, labels=("amp",)))
    assert delivered.notes == ("the labels amp could not be set: 403 Must have triage rights",)


def test_a_body_that_is_too_long_is_cut_at_a_line(server: Server) -> None:
    there = connected(server)
    long = replace(PULL, body="- a place where something is wrong\n" * 4000, title="word " * 100)
    there.deliver(long)
    assert len(server.pulls[0].body) < LONGEST + 200
    assert "wrong\n\n… and more: `fixer apply --dry-run` shows it all.\n\n<!-- fixer: open" in server.pulls[0].body
    assert len(server.pulls[0].title) <= 250
    assert there.deliver(long).outcome == "unchanged"


@given(st.text(), st.text(), st.sampled_from(["open", "closed"]))
def test_what_we_wrote_is_known_again_and_nothing_else(title: str, body: str, state: str) -> None:
    text = signed(short(title), body, state)  # type: ignore[arg-type]
    assert Existing(1, "", short(title), text, "open").ours
    assert Existing(1, "", short(title), text, "closed").declined == (state == "open")
    assert not Existing(1, "", f"{short(title)}x", text, "open").ours
    assert not Existing(1, "", short(title), f"x{text}", "open").ours
    assert not Existing(1, "", short(title), body, "open").ours


def test_secrets_are_in_no_words(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    there = connected(server, token="wrong-s3cr3t")
    with pytest.raises(Refusal) as caught:
        there.deliver(PULL)
    assert "wrong-s3cr3t" in server.headers[0]["authorization"]
    for words in (str(caught.value), repr(there), repr(Token("wrong-s3cr3t", "x")), caplog.text):
        assert "s3cr3t" not in words


ECHOES = {
    "message": (422, {}, {"message": f"no: {TOKEN}", "errors": [{"message": TOKEN}]}),
    "forbidden": (403, {}, {"message": TOKEN}),
    "quoted": (404, {}, {"message": f"https://h/?t={quote_plus(TOKEN)}"}),
    "broken": (500, {}, {"message": TOKEN}),
    "elsewhere": (301, {"Location": f"https://evil.example/{TOKEN}"}, {}),
    "below": (301, {"Location": "{prefix}/" + TOKEN}, {}),
    "around": (301, {"Location": "{url}/repos/acme/" + TOKEN}, {}),
    "no object": (200, {}, [TOKEN]),
    "text": (200, {}, TOKEN),
    "half": (200, {}, {"full_name": TOKEN, "owner": {"login": TOKEN}, "url": 3}),
}


@pytest.mark.parametrize("how", ECHOES)
def test_a_token_that_a_server_says_back_is_in_no_words(
    server: Server, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], how: str
) -> None:
    clock = Clock()
    there = connected(server, clock)
    status, headers, content = ECHOES[how]
    places = {"url": server.url, "prefix": PREFIXES[server.kind]}
    headers = {name: value.format(**places) for name, value in headers.items()}
    server.next = [(status, headers, content)] * 9
    with pytest.raises(Refusal) as caught:
        there.deliver(PULL)
    printed = capfd.readouterr()
    for words in (str(caught.value), *clock.told, caplog.text, printed.out, printed.err):
        assert TOKEN not in words


def test_a_token_in_the_address_of_a_pull_request_is_masked(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    there = connected(server)
    monkeypatch.setattr(
        "json.dumps", lambda data, dump=json.dumps, **how: dump(data, **how).replace("forge.test/", f"h/?t={TOKEN}/")
    )
    assert there.deliver(PULL).url.startswith("https://h/?t=…/")


REMOTES = {
    "https://github.com/acme/app.git": ("github", "https://api.github.com", "acme/app"),
    "git@github.com:acme/app.git": ("github", "https://api.github.com", "acme/app"),
    "ssh://git@ssh.github.com:443/acme/app.git": ("github", "https://api.github.com", "acme/app"),
    "https://user:pw@github.com/acme/app/": ("github", "https://api.github.com", "acme/app"),
    "https://acme.ghe.com/acme/app": ("github", "https://api.acme.ghe.com", "acme/app"),
    "https://github.corp.example/acme/app": ("github", "https://github.corp.example/api/v3", "acme/app"),
    "ssh://git@ghe.corp.example:2222/acme/app": ("github", "https://ghe.corp.example/api/v3", "acme/app"),
    "https://gitlab.com/a/b/c/app.git": ("gitlab", "https://gitlab.com", "a/b/c/app"),
    "git@gitlab.corp.example:group/app.git": ("gitlab", "https://gitlab.corp.example", "group/app"),
    "https://codeberg.org/acme/app": ("gitea", "https://codeberg.org/api/v1", "acme/app"),
    "https://gitea.corp.example:8443/acme/app": ("gitea", "https://gitea.corp.example:8443/api/v1", "acme/app"),
}


@pytest.mark.parametrize("address", REMOTES)
def test_the_forge_is_told_from_the_address(address: str) -> None:
    place = place_of(parse(address), None, {})
    assert place is not None
    assert (place.kind, place.url if place.kind == "gitlab" else place.api, place.path) == REMOTES[address]


@pytest.mark.parametrize(
    "address",
    ["/srv/git/app.git", "file:///srv/app", "git://github.com/acme/app", "https://notgithub.com/a/b", "work:a/b"],
)
def test_a_remote_on_no_forge(address: str) -> None:
    assert place_of(parse(address), None, {}) is None


def test_a_server_of_ones_own_is_named() -> None:
    place = place_of(parse("git@work:tools/acme/app.git"), "gitlab=https://corp.example/tools/", {})
    assert place == ForgeRepository("gitlab", "corp.example", "https://corp.example/tools", "acme/app", named=True)
    place = place_of(parse("https://code.corp.example/acme/app"), "gitea", {})
    assert place == ForgeRepository("gitea", "code.corp.example", "https://code.corp.example", "acme/app", named=True)
    place = place_of(parse("https://code.corp.example/acme/app"), None, {"GITLAB_HOST": "https://code.corp.example"})
    assert place is not None and place.kind == "gitlab"


@pytest.mark.parametrize(
    ("address", "wanted", "sentence"),
    [
        ("https://h.example/a/b", "bitbucket", "--forge 'bitbucket': write github, gitlab or gitea"),
        ("https://h.example/a/b", "gitlab=h.example", "must be the address of a server, https://"),
        ("/srv/app.git", "gitlab", "is no place on a host; add its address: gitlab=https://"),
        ("http://gitlab.example/a/b", None, "fixer sends a token over https only; use --forge gitlab=https://"),
        ("https://github.com/app", None, "'app' is no repository on GitHub: expected owner/name"),
        ("https://github.com/a/b/c", None, "'a/b/c' is no repository on GitHub"),
        ("https://gitlab.com/a/../c", None, "is no repository on GitLab"),
    ],
)
def test_what_leads_to_no_forge_is_said(address: str, wanted: str | None, sentence: str) -> None:
    with pytest.raises(Refusal) as caught:
        place_of(parse(address), wanted, {})
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    "address", ["ext::sh -c true", "-oProxyCommand=x", "", "fd::3", "ftp://h/x", "https://[::1/x", "a::b"]
)
def test_an_address_that_would_run_something_is_refused(address: str) -> None:
    with pytest.raises(Refusal):
        parse(address)


@given(st.text("ab:/@[]%#?.", max_size=8), st.sampled_from(["", ":"]), st.sampled_from(["https", "ssh", "ftp"]))
def test_an_address_is_shown_without_its_secrets(middle: str, before: str, scheme: str) -> None:
    address = f"{scheme}://user{before}s3cr3t{middle}s3cr3t@github.com/acme/app"
    try:
        words = parse(address).shown + repr(parse(address))
    except Refusal as refusal:
        words = str(refusal)
    assert "github.com/acme/app" in words
    assert "s3cr3t" not in words + without_secrets(f"fatal: unable to access '{address}/': see {address}")


TOKENS = [
    ("https://github.com/a/b", None, {"GH_TOKEN": "one", "GITHUB_TOKEN": "two"}, "one"),
    ("https://github.com/a/b", None, {"GITHUB_TOKEN": "two"}, "two"),
    ("https://github.evil.example/a/b", None, {"GITHUB_TOKEN": "two", "GH_TOKEN": "one"}, None),
    ("https://github.evil.example/a/b", None, {"GH_ENTERPRISE_TOKEN": "three"}, None),
    ("https://github.corp/a/b", None, {"GH_ENTERPRISE_TOKEN": "three", "GH_HOST": "github.corp"}, "three"),
    ("https://github.corp/a/b", "github", {"GH_ENTERPRISE_TOKEN": "three"}, "three"),
    ("https://git.corp/a/b", "github", {"GITHUB_TOKEN": "ci", "GITHUB_SERVER_URL": "https://git.corp"}, "ci"),
    ("https://gitlab.com/a/b", None, {"GITLAB_TOKEN": "four"}, "four"),
    ("https://gitlab.evil.example/a/b", None, {"GITLAB_TOKEN": "four"}, None),
    ("https://gitlab.corp/a/b", None, {"GITLAB_TOKEN": "four", "GITLAB_HOST": "https://gitlab.corp/x"}, "four"),
    ("https://gitlab.com/a/b", None, {"GITHUB_TOKEN": "two"}, None),
    ("https://codeberg.org/a/b", None, {"FORGEJO_TOKEN": "five"}, "five"),
]


@pytest.mark.parametrize(("address", "wanted", "environment", "token"), TOKENS)
def test_a_token_goes_to_its_own_host_alone(
    address: str,
    wanted: str | None,
    environment: dict[str, str],
    token: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    remote = parse(address)
    place = place_of(remote, wanted, environment)
    assert place is not None
    if token is None:
        with pytest.raises(Refusal, match=f"there is no token for {place.host}: set "):
            token_for(place, remote, environment, tmp_path)
    else:
        assert token_for(place, remote, environment, tmp_path).value == token


@pytest.mark.parametrize(("kind", "module"), [("github", "github"), ("gitea", "github"), ("gitlab", "gitlab")])
def test_a_package_that_is_missing_is_named(kind: Kind, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(Refusal, match=rf"pip install 'ampfix\[{module}\]'"):
        forge_at(ForgeRepository(kind, "h.example", "https://h.example", "a/b"), Token("x", "x"))


def test_waiting_is_really_waiting() -> None:
    """The clock that tests replace is the one of the operating system."""
    import random
    import time

    patience = Patience()
    assert (patience.sleep, patience.now, patience.chance) == (time.sleep, time.time, random.random)
