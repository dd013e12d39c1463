"""What the HTML pages share: one file each, no asset from elsewhere, dark and light, wide and narrow."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from itertools import groupby

from codemods.model.visible import visible

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --line: #d8dee4; --ground: #fff; --card: #f6f8fa;
  --bad: #cf222e; --good: #1a7f37; --fair: #9a6700; --link: #0969da; --less: #ffebe9; --more: #dafbe1; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --line: #30363d; --ground: #0d1117;
  --card: #161b22; --bad: #ff7b72; --good: #3fb950; --fair: #d29922; --link: #58a6ff; --less: #3c1618;
  --more: #12361f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 66rem; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; line-height: 1.3; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2.25rem 0 .5rem; }
code, pre, td, th, text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
a { color: var(--link); } code { background: var(--card); }
.soft { color: var(--soft); } .bad { color: var(--bad); } .good { color: var(--good); } .fair { color: var(--fair); }
table { border-collapse: collapse; font-size: 13px; } th { text-align: left; font-weight: 600; white-space: nowrap; }
td, th { padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.number { text-align: right; }
ul { padding-left: 1.1rem; } li { margin: .4rem 0; overflow-wrap: anywhere; }
details { margin: .75rem 0; } summary { cursor: pointer; font-weight: 600; }
.wide { overflow-x: auto; }
"""
LISTS = """
.filter { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; position: sticky; top: 0; z-index: 1;
  padding: .6rem 0; background: var(--ground); border-bottom: 1px solid var(--line); font-size: 13px; }
.filter select { font: inherit; max-width: 15rem; padding: .1rem; } .filter output { color: var(--soft); }
[hidden] { display: none !important; }
.group { margin: 0; border-bottom: 1px solid var(--line); scroll-margin-top: 3rem; content-visibility: auto;
  contain-intrinsic-size: auto 2.5rem; }
.group:target { background: var(--card); }
.group > summary { padding: .4rem 0; font-weight: 400; overflow-wrap: anywhere; }
.inside { padding: .1rem 0 1rem 1.1rem; }
.diff { margin: .5rem 0; } .diff > summary { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  overflow-wrap: anywhere; }
.at { margin: .5rem 0 0; font-size: 13px; color: var(--soft); overflow-wrap: anywhere; }
pre { margin: .25rem 0; padding: .4rem .6rem; overflow-x: auto; background: var(--card); font-size: 12px;
  line-height: 1.45; border-radius: 4px; } pre > code { display: inline-block; min-width: 100%; }
ins, del { display: block; text-decoration: none; } ins { background: var(--more); } del { background: var(--less); }
.badge { font-weight: 600; white-space: nowrap; }
@media (max-width: 40rem) { body { padding: 1.25rem .9rem 3rem; } .called { display: none; }
  .inside { padding-left: .4rem; } .group { scroll-margin-top: 7.5rem; }
  .filter { gap: .4rem .6rem; } .filter label { flex: 1 1 45%; } .filter select { width: 100%; max-width: none; } }
@media print { .filter { display: none; } }
"""
"""For pages with lists that can be filtered, and diffs."""
SCRIPT = """
const form = document.querySelector(".filter"), said = form.querySelector("output");
const groups = [...document.querySelectorAll(".group")].map(it => [it, [...it.querySelectorAll("[data-leaf]")]]);
function show() {
  const wanted = [...new FormData(form)].filter(([, value]) => value);
  const fits = it => wanted.every(([name, value]) => (it.dataset[name] ?? "").split(" ").includes(value));
  let shown = 0;
  for (const [group, leaves] of groups) {
    for (const leaf of leaves) leaf.hidden = !fits(leaf);
    group.hidden = !(fits(group) || leaves.some(it => !it.hidden));
    shown += !group.hidden;
  }
  said.textContent = wanted.length ? `${shown} of ${groups.length}` : "";
}
for (const [name, value] of new URLSearchParams(location.hash.slice(1)))
  if (form.elements[name] instanceof HTMLSelectElement) form.elements[name].value = value;
form.hidden = false;
form.oninput = () => {
  const wanted = [...new FormData(form)].filter(([, value]) => value);
  history.replaceState(null, "", "#" + new URLSearchParams(wanted));
  show();
};
show();
"""
"""Hides what a filter is not about. The choice stands in the address, so that it can be sent to somebody."""
WIDEST = 2_000
"""Characters of a line of code; notebooks hold images in one."""
_CODE = re.compile(r"`([^`]+)`")
_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)


def page(title: str, style: str, body: Iterable[str], script: str = "") -> str:
    """A whole page; the browser itself is told to fetch nothing, and to run no script but this one."""
    seal = b64encode(sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{seal}'" if script else "'none'"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{text(title)}</title>\n'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}; base-uri 'none'; form-action 'none'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}{style}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + (f"\n<script>{script}</script>" if script else "")
        + "\n</body>\n</html>\n"
    )


def text(text: str) -> str:
    """Text that is nothing but text, whoever wrote it."""
    return escape(visible(text))


def words(sentence: str) -> str:
    """A sentence on one line, with code in backticks as code."""
    return _CODE.sub(r"<code>\1</code>", text(" ".join(sentence.split())))


def link(url: str, label: str) -> str:
    """A link, if it leads to a web page."""
    return f'<a href="{text(url)}" rel="noreferrer">{text(label)}</a>' if _WEB.match(url) else text(label)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: int) -> Iterator[str]:
    """A table; the last `numbers` columns are numbers. Cells are HTML."""
    first = len(heads) - numbers
    number = [' class="number"' if at >= first else "" for at in range(len(heads))]
    yield '<div class="wide"><table>'
    yield f"<tr>{''.join(f'<th{how}>{head}</th>' for head, how in zip(heads, number, strict=True))}</tr>"
    for row in rows:
        yield f"<tr>{''.join(f'<td{how}>{cell}</td>' for cell, how in zip(row, number, strict=True))}</tr>"
    yield "</table></div>"


def called(code: str, name: str) -> str:
    """A rule; its name goes where there is no room for it."""
    return f'{text(code)} <span class="called">{text(name)}</span>'


def filters(choices: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """What SCRIPT works with: for each `data-` attribute its values, and how they are called. Useless without it."""
    yield '<form class="filter" autocomplete="off" hidden>'
    for name, values in choices.items():
        if not values:
            continue
        options = "".join(f'<option value="{text(value)}">{text(label)}</option>' for value, label in values.items())
        yield f'<label>{name} <select name="{name}"><option value="">all</option>{options}</select></label>'
    yield '<output aria-live="polite"></output></form>'


def data(**values: Iterable[str]) -> str:
    """The `data-` attributes that filters look at."""
    return "".join(f' data-{name}="{text(" ".join(dict.fromkeys(held)))}"' for name, held in values.items())


def patched(patch: bytes) -> Iterator[str]:
    """Each file of a patch with its hunks, to be folded."""
    for part in re.split(rb"(?m)^(?=diff --git )", patch)[1:]:
        header, *hunks = re.split(r"(?m)^(?=@@ )", part.decode("utf-8", "replace"))
        name = header.rstrip("\n").rpartition("\n+++ ")[2].rstrip("\t").replace("b/", "", 1)
        yield f'<details class="diff" open><summary>{text(name)}</summary>'
        for hunk in hunks:
            head, *lines = hunk.removesuffix("\n").split("\n")
            yield f'<p class="at">{words(head)}</p>{diff(lines)}'
        yield "</details>"


def diff(lines: Iterable[str]) -> str:
    """Lines with their signs, coloured by them."""
    parts = []
    for sign, run in groupby(lines, key=lambda line: line[:1]):
        shown = "\n".join(text(_cut(line.rstrip("\r"))) for line in run)
        tag = {"+": "ins", "-": "del"}.get(sign)
        parts.append(f"<{tag}>{shown}</{tag}>" if tag else f"{shown}\n")
    return f"<pre><code>{''.join(parts)}</code></pre>"


def _cut(line: str) -> str:
    return line if len(line) <= WIDEST else f"{line[:WIDEST]} … {len(line) - WIDEST:,} more characters"
