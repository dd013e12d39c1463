"""Pull requests on GitHub, its Enterprise Server included, through PyGithub.

Source: https://docs.github.com/en/rest/pulls.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from codemods import __version__
from fixer.errors import Refusal
from fixer.git.credentials import Token
from fixer.git.forge.patience import Failed, FailedRequest, Patience
from fixer.git.forge.pull_request import Existing, PullRequest
from fixer.git.forge.refused import NOT_UNDERSTOOD, explained, said, unreachable

if TYPE_CHECKING:
    import github
    from github.PullRequest import PullRequest as Found
    from github.Repository import Repository

T = TypeVar("T")
TIMEOUT = 60
MOST = 15
"""Reviewers of one pull request."""


class GitHub:
    """The pull requests of one repository."""

    name = "GitHub"
    draft_prefix = ""

    def __init__(self, api: str, path: str, token: Token, patience: Patience, *, pause: float = 0.0) -> None:
        """Connects when it is first asked.

        Args:
            api: the address of its REST API.
            path: `owner/name`.
            pause: seconds between two requests that write.
        """
        try:
            import github
        except ImportError as error:
            raise Refusal("pull requests on GitHub need PyGithub: pip install 'ampfix[github]'") from error
        self._api = api
        self._path = path
        self._patience = patience
        self._token = token
        logging.getLogger("github").setLevel(logging.CRITICAL)  # it writes addresses, as a server gives them
        self._client: github.Github = github.Github(
            base_url=api,
            auth=github.Auth.Token(token.value),
            timeout=TIMEOUT,
            user_agent=f"fixer/{__version__}",
            per_page=30,
            retry=0,
            seconds_between_requests=0,
            seconds_between_writes=pause,
        )
        self._opened: Repository | None = None
        self._found: dict[int, Found] = {}

    @property
    def _repository(self) -> Repository:
        if self._opened is None:
            # Asked for by name once: a repository that was renamed says here what it is called now.
            found = self._send("look at", lambda: self._client.get_repo(self._path))
            if not found.full_name or not found.owner:
                # A proxy's page to sign in at comes with status 200.
                page = FailedRequest(0, f"{self._api} holds no repository")
                raise Refusal(explained(self.name, "", page))
            if found.archived:
                raise Refusal(f"{self._path} is archived on {self.name}: nobody can change it")
            self._opened = found
        return self._opened

    def find(self, branch: str) -> Sequence[Existing]:
        repository = self._repository
        head = f"{repository.owner.login}:{branch}"
        pages = self._send(
            "list the pull requests of", lambda: repository.get_pulls(state="all", head=head).get_page(0)
        )
        # A filter that a server does not know is no filter.
        return [self._existing(pull) for pull in pages if pull.head.ref == branch and self._at_home(pull)]

    def _at_home(self, pull: Found) -> bool:
        return pull.head.repo is not None and pull.head.repo.full_name == self._repository.full_name

    def open(self, pull: PullRequest) -> Existing | None:
        repository = self._repository
        prefix = self.draft_prefix if pull.draft else ""
        words: dict[str, Any] = {"title": prefix + pull.title, "body": pull.body}
        if pull.draft and not prefix:
            words["draft"] = True
        try:
            found = self._send(
                "open a pull request in",
                lambda: repository.create_pull(base=pull.base, head=pull.branch, **words),
                passing=(409, 422),
            )
        except Failed as failed:
            if "already exists" in failed.answer.text:
                return None
            raise self._refused("open a pull request in", failed) from None
        return self._existing(found)

    def edit(self, number: int, *, title: str, body: str, base: str) -> None:
        found = self._found[number]
        kept = self.draft_prefix if self.draft_prefix and found.title.startswith(self.draft_prefix) else ""
        self._send("change a pull request of", lambda: found.edit(title=kept + title, body=body, base=base))

    def comment(self, number: int, text: str) -> None:
        self._send("comment on a pull request of", lambda: self._found[number].create_issue_comment(text))

    def close(self, number: int) -> None:
        self._send("close a pull request of", lambda: self._found[number].edit(state="closed"))

    def label(self, number: int, labels: Sequence[str]) -> Sequence[str]:
        found = self._found[number]

        def send() -> None:
            # PyGithub's own method sends a bare list, which GitHub's description of its API has not, nor Gitea's.
            found.requester.requestJsonAndCheck("POST", f"{found.issue_url}/labels", input={"labels": list(labels)})

        try:
            self._send("label a pull request of", send, passing=(403, 404, 422))
        except Failed as failed:
            return [f"the labels {', '.join(labels)} could not be set: {said(failed.answer)}"]
        return []

    def ask(self, number: int, reviewers: Sequence[str]) -> Sequence[str]:
        found, owner = self._found[number], self._repository.owner.login
        people, teams, notes = [], [], []
        for reviewer in dict.fromkeys(reviewers):
            name = reviewer.removeprefix("@")
            if "@" in name:
                notes.append(f"{name} could not be asked for a review: {self.name} takes names, not addresses")
            elif "/" not in name:
                people += [name] if name.lower() != found.user.login.lower() else []
            elif name.partition("/")[0].lower() == owner.lower():
                teams.append(name.partition("/")[2])
            else:
                notes.append(f"{reviewer} could not be asked for a review: it is no team of {owner}")
        if more := (people + teams)[MOST:]:
            notes.append(f"{', '.join(more)} were not asked for a review: {self.name} takes {MOST} at most")
        teams = teams[: max(0, MOST - len(people))]
        notes += self._ask_together(found, people[:MOST], teams)
        return notes

    def _ask_together(self, found: Found, people: list[str], teams: list[str]) -> list[str]:
        if not people and not teams:
            return []
        # One name that is not allowed spoils the request, so each is asked alone where together they are refused.
        try:
            self._send(
                "ask for a review in",
                lambda: found.create_review_request(reviewers=people, team_reviewers=teams),
                passing=(403, 404, 422),
            )
        except Failed as failed:
            if len(people) + len(teams) == 1:
                return [f"{(people + teams)[0]} could not be asked for a review: {said(failed.answer)}"]
            alone: list[tuple[list[str], list[str]]] = [([name], []) for name in people]
            alone += [([], [name]) for name in teams]
            return [note for one, team in alone for note in self._ask_together(found, one, team)]
        return []

    def _existing(self, pull: Found) -> Existing:
        self._found[pull.number] = pull
        return Existing(
            number=pull.number,
            url=self._token.masked(pull.html_url),
            title=pull.title.removeprefix(self.draft_prefix),
            body=pull.body or "",
            state="merged" if pull.merged_at else "open" if pull.state == "open" else "closed",
            base=pull.base.ref,
        )

    def _send(self, doing: str, request: Callable[[], T], passing: Sequence[int] = ()) -> T:
        """Send a request patiently; Failed comes out for the statuses of `passing`, a Refusal for all others."""
        import github
        import requests

        def attempt() -> T:
            try:
                return request()
            except github.GithubException as error:
                headers = {key.lower(): value for key, value in (error.headers or {}).items()}
                words = self._token.masked(text_of(error.data))
                raise Failed(FailedRequest(error.status, words, headers)) from None
            except requests.RequestException as error:
                raise Failed(unreachable(error)) from None
            except NOT_UNDERSTOOD as error:
                raise Failed(FailedRequest(0, self._token.masked(str(error)))) from None

        try:
            return self._patience.with_(attempt, self.name)
        except Failed as failed:
            if failed.answer.status in passing:
                raise
            raise self._refused(doing, failed) from None

    def _refused(self, doing: str, failed: Failed) -> Refusal:
        return Refusal(explained(self.name, f"{doing} {self._path}", failed.answer))


def text_of(data: Any) -> str:
    """What an error says: its message, and those of the fields it is about."""
    if not isinstance(data, dict):
        return str(data or "")
    errors = data.get("errors")
    parts = [str(data.get("message") or "")]
    for error in errors if isinstance(errors, list) else []:
        if isinstance(error, dict):
            parts.append(str(error.get("message") or " ".join(f"{error.get(k) or ''}" for k in ("field", "code"))))
        else:
            parts.append(str(error))
    return ": ".join(part.strip() for part in parts if part.strip())
