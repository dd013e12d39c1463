"""A campaign whose driver, git server and forge fail at random, against one that nobody disturbed.

    python tests/sweep_campaign.py [TIMES] [FIRST]

One repository lies behind a forge that serves git over http and its own API, two lie on this machine. Each fault has a
number, from which all about it follows: the driver is ended by SIGKILL or SIGTERM, or one to three requests, to git or
to the API, are answered slowly, with 429, 500 or a page of HTML, by half an answer, by none, or by none after they were
carried out, or the connection is cut while a pack is being sent. Then the campaign is run again until it ends well, at
most three times. Every ref must be the same as without a fault, and set once; the pull request must be there once, with
its text, labels and reviewers; and nothing may be left behind or tell the token.
"""

from __future__ import annotations

import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from forges import TOKEN, Server, forge
from world import CHECKOUT, SURROUNDINGS, git, repository

TIMES = 60
OLD = "from torch.cuda.amp import autocast\n\nwith autocast():\n    pass\n"
FILES = {"train.py": OLD, "requirements.txt": "torch==2.6.0\n", "CODEOWNERS": "* @acme/ml\n"}
DATES = {f"GIT_{who}_DATE": "1700000000 +0000" for who in ("AUTHOR", "COMMITTER")}
CAMPAIGN = """name = "amp"
select = ["AMP002"]
repositories = ["{address}/acme/app.git", "one", "two"]
[pull-request]
title = "{{campaign}}: {{title}}"
labels = ["bot"]
reviewers = ["@bo"]
"""
PROGRAM = """
import sys
sys.path[0] = {checkout!r}
sys.argv[0] = "fixer"
from fixer.git.forge import patience
object.__setattr__(patience.PATIENT, "sleep", lambda seconds: None)
from fixer.cli import main
main()
"""
Disturb = Callable[[BaseHTTPRequestHandler], bool]


def _status(number: int, headers: dict[str, str], text: bytes) -> Disturb:
    def disturb(handler: BaseHTTPRequestHandler) -> bool:
        handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        handler.send_response(number)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(text)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(text)
        return True

    return disturb


def _empty(handler: BaseHTTPRequestHandler) -> bool:
    """Nothing in an answer; to one that changes something it would be a lie that nobody can see through."""
    return handler.command == "GET" and _status(200, {}, b"{}")(handler)


def _half(handler: BaseHTTPRequestHandler) -> bool:
    handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"number": 1, "ti')
    handler.close_connection = True
    return True


def _cut(handler: BaseHTTPRequestHandler) -> bool:
    handler.rfile.read(int(handler.headers.get("Content-Length") or 0) // 2)
    handler.close_connection = True
    return True


def _unanswered(handler: BaseHTTPRequestHandler) -> bool:
    handler.wfile = io.BytesIO()  # type: ignore[assignment]
    handler.close_connection = True
    return False


def _slow(handler: BaseHTTPRequestHandler) -> bool:
    time.sleep(0.5)
    return False


DISTURBANCES: dict[str, Disturb] = {
    "429": _status(429, {"Retry-After": "1"}, b'{"message": "slow down"}'),
    "limit": _status(403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}, b'{"message": "API rate limit"}'),
    "500": _status(500, {}, b"{}"),
    "502": _status(502, {"Content-Type": "text/html"}, b"<html>bad gateway</html>"),
    "html": _status(200, {"Content-Type": "text/html"}, b"<html>sign in</html>"),
    "empty": _empty,
    "half an answer": _half,
    "cut": _cut,
    "carried out and unanswered": _unanswered,
    "slow": _slow,
}


@dataclass
class Result:
    """What there is after a campaign."""

    refs: dict[str, str]
    pulls: list[Any]


class World:
    """Repositories, a forge and a campaign, for one fault."""

    def __init__(self, place: Path, server: Server) -> None:
        self.place, self.server = place, server
        self.bare = place / "served/acme/app.git"
        self.repositories = (self.bare, place / "one", place / "two")
        for at in self.repositories[1:]:
            repository(at, FILES)
        repository(place / "first", FILES)
        git("clone", "-q", "--bare", str(place / "first"), str(self.bare), at=place)
        git("config", "core.logAllRefUpdates", "true", at=self.bare)
        (place / "tmp").mkdir()
        address = server.url.rpartition("/api/")[0]
        (place / "CAMPAIGN.toml").write_text(CAMPAIGN.format(address=address))
        access = {"GH_ENTERPRISE_TOKEN": TOKEN, "GH_HOST": "127.0.0.1", "TMPDIR": str(place / "tmp")}
        cache = {"FIXER_CACHE_DIR": str(place / "cache")}
        self.environment = {**os.environ, **SURROUNDINGS, **DATES, **access, **cache}

    def start(self) -> subprocess.Popen[bytes]:
        program = PROGRAM.format(checkout=str(CHECKOUT))
        with (self.place / "output").open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-c", program, "bulk", "run", "CAMPAIGN.toml"],
                cwd=self.place,
                env=self.environment,
                stdout=output,
                stderr=output,
            )

    def result(self) -> Result:
        listed = ("for-each-ref", "--format=%(refname) %(objectname)")
        refs = {at.name: git(*listed, at=at) for at in self.repositories}
        pulls = [
            (p.branch, p.base, p.title, p.body, p.state, sorted({*p.labels}), sorted({*p.reviewers}))
            for p in self.server.pulls
        ]
        return Result(refs, pulls)

    def wrong(self) -> list[str]:
        """What must never be, whatever happened."""
        found = []
        said = (self.place / "output").read_text()
        if "Traceback" in said:
            found.append(said[-1500:])
        for file in self.place.rglob("*"):
            if file.is_file() and TOKEN.encode() in file.read_bytes():
                found.append(f"{file} holds the token")
        for at in self.repositories:
            for ref in git("for-each-ref", "--format=%(refname)", "refs/heads/fixer", at=at).split():
                if len(git("reflog", "show", ref, at=at).splitlines()) != 1:
                    found.append(f"{ref} of {at.name} was set more than once")
            git("fsck", "--no-dangling", "--connectivity-only", at=at)
        return found + [f"left: {left.name}" for left in (self.place / "tmp").glob("fixer*/*")]


def _campaign(number: int | None, asked: int, expected: Result | None) -> tuple[str, int, Result, list[str]]:
    """One campaign with the fault of that number, or none: what it was, requests, what came of it, what is wrong."""
    chance = random.Random(number)
    with tempfile.TemporaryDirectory(prefix="sweep-campaign-") as name:
        place = Path(name).resolve()
        (place / "served/acme").mkdir(parents=True)
        with forge("github", place / "served") as server:
            world = World(place, server)
            count, plan, what = [0], {}, "nothing"
            kill = number is not None and chance.random() < 0.35
            if number is not None and not kill:
                picked = sorted(chance.sample(range(asked), chance.randint(1, 3)))
                plan = {each: chance.choice(list(DISTURBANCES)) for each in picked}
                what = ", ".join(f"request {each}: {how}" for each, how in plan.items())

            def disturb(handler: BaseHTTPRequestHandler) -> bool:
                count[0] += 1
                how = plan.pop(count[0] - 1, None)
                return DISTURBANCES[how](handler) if how else False

            server.disturb = disturb
            running = world.start()
            if kill:
                how, seconds = chance.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM)), chance.uniform(0.3, 6)
                after = chance.randrange(asked)
                what = f"{how.name} {'after request ' + str(after) if seconds > 2 else f'after {seconds:.1f} s'}"
                end = time.monotonic() + (30 if seconds > 2 else seconds)
                while running.poll() is None and time.monotonic() < end and (seconds <= 2 or count[0] <= after):
                    time.sleep(0.005)
                with suppress(ProcessLookupError):
                    running.send_signal(how)
            codes = [running.wait()]
            plan.clear()
            while codes[-1] != 0 and len(codes) < 4:
                codes.append(world.start().wait())
            if number is not None and len(codes) == 1:
                codes.append(world.start().wait())
            wrong = world.wrong()
            result = world.result()
            if expected is not None:
                for what_of in ("refs", "pulls"):
                    one, other = getattr(result, what_of), getattr(expected, what_of)
                    if one != other:
                        wrong.append(f"{what_of} are {one} instead of {other}")
            if codes[-1] != 0:
                wrong.append(f"ended with {codes}: {(place / 'output').read_text()[-800:]}")
            return f"{what}: {codes}", count[0], result, wrong


def sweep(numbers: range) -> list[str]:
    """Campaigns with these faults; a line for each that went wrong."""
    os.environ.update(DATES)  # so that commits have the same names each time
    _, asked, expected, wrong = _campaign(None, 0, None)
    assert not wrong, wrong
    print(f"undisturbed: {asked} requests", flush=True)
    failures = []
    for number in numbers:
        what, _, _, wrong = _campaign(number, asked, expected)
        print(f"{'WRONG ' if wrong else ''}{number}: {what}", *(f"    {each}" for each in wrong), sep="\n", flush=True)
        failures += [f"{number}: {what}: {each}" for each in wrong]
    return failures


def main(arguments: list[str]) -> int:
    times, first = (*map(int, arguments), *(TIMES, 0)[len(arguments) :])
    begin = time.monotonic()
    failures = sweep(range(first, first + times))
    print(f"{times} faults in {time.monotonic() - begin:.0f} s; {len(failures)} things went wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
