"""Pull requests against GitHub's own description of its API: each request, and each answer of ours, is checked by it.

By hand (460 MB of node modules):

    npm install --prefix /tmp/openapi @stoplight/prism-cli @octokit/openapi
    python tests/sweep_forge.py /tmp/openapi/node_modules

Prism stands between the client and the forge of `tests/forges.py`. It turns away what the description does not allow,
on either way; that it does is shown first, by requests that are wrong. The answers of the forge are GitHub's own
examples with what the forge has to say on top. `--description` takes another one, such as that of an Enterprise Server.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # run as a script: the package lies beside this folder
    sys.path.insert(1, str(Path(__file__).parent.parent))

from forges import TOKEN, Clock, Server, forge

from fixer.errors import Refusal
from fixer.git.credentials import Token
from fixer.git.forge.forge import Forge
from fixer.git.forge.github import GitHub
from fixer.git.forge.pull_request import PullRequest

PULL = PullRequest("fix/amp", "main", "Fix 2 bugs", "## What\n\nText.", ("amp",), ("@ada", "@acme/core"))
EXAMPLES = {
    "repository": "full-repository-default-response",
    "pull": "pull-request",
    "simple pull": "pull-request-review-request",
    "label": "label-items",
    "comment": "issue-comment",
}
WRONG: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/repos/acme/app/pulls", {"title": "no head and no base"}),
    ("POST", "/repos/acme/app/pulls", {"title": ["x"], "head": "a", "base": "b"}),
    ("PATCH", "/repos/acme/app/pulls/1", {"state": "shut"}),
    ("POST", "/repos/acme/app/issues/1/comments", {"text": "no body"}),
    ("GET", "/repos/acme/app/pulls?state=everything", None),
)


@contextlib.contextmanager
def prism(modules: Path, description: Path, upstream: str, log: Path) -> Iterator[str]:
    """Prism as a proxy on a port of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(modules / ".bin/prism"), "proxy", str(description), upstream, "--errors", "--port", str(port)]
    with log.open("wb") as output:
        running = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
    try:
        for _ in range(600):
            if b"Prism is listening" in log.read_bytes():
                break
            if running.poll() is not None:
                raise SystemExit(f"prism ended: {log.read_text()}")
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait()


def send(url: str, verb: str, data: Any) -> int:
    """The status of one request, sent without a client that knows how."""
    headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
    body = None if data is None else json.dumps(data).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers, method=verb)) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def check(said: bool, what: str) -> None:
    """Print what was tried; end if it did not come out."""
    print(f"{'ok  ' if said else 'FAIL'} {what}", flush=True)
    if not said:
        raise SystemExit(1)


def paths(server: Server, url: str) -> None:
    """Everything that a pull request goes through."""
    for verb, path, data in WRONG:
        before = len(server.asked)
        status = send(url + path, verb, data)
        check(status == 422 and len(server.asked) == before, f"turned away: {verb} {path} {data}")
    clock = Clock()
    there = Forge(GitHub(url, "acme/app", Token(TOKEN, "a sweep"), clock.patience()))
    check(there.deliver(PULL).outcome == "opened", "opened")
    check((server.pulls[0].labels, server.pulls[0].reviewers) == (["amp"], ["ada", "core"]), "labels and reviewers")
    wrote = len(server.wrote)
    check(there.deliver(PULL).outcome == "unchanged" and len(server.wrote) == wrote, "no-op")
    check(there.deliver(replace(PULL, title="Fix 3 bugs", body="New.")).outcome == "updated", "updated")
    limited = {"message": "You have exceeded a secondary rate limit.", "documentation_url": "https://docs.github.com"}
    server.next = [(403, {"Retry-After": "30"}, limited)]
    edited = replace(PULL, title="Fix 4 bugs", body="New.")
    check(there.deliver(edited).outcome == "updated" and clock.slept == [31.5], f"secondary limit: slept {clock.slept}")
    clock.slept.clear()
    server.pulls[0].state = "merged"
    reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(clock.time) + 90)}
    server.next = [None, (403, reset, {**limited, "message": "API rate limit exceeded"})]
    opened = there.deliver(edited).outcome == "opened"
    check(opened and len(clock.slept) == 1 and 90 <= clock.slept[0] < 100, f"primary limit: slept {clock.slept}")
    server.pulls[1].state = "closed"
    check(there.deliver(edited).outcome == "left-alone", "closed by a person: left alone")
    server.pulls[1].state = "open"
    check(there.deliver(replace(edited, empty=True)).outcome == "closed", "empty: closed with a comment")
    check(there.deliver(replace(edited, draft=True)).outcome == "opened" and server.pulls[2].draft, "a draft")
    server.pulls[2].state = "merged"
    server.next = [None, (422, {}, {**limited, "message": "No commits between main and fix/amp"})]
    try:
        there.deliver(edited)
        check(False, "a refusal is said")
    except Refusal as refusal:
        check("No commits between main and fix/amp" in str(refusal), f"a refusal is said: {refusal}")


def main() -> None:
    """Run it, and print what was tried."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", type=Path, help="node_modules with @stoplight/prism-cli and @octokit/openapi")
    parser.add_argument("--description", default="api.github.com.json")
    options = parser.parse_args()
    description = options.modules / "@octokit/openapi/generated" / options.description
    content = json.loads(description.read_bytes())
    examples = {what: content["components"]["examples"][name]["value"] for what, name in EXAMPLES.items()}
    examples = {what: value[0] if isinstance(value, list) else value for what, value in examples.items()}
    # Two of GitHub's examples lack what its own description requires.
    for repository in (examples["repository"], examples["repository"]["source"]):
        repository["language"] = None
    for pull in ("pull", "simple pull"):
        examples[pull]["requested_teams"] = []
    print(f"{options.description}: version {content['info']['version']}, {len(content['paths'])} paths")
    log = options.modules.parent / "prism.log"
    with forge("github") as server, prism(options.modules, description, server.url, log) as url:
        server.examples, server.shown = examples, url
        paths(server, url)
        turned_away = log.read_text().count("errors#VIOLATIONS")
        warnings = re.findall(r"Violation: .*", log.read_text())
        checked = len(server.asked)
    print(f"{checked} requests went through the description; {turned_away} answers were turned away")
    # GitHub limits every operation; the description has a 403 for some.
    print(*(f"warning: {warning}" for warning in warnings), sep="\n")
    check(turned_away == 0, "every answer is one that the description allows")


if __name__ == "__main__":
    main()
