"""Who owns a file: CODEOWNERS as GitHub and as GitLab read it.

The two agree on little more than the file's name. GitHub takes the last line that matches and skips a line with an
error; its patterns are those of `.gitignore` without negation, ranges and escaped `#`, and `docs/*` stays in `docs`.
GitLab takes the last line of *each section*, passes over words that are no owners, and matches with Ruby's
`File.fnmatch`, so that a directory's files belong to `docs/` and not to `docs`.

Sources: https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
and https://docs.gitlab.com/user/project/codeowners/reference/ with its page "Advanced CODEOWNERS configuration".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

GITHUB_PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
GITLAB_PLACES = ("CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Where each looks, in order; the first file found is the one."""
LARGEST = 3_000_000
"""Bytes; GitHub does not load a larger file."""

_HEADING = re.compile(r"(?P<optional>\^)?\[(?P<name>[^\[\]]+)\](?:\[[^\[\]]*\])?(?P<owners>(?:\s+.*)?)")
_EMAIL = r"[^\s@]+@[^\s@]+\.[^\s@]+"
_GITHUB_OWNER = re.compile(rf"@[\w-]+(?:/[\w.-]+)?|{_EMAIL}", re.ASCII)
_GITLAB_OWNER = re.compile(rf"@@(?:developer|maintainer|owner)s?|@[\w.-]+(?:/[\w.-]+)*|{_EMAIL}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OwnersLine:
    """One line: the paths it is about, and whose they are."""

    line: int
    paths: re.Pattern[str]
    owners: tuple[str, ...]
    """Empty: nobody's, whatever an earlier line says."""
    excluded: bool = False
    """GitLab's `!pattern`: the section has no say about these paths, whatever a later line says."""


@dataclass(frozen=True, slots=True)
class Section:
    """Lines that are judged together. GitHub's files have one."""

    name: str
    entries: tuple[OwnersLine, ...]
    optional: bool = False

    def owners(self, path: str) -> tuple[str, ...]:
        """Those of the last line that matches, unless a line excludes the path."""
        found: tuple[str, ...] = ()
        for entry in self.entries:
            if entry.paths.fullmatch(path):
                if entry.excluded:
                    return ()
                found = entry.owners
        return found


@dataclass(frozen=True, slots=True)
class Owners:
    """A CODEOWNERS file, read."""

    source: str
    """Its path."""
    forge: str
    """Whose rules it was read by: `GitHub` or `GitLab`."""
    sections: tuple[Section, ...]
    problems: tuple[str, ...] = ()
    """What is wrong with it, each with its line."""

    def of(self, path: str) -> tuple[str, ...]:
        """Whose a file is: the owners of all sections; of optional ones where no other has any."""
        required = [owner for section in self.sections if not section.optional for owner in section.owners(path)]
        optional = [owner for section in self.sections if section.optional for owner in section.owners(path)]
        return tuple(dict.fromkeys(required or optional))


def find(read: Callable[[str], bytes | None], *, gitlab: bool) -> Owners | None:
    """The owners of a tree; None where there is no such file.

    Args:
        read: the bytes of a file of the tree.
        gitlab: the tree lives on GitLab: which rules hold for a file at the root or in `docs/`.
    """
    places = dict.fromkeys((*GITLAB_PLACES, *GITHUB_PLACES) if gitlab else (*GITHUB_PLACES, *GITLAB_PLACES))
    for place in places:
        if (data := read(place)) is not None:
            return parse(data, place, gitlab=place.startswith(".gitlab/") or (gitlab and place in GITLAB_PLACES))
    return None


def lives_on_gitlab(read: Callable[[str], bytes | None], remote: str | None) -> bool:
    """Whether a tree is at home on GitLab, by its remote's address or by what GitLab reads in it."""
    host = re.sub(r"^\w+://|^[^/]*@", "", remote or "").partition("/")[0].lower()
    if "gitlab" in host or "github" in host:
        return "gitlab" in host
    if read(GITHUB_PLACES[0]) is not None:
        return False
    if read(GITLAB_PLACES[-1]) is not None or read(".gitlab-ci.yml") is not None:
        return True
    data = next((data for place in GITLAB_PLACES if (data := read(place)) is not None), b"")
    return any(_HEADING.fullmatch(line.strip()) for line in data.decode("utf-8", "replace").splitlines())


def parse(data: bytes, source: str, *, gitlab: bool) -> Owners:
    """A CODEOWNERS file by the rules of one of the two."""
    problems: list[str] = []

    def problem(line: int, text: str) -> None:
        problems.append(f"{source}:{line}: {text}")

    forge = "GitLab" if gitlab else "GitHub"
    if len(data) > LARGEST and not gitlab:
        return Owners(source, forge, (), (f"{source}: {len(data):,} bytes; GitHub reads none above {LARGEST:,}",))
    lines = list(enumerate(data.decode("utf-8-sig", "replace").splitlines(), start=1))
    if gitlab:
        sections = _gitlab_sections(lines, problem)
    else:
        sections = (Section("", tuple(_github_entries(lines, problem))),)
    return Owners(source, forge, sections, tuple(problems))


def _words(line: str) -> list[str]:
    """A line at its white space, except where a backslash stands before it."""
    return re.findall(r"(?:\\.|[^\s\\]|\\$)+", line)


def _github_entries(lines: Sequence[tuple[int, str]], problem: Callable[[int, str], None]) -> Iterator[OwnersLine]:
    for number, line in lines:
        words = _words(line)
        comment = next((index for index, word in enumerate(words) if word.startswith("#")), len(words))
        if not (words := words[:comment]):
            continue
        pattern, *owners = words
        wrong = [owner for owner in owners if not _GITHUB_OWNER.fullmatch(owner)]
        if why := _unlike_github(pattern):
            problem(number, f"{pattern!r} {why}; GitHub skips the line")
        elif wrong:
            problem(
                number, f"{wrong[0]!r} is not an owner (@user, @org/team or an e-mail address); GitHub skips the line"
            )
        else:
            yield OwnersLine(number, re.compile(_github_regex(pattern), re.DOTALL), tuple(owners))


def _unlike_github(pattern: str) -> str:
    """Why GitHub takes a pattern for an error; empty where it does not."""
    if pattern.startswith("!"):
        return "negates, which GitHub does not know"
    if pattern.startswith("\\#"):
        return "escapes a #, which GitHub does not know"
    if "[" in pattern or "]" in pattern:
        return "holds a character range, which GitHub does not know"
    if pattern == "/":
        return "matches nothing (* is everything)"
    if "***" in pattern:
        return "holds three stars"
    return ""


def _github_regex(pattern: str) -> str:
    """Whole paths that a pattern is about: what it matches, and what lies below a directory that it matches."""
    anchored = "/" in pattern.rstrip("/")
    names = pattern.strip("/").split("/")
    # `docs/*` is the exception: files in `docs`, not what lies deeper. A lone `*` is everything.
    below = "" if names[-1] == "*" and anchored else "(?:/.*)?"
    if pattern.endswith("/") or names[-1] == "**":
        below = "/.+"
    names = names if anchored else ["**", *names]
    while names and names[-1] == "**":
        names.pop()
    return _path_regex(names) + below if names else ".+"


def _gitlab_sections(lines: Sequence[tuple[int, str]], problem: Callable[[int, str], None]) -> tuple[Section, ...]:
    found: dict[str, list[OwnersLine]] = {"": []}
    names, required = {"": ""}, {""}
    key, defaults = "", tuple[str, ...]()
    for number, raw in lines:
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if heading := _HEADING.fullmatch(line):
            key = heading["name"].strip().casefold()
            names.setdefault(key, heading["name"].strip())
            found.setdefault(key, [])
            # Named twice, once as optional: GitLab requires it.
            required |= set() if heading["optional"] else {key}
            defaults = _gitlab_owners(number, heading["owners"].split(), problem)
            continue
        if line.startswith(("[", "^[")) and "]" not in line:
            problem(number, f"{line!r} is not a section heading ([Name], ^[Name], [Name][2] @owner); read as a path")
        pattern, *words = _words(line)
        owners = _gitlab_owners(number, words, problem)
        excluded = pattern.startswith("!")
        if not excluded and not words and not defaults:
            problem(number, f"{pattern!r} has no owner")
        try:
            paths = re.compile(_gitlab_regex(pattern.removeprefix("!")), re.DOTALL)
        except re.error as error:
            problem(number, f"{pattern!r} is not a path pattern ({error})")
            continue
        found[key].append(OwnersLine(number, paths, owners if words else defaults, excluded))
    return tuple(Section(names[key], tuple(entries), key not in required) for key, entries in found.items() if entries)


def _gitlab_owners(number: int, words: Sequence[str], problem: Callable[[int, str], None]) -> tuple[str, ...]:
    wrong = [word for word in words if not _GITLAB_OWNER.fullmatch(word)]
    if wrong and not wrong[0].startswith("#"):
        problem(number, f"{wrong[0]!r} is not an owner (@user, @group, @@role or an e-mail address); GitLab ignores it")
    elif wrong:
        problem(number, "GitLab knows no comments behind an entry: owners named there count")
    return tuple(word for word in words if _GITLAB_OWNER.fullmatch(word))


def _gitlab_regex(pattern: str) -> str:
    """As Ruby's `File.fnmatch` with FNM_PATHNAME and FNM_DOTMATCH reads it."""
    if pattern == "*":
        return ".*"
    pattern = pattern if pattern.startswith("/") else f"/**/{pattern}"
    *names, last = (f"{pattern}**/*" if pattern.endswith("/") else pattern).removeprefix("/").split("/")
    return _path_regex([*names, "*" if last == "**" else last])


def _path_regex(names: Sequence[str]) -> str:
    """Names between slashes, the last of which is not `**`.

    What can be found in more than one place is taken at the first, for good: nothing that follows could need another,
    and a file that somebody else wrote must not make us try them all.
    """
    numbers = count()
    groups: list[list[str]] = [[]]
    for name in names:
        if name == "**":
            groups.append([])
        else:
            groups[-1].append(_name_regex(name, numbers))
    *before, last = groups
    regex = ""
    for index, group in enumerate(before):
        here = "".join(f"{name}/" for name in group)
        regex += here if index == 0 else _first(f"(?:[^/]+/)*?{here}", numbers)
    return regex + ("(?:[^/]+/)*" if before else "") + "/".join(last)


def _name_regex(name: str, numbers: Iterator[int]) -> str:
    """One name. A range never gets here from a GitHub file."""
    pieces, position = [""], 0
    while position < len(name):
        char = name[position]
        end = name.find("]", position + 2) if char == "[" else -1
        if char == "\\" and position + 1 < len(name):
            position += 1
            pieces[-1] += re.escape(name[position])
        elif char == "*":
            pieces.append("")
        elif char == "?":
            pieces[-1] += "[^/]"
        elif end > 0:
            inside = name[position + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            pieces[-1] += f"[{'^/' + inside[1:] if inside[0] in '!^' else inside}]"
            position = end
        else:
            pieces[-1] += re.escape(char)
        position += 1
    if len(pieces) == 1:
        return pieces[0]
    between = "".join(_first(f"[^/]*?{piece}", numbers) for piece in pieces[1:-1] if piece)
    return f"{pieces[0]}{between}[^/]*{pieces[-1]}"


def _first(regex: str, numbers: Iterator[int]) -> str:
    """An atomic group, which Python has only since 3.11."""
    number = next(numbers)
    return f"(?=(?P<at{number}>{regex}))(?P=at{number})"
