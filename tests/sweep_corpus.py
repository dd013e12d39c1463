"""Real projects, checked and repaired in every way: nothing may crash, break or be lost.

    python tests/sweep_corpus.py DIRECTORY... [--strategies]

Each directory is copied and made a repository of one commit. Then:

- `check` with one process and with two, and of a twin of the project (each file at random with CRLF line ends, a byte
  order mark, form feeds before definitions, or without a final newline), says the same, and no rule fails;
- `apply --unsafe-fixes` (with --strategies, once more with each strategy of each rule that finds something): every
  changed file parses, keeps its comments, has no new undefined name, and differs only where an edit of a finding is;
- `apply --dry-run` prints the patch of what `apply` writes, and `apply --branch` commits it, rule by rule;
- a second `apply` writes nothing.

Prints a line for each project, what is wrong, and the sums; exits with 1 if anything is wrong.
"""

from __future__ import annotations

import ast
import builtins
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FIXER = (sys.executable, "-c", "from fixer.cli import main; main()")
GIT = (
    "git",
    *("-c", "user.name=sweep", "-c", "user.email=sweep@localhost"),
    *("-c", "core.autocrlf=false", "-c", "gc.auto=0"),
)
BRANCH = "fix/sweep"
SOURCES = (".py", ".pyw", ".ipynb", ".yaml", ".yml", ".json", ".toml", ".sh", ".txt", ".cfg", ".in")
NAMES = frozenset({*dir(builtins), "__file__", "__path__", "__class__"})
FORM_FEED = re.compile(rb"(?m)^(?=(?:class|def|async def) )")


def _crlf(data: bytes) -> bytes:
    return data if b"\r" in data else data.replace(b"\n", b"\r\n")


TWINS: dict[str, Callable[[bytes], bytes]] = {
    "crlf": _crlf,
    "bom": lambda data: data if data.startswith(b"\xef\xbb\xbf") else b"\xef\xbb\xbf" + data,
    "form feed": lambda data: FORM_FEED.sub(b"\x0c", data),
    "no final newline": lambda data: data.rstrip(b"\n"),
    "itself": lambda data: data,
}


@dataclass
class Swept:
    """What was seen of one project."""

    place: Path
    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def expect(self, right: bool, what: str) -> None:
        if not right:
            self.wrong.append(what)


def run(at: Path, *words: str, cache: str = "--no-cache") -> subprocess.CompletedProcess[bytes]:
    """One command of ours."""
    return subprocess.run([*FIXER, *words, cache, "--isolated"], cwd=at, capture_output=True, check=False)


def git(at: Path, *words: str) -> bytes:
    return subprocess.run([*GIT, *words], cwd=at, capture_output=True, check=True).stdout


def copied(place: Path, to: Path) -> Path:
    """The files of a project that are read, as a repository of one commit."""

    def unread(directory: str, names: list[str]) -> list[str]:
        paths = ((name, Path(directory, name)) for name in names)
        return [n for n, p in paths if n == ".git" or p.is_symlink() or (p.is_file() and p.suffix not in SOURCES)]

    shutil.copytree(place, to, ignore=unread)
    git(to, "init", "-q")
    git(to, "add", "-A", "-f")
    git(to, "commit", "-q", "-m", "as it is", "--allow-empty")
    return to


def swept(place: Path, scratch: Path, *, strategies: bool) -> Swept:
    """One project put through everything."""
    found = Swept(place)
    root = copied(place, scratch / "project")
    found.counts["python files"] = sum(1 for _ in root.rglob("*.py"))
    found.counts["notebooks"] = sum(1 for _ in root.rglob("*.ipynb"))
    found.counts["configuration files"] = sum(1 for p in root.rglob("*") if p.suffix in (".yaml", ".yml", ".json"))
    said = checked(found, root, "--jobs", "1")
    found.expect(checked(found, root, "--jobs", "2") == said, "two processes say something else than one")
    twin = scratch / "twin"
    shutil.copytree(root, twin)
    spelled_otherwise(twin)
    other = checked(found, twin)
    named = {skip["path"] for skip in other["skips"]}
    missing, new = places(said, named) - places(other, named), places(other, named) - places(said, named)
    found.expect(not missing and not new, f"in the twin {[*missing][:3]} are missing, {[*new][:3]} are new")
    shutil.rmtree(twin)
    found.counts["findings"] = len(said["findings"])
    ways: list[tuple[str, ...]] = [()]
    if strategies:
        codes = {each["code"] for each in said["findings"]}
        listed = subprocess.run([*FIXER, "rules", "--format", "json"], capture_output=True, check=True).stdout
        rules = json.loads(listed)
        ways += [("--strategy", f"{r['code']}={s}") for r in rules if r["code"] in codes for s in r["strategies"][1:]]
    for way in ways if any(each["fix"] for each in said["findings"]) else ():
        repaired(found, root, scratch, way)
    return found


def checked(found: Swept, root: Path, *options: str) -> dict[str, Any]:
    """What `check` says of the files, as data."""
    done = run(root, "check", "--format", "json", "--unsafe-fixes", *options)
    crashed = b"Traceback" in done.stderr or done.returncode not in (0, 1, 2)
    found.expect(not crashed, f"check ended with {done.returncode}: {done.stderr.decode()[-300:]}")
    said: dict[str, Any] = json.loads(done.stdout) if done.stdout.strip() else {"findings": [], "skips": []}
    failed = [skip for skip in said["skips"] if skip["reason"] == "rule-failed"]
    found.expect(not failed, f"a rule failed: {failed[:2]}")
    return said


def spelled_otherwise(root: Path) -> None:
    """Give each Python file one of the spellings that change no line."""
    for path in sorted(root.rglob("*.py")):
        data = path.read_bytes()
        twin = TWINS[random.Random(path.name).choice(sorted(TWINS))](data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                same = ast.dump(ast.parse(data)) == ast.dump(ast.parse(twin))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if same and os.access(path, os.W_OK):
            path.write_bytes(twin)


def places(said: Mapping[str, Any], besides: Collection[str]) -> Counter[tuple[str, int, str]]:
    """The findings by place, but those in some files; not by column, which a byte order mark may move."""
    return Counter((f["path"], f["line"], f["code"]) for f in said["findings"] if f["path"] not in besides)


def repaired(found: Swept, root: Path, scratch: Path, way: Sequence[str]) -> None:
    """All fixes taken, as a patch, in place and as a branch."""
    named = " ".join(way) or "by default"
    options = ("--unsafe-fixes", *way)
    patch = run(root, "apply", "--dry-run", *options).stdout
    here = scratch / "applied"
    shutil.copytree(root, here)
    done = run(here, "apply", *options)
    found.expect(b"Traceback" not in done.stderr, f"{named}: apply: {done.stderr.decode()[-300:]}")
    changed = git(here, "diff", "--name-only", "-z").decode("utf-8", "surrogateescape").split("\0")[:-1]
    found.counts["files changed"] += len(changed)
    for name in changed:
        before = git(here, "show", f"HEAD:{name}")
        for what in broken(name, before, (here / name).read_bytes()):
            found.wrong.append(f"{named}: {name}: {what}")
    git(here, "add", "-A")
    tree = git(here, "write-tree").strip()
    if changed:
        again = scratch / "patched"
        shutil.copytree(root, again)
        git(again, "reset", "-q", "--hard")
        command = [*GIT, "apply", "--index", "-"]
        applied = subprocess.run(command, cwd=again, input=patch, capture_output=True, check=False)
        same = applied.returncode == 0 and git(again, "write-tree").strip() == tree
        found.expect(same, f"{named}: the patch is not what apply wrote: {applied.stderr.decode()[-200:]}")
        shutil.rmtree(again)
        run(root, "apply", "--branch", BRANCH, "--author", "sweep <sweep@localhost>", *options)
        try:
            branch = git(root, "rev-parse", f"{BRANCH}^{{tree}}").strip()
            found.expect(branch == tree, f"{named}: the commits do not add up to what apply wrote")
            found.counts["commits"] += int(git(root, "rev-list", "--count", f"HEAD..{BRANCH}"))
            git(root, "branch", "-D", BRANCH)
        except subprocess.CalledProcessError:
            found.wrong.append(f"{named}: no branch was made")
        git(here, "commit", "-q", "-m", "repaired")
        run(here, "apply", *options)
        found.expect(git(here, "status", "--porcelain") == b"", f"{named}: a second apply writes something")
    shutil.rmtree(here)


def broken(name: str, before: bytes, after: bytes) -> Iterator[str]:
    """What is wrong with a file that was changed."""
    if name.endswith((".json", ".ipynb")):
        try:
            json.loads(after)
        except ValueError as error:
            yield f"is no JSON: {error}"
    if not name.endswith((".py", ".pyw")):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            old, new = ast.parse(before), ast.parse(after)
            compile(after, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        yield f"does not compile: {error}"
        return
    if lost := Counter(_comments(before)) - Counter(_comments(after)):
        yield f"lost comments: {[*lost][:3]}"
    if unknown := _undefined(new) - _undefined(old):
        yield f"new undefined names: {sorted(unknown)}"
    if ast.dump(old) == ast.dump(new) and before != after and not set(_comments(after)) - set(_comments(before)):
        yield "was changed in its layout only"


def _comments(data: bytes) -> Iterator[str]:
    for token in tokenize.tokenize(io.BytesIO(data).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def _undefined(tree: ast.Module) -> set[str]:
    """Names that are read and that nothing in the file binds."""
    bound, read = set(NAMES), set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.MatchStar(name=str(name)) | ast.MatchAs(name=str(name)):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.alias(name=name, asname=asname):
                bound.add(asname or name.partition(".")[0])
                if name == "*":
                    return set()
            case ast.ExceptHandler(name=str(name)) | ast.MatchMapping(rest=str(name)):
                bound.add(name)
    return read - bound


def main(arguments: Sequence[str]) -> int:
    """Sweep over all directories."""
    strategies = "--strategies" in arguments
    directories = [Path(each) for each in arguments if each != "--strategies"]
    if not directories:
        print(__doc__)
        return 2
    sums: Counter[str] = Counter()
    wrong = 0
    for place in directories:
        with tempfile.TemporaryDirectory(prefix="sweep-corpus-") as scratch:
            found = swept(place, Path(scratch), strategies=strategies)
        sums += found.counts
        wrong += len(found.wrong)
        counts = ", ".join(f"{count} {what}" for what, count in found.counts.items() if count)
        print(f"{place.name}: {counts}", flush=True)
        for each in found.wrong:
            print(f"    WRONG: {each}", flush=True)
    total = ", ".join(f"{count:,} {what}" for what, count in sums.items())
    print(f"{len(directories)} projects: {total}; {wrong} things wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
