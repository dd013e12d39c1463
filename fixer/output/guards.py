"""Files that keep new bugs out: a hook for pre-commit, a workflow for GitHub, a job for GitLab."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import join, quote
from typing import Any

import yaml

from codemods.model.plan import FilePlan
from fixer.errors import Refusal

HOOKS = ".pre-commit-config.yaml"
WORKFLOW = ".github/workflows/fixer.yml"
JOB = ".gitlab/fixer.yml"
BASELINE = "fixer-baseline.json"
"""Where the findings are named that the check leaves out."""
_ADDRESS = re.compile(r"(?:git\+)?(?P<repo>(?:https?|ssh|file)://\S+|git@[^\s:]+:\S+)@(?P<rev>[^@/\s]+)")


@dataclass(frozen=True, slots=True)
class GuardFile:
    """A file that makes a check run where changes come in, or names what that check leaves out."""

    path: str
    before: str | None
    """What it held; None: there was none."""
    after: str

    @property
    def plan(self) -> FilePlan:
        """The change, as a plan of a file."""
        return FilePlan(self.path, (self.before or "").encode(), self.after.encode())

    def write(self, root: Path) -> None:
        """Write the file below `root`.

        Raises:
            Refusal: if that cannot be done.
        """
        target = root / self.path
        if not target.resolve().is_relative_to(root.resolve()):
            raise Refusal(f"{self.path}: a link leads out of {root}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self.after.encode())
        except OSError as error:
            raise Refusal(f"{self.path}: cannot be written ({error.strerror})") from error


def pre_commit(root: Path, options: Sequence[str], source: str | None) -> GuardFile:
    """The hook, behind the hooks that are there; their text and comments stay.

    Args:
        options: of `fixer check`.
        source: where pre-commit gets fixer from, with a revision; None: it runs the one of the active environment.

    Raises:
        Refusal: if the hook is there, or the file cannot take it.
    """
    before = _read(root, HOOKS)
    if source is None:
        entry = _local_hook(options)
    elif (match := _ADDRESS.fullmatch(source)) is None:
        raise Refusal(f"--from {source}: pre-commit clones a repository at a revision: write git+URL@COMMIT")
    else:
        entry = {"repo": match["repo"], "rev": match["rev"], "hooks": [_hook(options)]}
    return GuardFile(HOOKS, before, _with_entry(before, entry))


def github(root: Path, options: Sequence[str], source: str | None) -> GuardFile:
    """A workflow that checks pull requests and the default branch, and annotates the lines.

    Raises:
        Refusal: if there is one, or nobody says from where fixer is installed.
    """
    return _new(root, WORKFLOW, _WORKFLOW, source, ["fixer", "check", "--format", "github", *options])


def gitlab(root: Path, options: Sequence[str], source: str | None) -> GuardFile:
    """A job that checks merge requests and the default branch, to be included by `.gitlab-ci.yml`.

    Raises:
        Refusal: if there is one, or nobody says from where fixer is installed.
    """
    report = ["--format", "gitlab", "--output", "gl-code-quality-report.json"]
    return _new(root, JOB, _JOB, source, ["fixer", "check", *report, *options])


_WORKFLOW = """\
# Written by `fixer guard github`: keeps out new bugs that fixer finds.
name: fixer
on:
  pull_request:
  push:
    branches: [main, master]
permissions:
  contents: read
jobs:
  fixer:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: INSTALL
      - run: CHECK
"""
_JOB = """\
# Written by `fixer guard gitlab`: keeps out new bugs that fixer finds. `.gitlab-ci.yml` includes it.
fixer:
  image: python:3.12
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - INSTALL
    - CHECK
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
"""


def _new(root: Path, path: str, template: str, source: str | None, check: Sequence[str]) -> GuardFile:
    if source is None:
        raise Refusal(
            "--from is missing: what does pip install there? fixer is on no package index: name a URL or a wheel"
        )
    if not source.isprintable() or "${{" in source:
        raise Refusal(f"--from {source!r}: not something that pip installs")
    if (root / path).exists():
        raise Refusal(f"{path} exists: it is not overwritten; remove it first, or run this in it: {join(check)}")
    install = f"python -m pip install {quote(source)}"
    return GuardFile(path, None, template.replace("INSTALL", _scalar(install)).replace("CHECK", _scalar(join(check))))


def _hook(options: Sequence[str]) -> dict[str, Any]:
    return {"id": "fixer-check", **({"args": list(options)} if options else {})}


def _local_hook(options: Sequence[str]) -> dict[str, Any]:
    hook = {
        "id": "fixer-check",
        "name": "fixer check",
        "entry": join(["fixer", "check", *options]),
        "language": "system",
        "types_or": ["python", "jupyter", "yaml", "toml"],
        "require_serial": True,
    }
    return {"repo": "local", "hooks": [hook]}


def _read(root: Path, path: str) -> str | None:
    try:
        return (root / path).read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{path}: cannot be read ({error})") from error


def _with_entry(before: str | None, entry: dict[str, Any]) -> str:
    """The text of the hooks with one more repository at the end of the list."""
    if before is None or not before.strip():
        return "repos:\n" + _block(entry, 2)
    why = f"{HOOKS}: not changed: "
    by_hand = f"add this to its `repos`:\n\n{_block(entry, 2)}"
    try:
        there = yaml.safe_load(before)
        tree = yaml.compose(before, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise Refusal(f"{why}it is not valid YAML; repair it first ({_first_line(error)})") from error
    repos = there.get("repos") if isinstance(there, dict) else None
    if not isinstance(repos, list) or not isinstance(tree, yaml.MappingNode):
        raise Refusal(f"{why}it has no list `repos`; {by_hand}")
    if (found := _guarding(repos)) is not None:
        raise Refusal(f"{why}it runs fixer already (the hook `{found}`)")
    node = next(value for key, value in tree.value if key.value == "repos")
    end = "\r\n" if "\r\n" in before else "\n"
    if node.flow_style and repos:
        raise Refusal(f"{why}its `repos` is written in one line; {by_hand}")
    if node.flow_style:
        block = _block(entry, 2).replace("\n", end)
        after = (
            before[: node.start_mark.index].rstrip(" ") + end + block + before[node.end_mark.index :].removeprefix(end)
        )
    else:
        after = _appended(before, node, _block(entry, node.start_mark.column).replace("\n", end), end)
    try:
        right = yaml.safe_load(after) == {**there, "repos": [*repos, entry]}
    except yaml.YAMLError:
        right = False
    if not right:
        raise Refusal(f"{why}its text cannot be added to safely; {by_hand}")
    return after


def _appended(before: str, node: yaml.Node, block: str, end: str) -> str:
    """The text with a block behind the last line of a list; what stands between that and what follows stays there."""
    lines = before.splitlines(keepends=True)
    last = node.end_mark.line + (1 if node.end_mark.column else 0)
    column = node.start_mark.column
    while last and _is_apart(lines[last - 1] if last <= len(lines) else "", column):
        last -= 1
    head = "".join(lines[:last])
    return head + ("" if head.endswith("\n") else end) + block + "".join(lines[last:])


def _is_apart(line: str, column: int) -> bool:
    """Whether a line is empty, or a comment that is not indented as the entries of the list are."""
    text = line.strip()
    return not text or (text.startswith("#") and len(line) - len(line.lstrip()) <= column)


def _guarding(repos: Sequence[Any]) -> str | None:
    """The hook that runs fixer."""
    for repo in repos:
        hooks = repo.get("hooks") if isinstance(repo, dict) else None
        for hook in hooks if isinstance(hooks, list) else ():
            if isinstance(hook, dict):
                entry = str(hook.get("entry", "")).split()
                if str(hook.get("id", "")) in ("fixer-check", "fixer-apply") or entry[:1] == ["fixer"]:
                    return str(hook.get("id", "fixer"))
    return None


class _Indented(yaml.SafeDumper):  # type: ignore[misc]
    """Writes the entries of a list further to the right than its key, as most people do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _block(entry: dict[str, Any], column: int) -> str:
    """An entry of a list, at a column."""
    dumped = yaml.dump([entry], Dumper=_Indented, sort_keys=False, default_flow_style=None, width=1000)
    return textwrap.indent(dumped, " " * column)


def _scalar(text: str) -> str:
    """A string as YAML."""
    plain = re.fullmatch(r"[\w./+@:=,' -]+", text) and ": " not in text
    return text if plain and yaml.safe_load(text) == text else json.dumps(text)


def _first_line(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f"line {mark.line + 1}" if mark is not None else str(error).splitlines()[0]
