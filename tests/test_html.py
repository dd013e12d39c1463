"""Pages: everything is text whoever wrote it, nothing is fetched, what is said is there to be read without a script."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world import fixer, write

from codemods.model.edits import Edit, Finding, Fix, Place, Safety, Skip, SkipReason
from codemods.model.plan import Change, FilePlan, Plan, UnusedSuppression
from codemods.sources.files import decode
from fixer.bulk import job
from fixer.bulk.drive import Standing
from fixer.bulk.job import Ending
from fixer.bulk.rows import Branch, Row
from fixer.report import campaign_html, findings_html
from fixer.report.html import WIDEST, diff, link, page, patched, text, words
from fixer.report.patch import patch

HOSTILE = "</summary></pre></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b[31m\u202e"
VOID = {"meta", "img", "br"}


class Reader(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.said = ""
        self.feed(page)
        self.close()
        assert not self.open, "every element ends"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.said += data

    def all(self, tag: str, **values: str) -> list[dict[str, str | None]]:
        return [held for name, held in self.tags if name == tag and values.items() <= held.items()]


def branch(name: str = "fixer/amp", **values: object) -> Branch:
    plain = Branch(
        name=name,
        part="",
        owners=(),
        stage="done",
        tip="a" * 40,
        title="Fix 1 bug",
        body="",
        patch=b"",
        pack=None,
        commits=(("b" * 40, "fix(AMP002): subject"),),
        series=(),
        verdict="",
        verification="",
        ending=Ending.CHANGED,
        detail="",
        pull_request=None,
        url="",
    )
    return replace(plain, **values)  # type: ignore[arg-type]


def row(name: str = "a", *branches: Branch, ending: Ending | None = Ending.CHANGED, **values: object) -> Row:
    plain = Row(
        id=1,
        name=name,
        location=f"/{name}",
        local=True,
        base="c" * 40,
        base_name="main",
        ending=ending,
        detail="",
        places=(),
        notes=(),
        skipped=0,
        mark=None,
        branches=branches,
    )
    return replace(plain, **values)  # type: ignore[arg-type]


def shown(*rows: Row, notes: tuple[str, ...] = ()) -> Reader:
    return Reader(campaign_html.render(Standing("amp", rows, notes), {}).decode())


def file(path: str, before: str, after: str, code: str = "AMP002", message: str = "old") -> FilePlan:
    edit = Edit(path, 0, len(before), after)
    return FilePlan(path, before.encode(), after.encode(), (), (Change(code, edit, message, Safety.SAFE),))


def place(path: str, code: str = "AMP002", *, fixed: bool = True, safety: str = "safe") -> job.FindingRow:
    return job.FindingRow(code, path, 1, "`x` is old", safety, fixed)


def test_an_empty_campaign() -> None:
    reader = shown()
    assert "0 repositories, 0 branches" in reader.said
    assert not reader.all("details")


def test_what_a_campaign_came_to() -> None:
    reader = shown(
        row("a", branch(patch=patch([file("x.py", "old()\n", "new()\n")])), places=(place("x.py"),)),
        row("b", ending=Ending.NOTHING, detail="nothing found"),
        row("c", ending=Ending.FAILED, detail="git: no such host"),
        row("d", ending=None, base=None),
        notes=("a is listed twice",),
    )
    for said in (
        "4 repositories, 1 branch: 1 delivered",
        "changed: 1 (25 %)",
        "1 repository needs a person",
        "c: failed: git: no such host",
        "a is listed twice",
        "1 of 1",
        "-old()",
        "+new()",
        "bbbbbbbbbbbb fix(AMP002): subject",
        "nothing found",
        "not yet",
    ):
        assert said in reader.said, said
    assert [held["href"] for held in reader.all("a")] == ["#r2"]


def test_a_branch_is_found_by_its_rules_and_its_owners() -> None:
    one = branch("x/1", owners=("@o/a", "@o/b"), patch=patch([file("ü b.py", "1\n", "2\n")]))
    two = branch("x/2", owners=("@o/c",), ending=Ending.CONFLICT, patch=patch([file("c.py", "1\n", "2\n")]))
    places = (
        place("ü b.py"),
        place("c.py", "PL001"),
        place("c.py", "CKP001", fixed=False, safety="unsafe"),
        place("d.py", "GRD001", fixed=False, safety="display"),
    )
    reader = shown(row("a", one, two, ending=Ending.CONFLICT, places=places))
    leaves = [(held["data-rule"], held["data-owner"], held["data-state"]) for held in reader.all("section")]
    assert leaves == [("AMP002", "@o/a @o/b", "changed"), ("PL001", "@o/c", "conflict")]
    left = [held["data-rule"] for held in reader.all("li") if "data-rule" in held]
    assert left == ["CKP001", "GRD001"]
    options = {held["value"] for held in reader.all("option")}
    assert {"AMP002", "PL001", "CKP001", "GRD001", "@o/a", "@o/b", "@o/c", "changed", "conflict"} < options
    assert "(with unsafe-fixes)" in reader.said and "(to decide by hand)" in reader.said


def test_what_others_wrote_is_text() -> None:
    spoiled = file(f"{HOSTILE}.py".replace("/", ""), f"{HOSTILE}\n", "new\n", message=HOSTILE)
    hostile = branch(
        HOSTILE,
        part=HOSTILE,
        owners=(HOSTILE,),
        title=HOSTILE,
        patch=patch([spoiled]),
        commits=(("b", HOSTILE),),
        verdict=HOSTILE,
        verification=HOSTILE,
        detail=HOSTILE,
        pull_request=1,
        url=f"https://x/{HOSTILE}",
    )
    places = (place(HOSTILE, fixed=False), job.FindingRow(HOSTILE, "x", 1, HOSTILE, HOSTILE, False))
    other = row(HOSTILE, hostile, detail=HOSTILE, places=places, notes=(HOSTILE,), base_name=HOSTILE)
    plain = shown(row("a", branch(owners=("o",), patch=patch([file("x", "1\n", "2\n")]), pull_request=1)))
    reader = shown(other, row("b", ending=Ending.FAILED, detail=HOSTILE), notes=(HOSTILE,))
    assert {tag for tag, _ in reader.tags} <= {tag for tag, _ in plain.tags} | {
        "a",
        "strong",
        "table",
        "tr",
        "td",
        "th",
        "li",
    }
    assert len(reader.all("script")) == 1 and not reader.all("img")
    assert not {name for _, held in reader.tags for name in held if name.startswith("on")}
    assert "\x1b" not in reader.said and "\u202e" not in reader.said


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", " javascript:x", "data:text/html,x", "//x", "https://", "file:///x"]
)
def test_a_link_leads_to_a_web_page_or_nowhere(url: str) -> None:
    assert link(url, "#1") == "#1"
    assert link("HTTPS://x/1?a=1&b", "#1") == '<a href="HTTPS://x/1?a=1&amp;b" rel="noreferrer">#1</a>'


def test_a_page_needs_nothing_else() -> None:
    written = page("t", "", ["<p>x</p>"], "alert(1)")
    policy = Reader(written).all("meta")[1]["content"] or ""
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert "script-src 'none'" in page("t", "", [])
    big = campaign_html.render(Standing("amp", (row("a", branch()),), ()), {}).decode()
    assert not re.search(r"@import|url\(|\bsrc=|<link", big)


@given(st.text())
def test_whatever_is_said_is_read_as_it_was_meant(said: str) -> None:
    reader = Reader(f"<p>{text(said)}</p>")
    assert [tag for tag, _ in reader.tags] == ["p"]
    shown = re.sub(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", said)
    assert sum(map(len, reader.said.split())) >= len("".join(shown.split()))
    assert {tag for tag, _ in Reader(f"<p>{words(said)}</p>").tags} <= {"p", "code"}


def test_every_line_of_a_patch_is_shown() -> None:
    body = "".join(f"line {n}\n" for n in range(40))
    changed = file("a b.py", body, body.replace("line 7\n", "@@ -- ++\n").replace("line 30\n", "diff --git a b") + "x")
    (first, second) = (patch([changed]), patch([file("q\n.py", "1", "2\n")]))
    reader = Reader("".join(patched(first + second)))
    assert [held["class"] for held in reader.all("details")] == ["diff", "diff"]
    lines = [
        line for line in (first + second).decode().split("\n") if line and not line.startswith(("diff", "---", "+++"))
    ]
    for line in lines:
        assert line in reader.said
    assert "a b.py" in reader.said and '"q\\n.py"' in reader.said


def test_lines_are_cut_and_carriage_returns_are_no_noise() -> None:
    assert diff(["-a\r", "+b\r", " c\r"]) == "<pre><code><del>-a</del><ins>+b</ins> c\n</code></pre>"
    assert f"{'x' * (WIDEST - 1)} … 11 more characters" in diff([f"+{'x' * (WIDEST + 10)}"])


def finding(path: str, before: str, old: str, new: str | None, message: str = "`old` is old") -> Finding:
    start = before.index(old)
    line = before.count("\n", 0, start) + 1
    there = Place(start, start + len(old), line, 1, line, 1 + len(old))
    fix = Fix("Use `new`", (Edit(path, start, start + len(old), new),)) if new is not None else None
    safety = Safety.SAFE if fix else Safety.DISPLAY
    return Finding("OLD001", "old-call", path, there, message, safety, fix)


def found(*files: FilePlan, **values: object) -> Reader:
    plan = replace(Plan(files), **values)  # type: ignore[arg-type]
    return Reader(findings_html.render(plan, {}, name="app", unsafe=frozenset(), read=lambda path: None).decode())


def test_nothing_found() -> None:
    reader = found(files_seen=3)
    assert "0 findings; 3 files looked at" in reader.said and not reader.all("script")


def test_a_fix_is_shown_as_a_diff_around_it() -> None:
    before = "".join(f"line_{n}\n" for n in range(20)) + "old()\r\nend"
    reader = found(FilePlan("x.py", before.encode(), before.encode(), (finding("x.py", before, "old()", "new()"),)))
    assert " line_17\n line_18\n line_19\n-old()+new() end" in reader.said
    assert "line_16" not in reader.said
    assert "safe: Use new" in reader.said and "line 21: OLD001 [style] old is old" in reader.said


def test_far_edits_of_a_fix_are_hunks_of_their_own_and_other_files_are_named() -> None:
    before, other = "import a\n" + "x\n" * 50 + "old()\n", "torch==1\n"
    start = before.index("old")
    edits = (
        Edit("x.py", 9, 9, "import b\n"),
        Edit("x.py", start, start + 3, "new"),
        Edit("requirements.txt", 7, 8, "2"),
    )
    whole = replace(finding("x.py", before, "old()", "new()"), fix=Fix("All", edits))
    plan = Plan((FilePlan("x.py", before.encode(), before.encode(), (whole,)),))
    content = findings_html.render(
        plan, {}, name="app", unsafe=frozenset(), read={"requirements.txt": other.encode()}.get
    )
    reader = Reader(content.decode())
    assert len(reader.all("pre")) == 3 and reader.said.count(" x\n") < 12
    assert "requirements.txt" in reader.said and "-torch==1+torch==2" in reader.said


def test_without_a_fix_the_code_is_shown() -> None:
    reader = found(
        FilePlan("x.py", b"a\nold()\nb\n", b"a\nold()\nb\n", (finding("x.py", "a\nold()\nb\n", "old()", None),))
    )
    assert " old()" in reader.said and not reader.all("ins")
    assert [held["data-fix"] for held in reader.all("section")] == ["display"]


def test_names_and_messages_of_a_check_are_text() -> None:
    path = f"{HOSTILE}.py".replace("/", "")
    before = f"# {HOSTILE}\nold()\n"
    assert not isinstance(decode(path, before.encode()), Skip)
    whole = finding(path, before, "old()", f"new() # {HOSTILE}", HOSTILE)
    reader = found(
        FilePlan(path, before.encode(), before.encode(), (whole,)),
        skips=(Skip(HOSTILE, SkipReason.UNPARSABLE, HOSTILE),),
        unused=(UnusedSuppression(HOSTILE, 1, HOSTILE),),
    )
    assert len(reader.all("script")) == 1 and not reader.all("img")


def test_check_writes_a_page(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": "old_one()\n", "ünï.py": "old_four()\n"})
    done = fixer("check", "--format", "html", "--output", "page.html", at=tmp_path)
    assert done.code == 1 and done.out == b""
    reader = Reader((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "ünï.py" in reader.said and reader.all("section")
