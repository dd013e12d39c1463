"""Forges in this process: they speak as much of GitHub's, Gitea's and GitLab's API as pull requests need.

The shapes are those of the documented answers (https://docs.github.com/en/rest/pulls,
https://docs.gitlab.com/api/merge_requests/, https://docs.gitea.com/api/), cut to what a client reads.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from fixer.git.forge.patience import Patience

TOKEN = "ghp_s3cr3tS3CR3Ts3cr3tS3CR3T"
PEOPLE = {"ada": 11, "bo": 12, "author": 13}


@dataclass
class Pull:
    """A pull request as a forge keeps it."""

    number: int
    branch: str
    base: str
    title: str
    body: str
    state: str = "open"
    draft: bool = False
    labels: list[str] = field(default_factory=list)
    reviewers: list[Any] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)


@dataclass
class Server:
    """What the forge knows, what it was asked, and what it is to answer next instead of the truth."""

    kind: str
    url: str = ""
    pulls: list[Pull] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    next: list[tuple[int, dict[str, str], Any] | None] = field(default_factory=list)
    """None lets one request through."""
    refused_reviewers: frozenset[str] = frozenset()
    archived: bool = False
    examples: Mapping[str, Any] = field(default_factory=dict)
    """Whole answers by what they are; what we say goes on top of them."""
    shown: str = ""
    """Where clients reach it, if not at `url`."""
    disturb: Callable[[BaseHTTPRequestHandler], bool] = lambda handler: False
    """Sees each request first; whether it has done all that is to be done about it."""

    @property
    def wrote(self) -> list[tuple[str, str]]:
        """The requests that change something."""
        return [(verb, path) for verb, path in self.asked if verb != "GET"]

    def answer(self, verb: str, path: str, query: Mapping[str, str], data: Any) -> tuple[int, Any]:
        routes = GITLAB if self.kind == "gitlab" else GITHUB
        for method, pattern, route in routes:
            if method == verb and (match := re.fullmatch(pattern, path)):
                return route(self, query, data, *(unquote(group) for group in match.groups()))
        return 404, {"message": "Not Found"}

    def shaped(self, what: str, said: dict[str, Any]) -> Any:
        """What we say, with all else that such an answer holds."""
        return _laid_over(self.examples.get(what, {}), said)

    def pull(self, number: str) -> Pull:
        return next(pull for pull in self.pulls if pull.number == int(number))

    def add(self, branch: str, base: str, title: str, body: str, draft: bool = False) -> Pull:
        self.pulls.append(Pull(len(self.pulls) + 1, branch, base, title, body, draft=draft))
        return self.pulls[-1]

    def newest(self, branch: str | None) -> list[Pull]:
        return [pull for pull in reversed(self.pulls) if branch in (None, pull.branch)]


def _laid_over(example: Any, said: Any) -> Any:
    if isinstance(example, dict) and isinstance(said, dict):
        return {**example, **{name: _laid_over(example.get(name), value) for name, value in said.items()}}
    return said


def _gh_repository(server: Server, query: Any, data: Any, owner: str, name: str) -> tuple[int, Any]:
    if owner.lower() != "acme":
        return 404, {"message": "Not Found"}
    full = f"acme/{name.lower()}"
    said = {
        "full_name": full,
        "name": name.lower(),
        "owner": {"login": "acme"},
        "archived": server.archived,
        "url": f"{server.shown or server.url}/repos/{full}",
    }
    return 200, server.shaped("repository", said)


def _gh_pull(server: Server, pull: Pull, what: str = "pull") -> Any:
    here = f"{server.shown or server.url}/repos/acme/app"
    said = {
        "number": pull.number,
        "url": f"{here}/pulls/{pull.number}",
        "issue_url": f"{here}/issues/{pull.number}",
        "html_url": f"https://forge.test/acme/app/pull/{pull.number}",
        "title": pull.title,
        "body": pull.body or None,
        "state": "open" if pull.state == "open" else "closed",
        "merged_at": "2026-01-01T00:00:00Z" if pull.state == "merged" else None,
        "draft": pull.draft,
        "user": {"login": "author"},
        "head": {"ref": pull.branch, "repo": {"full_name": "acme/app"}},
        "base": {"ref": pull.base, "repo": {"full_name": "acme/app"}},
    }
    return server.shaped(what, said)


def _gh_list(server: Server, query: Mapping[str, str], data: Any) -> tuple[int, Any]:
    # Gitea knows no such filter, and passes over it.
    branch = query["head"].partition(":")[2] if server.kind == "github" else None
    return 200, [_gh_pull(server, pull, "simple pull") for pull in server.newest(branch)]


def _gh_create(server: Server, query: Any, data: Any) -> tuple[int, Any]:
    if any(pull.branch == data["head"] and pull.state == "open" for pull in server.pulls):
        error = {"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for acme:fix."}
        return 422, {"message": "Validation Failed", "errors": [error]}
    return 201, _gh_pull(server, server.add(data["head"], data["base"], data["title"], data["body"], "draft" in data))


def _gh_edit(server: Server, query: Any, data: Any, number: str) -> tuple[int, Any]:
    for name, value in data.items():
        setattr(server.pull(number), name, value)
    return 200, _gh_pull(server, server.pull(number))


def _gh_labels(server: Server, query: Any, data: Any, number: str) -> tuple[int, Any]:
    server.pull(number).labels += data["labels"]
    return 200, [server.shaped("label", {"name": name}) for name in data["labels"]]


def _gh_comment(server: Server, query: Any, data: Any, number: str) -> tuple[int, Any]:
    server.pull(number).comments.append(data["body"])
    return 201, server.shaped("comment", {"id": 1, "body": data["body"]})


def _gh_reviewers(server: Server, query: Any, data: Any, number: str) -> tuple[int, Any]:
    names = [*data.get("reviewers", ()), *data.get("team_reviewers", ())]
    if set(names) & server.refused_reviewers:
        return 422, {"message": "Reviews may only be requested from collaborators."}
    server.pull(number).reviewers += names
    return 201, _gh_pull(server, server.pull(number), "simple pull")


_REPO = r"/repos/acme/app"
GITHUB: Sequence[tuple[str, str, Callable[..., tuple[int, Any]]]] = (
    ("GET", r"/repos/([^/]+)/([^/]+)", _gh_repository),
    ("GET", rf"{_REPO}/pulls", _gh_list),
    ("POST", rf"{_REPO}/pulls", _gh_create),
    ("PATCH", rf"{_REPO}/pulls/(\d+)", _gh_edit),
    ("POST", rf"{_REPO}/issues/(\d+)/labels", _gh_labels),
    ("POST", rf"{_REPO}/issues/(\d+)/comments", _gh_comment),
    ("POST", rf"{_REPO}/pulls/(\d+)/requested_reviewers", _gh_reviewers),
)


def _gl_pull(pull: Pull) -> dict[str, Any]:
    return {
        "id": 1000 + pull.number,
        "iid": pull.number,
        "project_id": 7,
        "source_project_id": 7,
        "target_project_id": 7,
        "web_url": f"https://forge.test/group/app/-/merge_requests/{pull.number}",
        "title": pull.title,
        "description": pull.body or None,
        "state": {"open": "opened"}.get(pull.state, pull.state),
        "draft": pull.title.startswith("Draft: "),
        "source_branch": pull.branch,
        "target_branch": pull.base,
    }


def _gl_list(server: Server, query: Mapping[str, str], data: Any) -> tuple[int, Any]:
    return 200, [_gl_pull(pull) for pull in server.newest(query["source_branch"])]


def _gl_create(server: Server, query: Any, data: Any) -> tuple[int, Any]:
    if any(pull.branch == data["source_branch"] and pull.state == "open" for pull in server.pulls):
        return 409, {"message": ["Another open merge request already exists for this source branch: !1"]}
    pull = server.add(data["source_branch"], data["target_branch"], data["title"], data["description"])
    return 201, _gl_pull(pull)


def _gl_edit(server: Server, query: Any, data: Any, number: str) -> tuple[int, Any]:
    pull = server.pull(number)
    for name, value in data.items():
        if name == "state_event":
            pull.state = {"close": "closed"}[value]
        elif name == "add_labels":
            pull.labels += value.split(",")
        elif name == "reviewer_ids":
            pull.reviewers += value
        else:
            setattr(pull, {"description": "body", "target_branch": "base"}.get(name, name), value)
    return 200, _gl_pull(pull)


def _gl_note(server: Server, query: Any, data: Any, number: str) -> tuple[int, Any]:
    server.pull(number).comments.append(data["body"])
    return 201, {"id": 1, "body": data["body"]}


def _gl_users(server: Server, query: Mapping[str, str], data: Any) -> tuple[int, Any]:
    name = query["username"]
    return 200, [{"id": PEOPLE[name], "username": name}] if name in PEOPLE else []


_PROJECT = r"/projects/group%2Fapp"
GITLAB: Sequence[tuple[str, str, Callable[..., tuple[int, Any]]]] = (
    ("GET", rf"{_PROJECT}/merge_requests", _gl_list),
    ("POST", rf"{_PROJECT}/merge_requests", _gl_create),
    ("PUT", rf"{_PROJECT}/merge_requests/(\d+)", _gl_edit),
    ("POST", rf"{_PROJECT}/merge_requests/(\d+)/notes", _gl_note),
    ("GET", r"/users", _gl_users),
)
PREFIXES = {"github": "/api/v3", "gitea": "/api/v1", "gitlab": "/api/v4"}


def _git(handler: BaseHTTPRequestHandler, root: Path, data: bytes) -> None:
    """Let git itself answer (`git http-backend`), for those who know the token."""
    given = base64.b64decode(handler.headers.get("Authorization", "").removeprefix("Basic ")).decode()
    if given.partition(":")[2] != TOKEN:
        handler.send_response(401)
        handler.send_header("WWW-Authenticate", 'Basic realm="forge"')
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return
    parts = urlsplit(handler.path)
    surroundings = {
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "REMOTE_USER": "somebody",
        "REMOTE_ADDR": "127.0.0.1",
        "REQUEST_METHOD": handler.command,
        "PATH_INFO": parts.path,
        "QUERY_STRING": parts.query,
        "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(data)),
        "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
        "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    done = subprocess.run(["git", "http-backend"], env=surroundings, input=data, capture_output=True, check=True)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    fields = [line.partition(": ")[::2] for line in head.decode().split("\r\n")]
    handler.send_response(int(dict(fields).get("Status", "200").split()[0]))
    for name, value in fields:
        if name != "Status":
            handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


@contextmanager
def forge(kind: str, root: Path | None = None) -> Iterator[Server]:
    """A forge on a port of its own, for as long as the block lasts.

    Args:
        root: where the bare repositories are that it serves over http.
    """
    server = Server(kind)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            if server.disturb(self):
                return
            length = int(self.headers.get("Content-Length") or 0)
            sent = self.rfile.read(length)
            parts = urlsplit(self.path)
            if root is not None and ".git/" in parts.path:
                _git(self, root, sent)
                return
            data = json.loads(sent or b"null")
            assert parts.path.startswith(PREFIXES[kind]), self.path
            path = parts.path.removeprefix(PREFIXES[kind])
            server.asked.append((self.command, path))
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            planned = server.next.pop(0) if server.next else None
            if planned is not None:
                status, headers, content = planned
            elif TOKEN not in self.headers.get("Authorization", ""):
                status, headers, content = 401, {}, {"message": "Bad credentials"}
            else:
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                headers = {}
                status, content = server.answer(self.command, path, query, data)
            text = json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _answer

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_address[1]}{PREFIXES[kind]}"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


@dataclass
class Clock:
    """A clock that only our own waiting moves."""

    time: float = 1_000_000.0
    slept: list[float] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def patience(self, seconds: float = 900.0) -> Patience:
        return Patience(
            seconds=seconds, sleep=self.sleep, now=lambda: self.time, chance=lambda: 0.5, tell=self.told.append
        )
