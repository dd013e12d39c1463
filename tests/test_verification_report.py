"""What a person reads about a verification: the page, the section of a pull request, the chart."""

from __future__ import annotations

import io
import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

from rich.console import Console

from codemods.model.edits import Finding, Place, Safety
from codemods.model.effect import Effect
from codemods.model.plan import FilePlan
from codemods.verify.comparison import judge
from codemods.verify.symptoms import Run
from codemods.verify.trace import Parameter, Trace
from codemods.verify.verdict import Verdict
from fixer.report.series_chart import chart
from fixer.report.verification import document, norms, rows, section, show
from fixer.report.verification_html import render
from fixer.verify.verification import Verification

EVIL = "<script>alert(1)</script>"
PAGE = Parameter(True, 2, 2, 0, 0, True, (3.0, 6.0))
OTHER = Parameter(True, 2, 2, 0, 0, True, (4.0, 8.0))
TRACE = Trace(
    backward=2,
    steps=2,
    losses=(2.0, 1.0),
    windows=(1, 2),
    parameters={"net.a": PAGE, "net.b": OTHER},
    versions={"torch": "2.13.0"},
)
BEFORE = Run("exit", 1, 1.0, "", (Trace(backward=1, losses=(2.0,), error=f"RuntimeError: {EVIL}"),))
AFTER = Run("exit", 0, 1.0, "", (TRACE,))
PLACE = Place(0, 1, 1, 1, 1, 2)
FINDING = Finding("SCL002", "a-rule", "train.py", PLACE, f"never updated {EVIL}", Safety.SAFE, applied=True)
PROVED = Verification(
    "python train.py --name 'a b'",
    judge(BEFORE, AFTER),
    BEFORE,
    AFTER,
    ("SCL002",),
    effect=Effect.FACTOR,
    repeats=(2, 1),
    commits=("a" * 40, "b" * 40),
    files=(FilePlan("train.py", b"x = 1\n", b"x = 2\n", (FINDING,)),),
)


def test_the_page_shows_what_was_run_and_what_came_of_it() -> None:
    page = render(PROVED)
    assert EVIL not in page and "&lt;script&gt;" in page
    assert "<h1>proved: <code>python train.py --name" in page and 'class="verdict proved"' in page
    assert page.count('<polyline class="after"') == 2 and '<circle class="before"' in page
    assert "<del>-x = 1</del><ins>+x = 2</ins>" in page.replace("\n", "")
    assert "2 runs of the code as it is, 1 run with the fixes" in page
    assert "fixer verify --select SCL002 --run" in page and "aaaaaaaaaaaa → bbbbbbbbbbbb" in page


def test_the_section_of_a_pull_request_can_be_checked() -> None:
    text = section(PROVED)
    assert "| 1 | 2 | 2 |  | 5 |\n| 2 |  | 1 |  | 10 |\n" in text
    assert "- the fixes may change: all gradients of the first step by one factor" in text
    assert EVIL not in text


def terminal(verification: Verification, width: int = 80) -> str:
    stream = io.StringIO()
    show(Console(file=stream, width=width, color_system=None), verification)
    return stream.getvalue()


def test_the_terminal_tells_each_fact_once() -> None:
    text = terminal(PROVED, 200)
    assert text.startswith("proved: what was wrong before is gone\n") and text.count("RuntimeError") == 1
    assert "exit code 1  exit code 0" in " ".join(text.split()).replace("exit code 1 ", "exit code 1  ")
    assert "\nfix   SCL002 train.py:1 \n".replace(" ", "") in text.replace(" ", "")
    wrong = "no gradient reaches 2 of 2 parameters: " + ", ".join(f"net.layer{number}.weight" for number in range(5))
    alone = Verification("x", Verdict("unhealthy", wrong, wrong=(wrong, "nothing moves")), AFTER, repeats=(1, 0))
    text = terminal(alone)
    assert " ".join(text.split()).count(wrong) == 1 and "wrong  nothing moves" in text
    assert max(map(len, text.splitlines())) <= 80, "the verdict is wrapped"
    for word in ("refuted", "not-reproduced", "healthy"):
        other = Verdict(word, f"after the fixes: {wrong}", new=(wrong,))
        assert " ".join(terminal(replace(alone, judged=other)).split()).count(wrong) == 1


def test_the_fixes_that_were_tried() -> None:
    findings = tuple(replace(FINDING, place=replace(PLACE, line=line)) for line in range(1, 8))
    many = replace(PROVED, files=(FilePlan("train.py", b"x = 1\n", b"x = 2\n", findings),))
    assert [line.split()[1:] for line in terminal(many).splitlines() if line.startswith("fix")][4:] == [
        ["SCL002", "train.py:5"],
        ["2", "more"],
    ]
    assert document(PROVED)["fixes"] == [{"code": "SCL002", "path": "train.py", "line": 1}]
    assert "- fix: SCL002 train.py:1\n" in section(PROVED)


def test_losses_stand_by_the_optimizer_that_steps_next() -> None:
    two = replace(TRACE, losses=(1.0, 2.0, 9.0, 0.5, 1.5, 8.0), windows=(2, 3, 5, 6), steppers=(0, 1, 0, 1))
    cells = dict(rows(Verification("x", Verdict("healthy", ""), Run("exit", 0, 1.0, "", (two,)))))
    assert (cells["losses, optimizer 0"], cells["losses, optimizer 1"]) == ("1 → 2 → 0.5 → 1.5", "9 → 8")
    named = replace(two, optimizers={0: "Adam of Gan.critic", 1: "SGD"}, stopped=True, steps=4)
    cells = dict(rows(Verification("x", Verdict("healthy", ""), Run("exit", 0, 1.0, "", (named,)))))
    assert (cells["losses, Adam of Gan.critic"], cells["losses, SGD"]) == ("1 → 2 → 0.5 → 1.5", "9 → 8")
    assert cells["ended"] == "by --steps, after 4 steps"
    together = replace(two, windows=(3, 3, 6, 6))
    assert "losses" in dict(rows(Verification("x", Verdict("healthy", ""), Run("exit", 0, 1.0, "", (together,)))))
    pair = Verification("x", Verdict("proved", ""), BEFORE, Run("exit", 0, 1.0, "", (two,)))
    assert any(label == "losses" for label, *_ in rows(pair)), "the other side took no step"


def test_one_run_that_is_wrong_and_recordings() -> None:
    wrong = Verification("x", Verdict("unhealthy", "no gradient", wrong=("no gradient",)), AFTER, repeats=(1, 0))
    page = render(wrong)
    assert '<strong class="bad">wrong</strong> no gradient' in page and "<th>as it is</th>" in page
    assert "| | loss | gradient norm |" in section(wrong)
    recorded = section(replace(PROVED, repeats=(0, 0)))
    assert "recorded by" in recorded and "machine" not in recorded and "to repeat it" not in recorded


def test_the_norm_of_all_gradients() -> None:
    assert norms(TRACE) == (5.0, 10.0)
    assert norms(Trace()) == ()


def test_a_chart_of_odd_numbers() -> None:
    assert chart("x", [], [math.nan]) == ""
    odd = (([1.0], [1.0]), ([1.0, math.inf, 2.0], [0.0]), ([5.0] * 3, []), ([math.nan, -1e300], [1e300]))
    for before, after in odd:
        drawing = ElementTree.fromstring(chart('losses <"1">', before, after))
        assert drawing.attrib["aria-label"] == 'losses <"1">'
        points = " ".join(line.attrib.get("points", "") for line in drawing.iter())
        assert all(math.isfinite(float(number)) for number in points.replace(",", " ").split())


def test_a_chart_marks_where_a_side_failed() -> None:
    drawing = ElementTree.fromstring(chart("loss", [1.0, math.inf], [1.0, 0.5, 0.4], ("<Error>", "")))
    crosses = [(cross.attrib["class"], cross[0].text) for cross in drawing.iter("path")]
    assert crosses == [("before cross", "before: inf at step 2"), ("before cross", "before: <Error>")]
    assert not list(ElementTree.fromstring(chart("loss", [1.0], [2.0])).iter("path"))
