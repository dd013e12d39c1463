"""Merge requests on GitLab, self-managed ones included, through python-gitlab.

Source: https://docs.gitlab.com/api/merge_requests/.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from codemods import __version__
from fixer.errors import Refusal
from fixer.git.credentials import Token
from fixer.git.forge.patience import Failed, FailedRequest, Patience
from fixer.git.forge.pull_request import Existing, PullRequest, State
from fixer.git.forge.refused import NOT_UNDERSTOOD, explained, said, unreachable

if TYPE_CHECKING:
    import requests

T = TypeVar("T")
TIMEOUT = 60
DRAFT = "Draft: "
_STATES: Mapping[str, State] = {"opened": "open", "merged": "merged", "closed": "closed", "locked": "open"}


class GitLab:
    """The merge requests of one project."""

    name = "GitLab"

    def __init__(self, url: str, path: str, token: Token, patience: Patience) -> None:
        """Connects when it is first asked.

        Args:
            url: the address of the instance, with its path if it has one.
            path: of the project, with its groups.
        """
        try:
            import gitlab
            import requests
        except ImportError as error:
            raise Refusal("merge requests on GitLab need python-gitlab: pip install 'ampfix[gitlab]'") from error
        self._path = path
        self._patience = patience
        self._token = token
        self._headers: Mapping[str, str] = {}
        session = requests.Session()
        session.hooks["response"].append(self._note)
        # Personal, project and group tokens are taken this way too, not only those of OAuth.
        self._client = gitlab.Gitlab(
            url,
            oauth_token=token.value,
            session=session,
            timeout=TIMEOUT,
            user_agent=f"fixer/{__version__}",
            keep_base_url=True,
        )
        self._merge_requests = self._client.projects.get(path, lazy=True).mergerequests
        self._drafts: dict[int, bool] = {}

    def _note(self, response: requests.Response, **_: Any) -> None:
        """The library's errors do not hold the headers of the answer."""
        self._headers = {key.lower(): value for key, value in response.headers.items()}

    def find(self, branch: str) -> Sequence[Existing]:
        wanted: dict[str, Any] = {
            "source_branch": branch,
            "state": "all",
            "order_by": "created_at",
            "sort": "desc",
            "per_page": 20,
        }
        found = self._send(
            "list the merge requests of", lambda: self._merge_requests.list(get_all=False, **wanted, **_ONCE)
        )
        return [self._existing(one) for one in found if one.source_project_id == one.target_project_id]

    def open(self, pull: PullRequest) -> Existing | None:
        words = {
            "source_branch": pull.branch,
            "target_branch": pull.base,
            "title": (DRAFT if pull.draft else "") + pull.title,
            "description": pull.body,
        }
        try:
            return self._existing(
                self._send(
                    "open a merge request in", lambda: self._merge_requests.create(words, **_ONCE), passing=(409,)
                )
            )
        except Failed as failed:
            if "already exists" in failed.answer.text:
                return None
            raise self._refused("open a merge request in", failed) from None

    def edit(self, number: int, *, title: str, body: str, base: str) -> None:
        title = (DRAFT if self._drafts.get(number) else "") + title
        self._change(number, {"title": title, "description": body, "target_branch": base})

    def comment(self, number: int, text: str) -> None:
        notes = self._merge_requests.get(number, lazy=True).notes
        self._send("comment on a merge request of", lambda: notes.create({"body": text}, **_ONCE))

    def close(self, number: int) -> None:
        self._change(number, {"state_event": "close"})

    def label(self, number: int, labels: Sequence[str]) -> Sequence[str]:
        try:
            self._change(number, {"add_labels": ",".join(labels)}, passing=(400, 403))
        except Failed as failed:
            return [f"the labels {', '.join(labels)} could not be set: {said(failed.answer)}"]
        return []

    def ask(self, number: int, reviewers: Sequence[str]) -> Sequence[str]:
        notes, people = [], []
        for reviewer in dict.fromkeys(reviewers):
            name = reviewer.removeprefix("@")
            # Groups, roles (`@@maintainers`) and addresses are owners, but nobody to whom a review is assigned.
            known = [] if "/" in name or "@" in name else self._users(name)
            people += known
            if not known:
                notes.append(f"{reviewer} could not be asked for a review: {self.name} knows no person of that name")
        if people:
            try:
                self._change(number, {"reviewer_ids": people}, passing=(400, 403))
            except Failed as failed:
                notes.append(f"nobody could be asked for a review: {said(failed.answer)}")
        return notes

    def _users(self, name: str) -> list[int]:
        found = self._send(
            "look for a reviewer in", lambda: self._client.users.list(username=name, get_all=False, **_ONCE)
        )
        return [user.id for user in found][:1]

    def _change(self, number: int, words: dict[str, Any], passing: Sequence[int] = ()) -> None:
        self._send("change a merge request of", lambda: self._merge_requests.update(number, words, **_ONCE), passing)

    def _existing(self, found: Any) -> Existing:
        title: str = found.title
        self._drafts[found.iid] = title.startswith(DRAFT)
        return Existing(
            number=found.iid,
            url=self._token.masked(found.web_url),
            title=title.removeprefix(DRAFT),
            body=found.description or "",
            state=_STATES[found.state],
            base=found.target_branch,
        )

    def _send(self, doing: str, request: Callable[[], T], passing: Sequence[int] = ()) -> T:
        """Send a request patiently; Failed comes out for the statuses of `passing`, a Refusal for all others."""
        import gitlab
        import requests

        def attempt() -> T:
            try:
                return request()
            except gitlab.GitlabError as error:
                # No status: the answer was understood by nobody, as a redirection or a page of HTML.
                words = self._token.masked(str(error.error_message))
                raise Failed(FailedRequest(error.response_code or 0, words, self._headers)) from None
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


_ONCE: dict[str, Any] = {"obey_rate_limit": False, "retry_transient_errors": False}
"""Waiting is ours: the library would sleep for as long as it is told, and without saying so."""
