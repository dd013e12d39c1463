"""The HTML pages in a real browser: how long they take to open, whether they fetch or spill anything, how they look.

By hand:

    npm install --prefix /tmp/browser @sparticuz/chromium playwright-core
    python tests/sweep_pages.py /tmp/browser [PAGE.html …] [--findings 5000] [--screenshots DIRECTORY]

Without pages of your own, a campaign and a check are made up with that many findings. Each is opened at the width of a
desk and of a phone, light and dark, and once without scripts; then it is filtered by its first rule and a group is
unfolded. Look at the screenshots by eye.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from test_html import branch, row

from codemods.model.edits import Edit, Finding, Fix, Place
from codemods.model.plan import Change, FilePlan, Plan
from codemods.rules.rule import Rule
from codemods.transforms import load
from fixer.bulk import job
from fixer.bulk.drive import Standing
from fixer.bulk.job import Ending
from fixer.report import campaign_html, findings_html
from fixer.report.patch import patch

IN_A_FILE, IN_A_REPOSITORY = 5, 25
WHY = "it is what a person has to look at, and `said` in a sentence of ordinary length"
BROWSER = """
import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';
const [shots, ...files] = process.argv.slice(2);
const browser = await playwright.launch({ executablePath: await chromium.executablePath(), args: chromium.args });
const faults = [];
const frames = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
async function timed(work, page) {
  const begin = Date.now(); await work(); await page.evaluate(frames); return Date.now() - begin;
}
for (const file of files) for (const width of [1280, 390]) for (const how of ['light', 'dark', 'no-script']) {
  const plain = how === 'no-script', colorScheme = plain ? 'light' : how;
  const viewport = { width, height: 900 };
  const context = await browser.newContext({ viewport, colorScheme, javaScriptEnabled: !plain });
  const page = await context.newPage(), name = `${file.split('/').pop()} ${width} ${how}`;
  page.on('console', said => faults.push(`${name}: ${said.text()}`));
  page.on('request', one => one.url().startsWith('file:') || faults.push(`${name}: asks for ${one.url()}`));
  // Where scripts are off, there is nobody to wait for a frame.
  const opened = await timed(() => page.goto('file://' + file), plain ? { evaluate: () => {} } : page);
  const shot = (what) => page.screenshot({ path: `${shots}/${name} ${what}.png`.replaceAll(' ', '-') });
  await shot('top');
  let told = `${name}: opened in ${opened} ms`;
  if (!plain && await page.$('.filter')) {
    const [, first] = await page.$$eval('select[name=rule] option', all => all.map(one => one.value));
    told += `, filtered in ${await timed(() => page.selectOption('select[name=rule]', first), page)} ms`;
    const group = page.locator('.group:visible').first();
    told += `, unfolded in ${await timed(() => group.locator('summary').first().click(), page)} ms`;
    await group.evaluate(it => it.scrollIntoView()); await page.evaluate(frames); await shot('unfolded');
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  if (wide > width) faults.push(`${name}: ${wide} wide`);
  console.log(told);
}
await browser.close();
if (faults.length) { console.error(faults.join('\\n')); process.exit(1); }
"""


def files(number: int, chance: random.Random, rules: Mapping[str, Rule]) -> Iterator[FilePlan]:
    """Files with findings, each fixed by a line more."""
    for at in range(number):
        path = f"src/team_{chance.randrange(9)}/trainers/train_{at}.py"
        lines = [f"    value_{line} = compute(model_{line}, batch[{line}])\n" for line in range(150)]
        before, new = "".join(lines), list(lines)
        findings, changes = [], []
        for line in range(20, 20 + 25 * IN_A_FILE, 25):
            rule = rules[chance.choice(sorted(rules))]
            start = sum(map(len, lines[:line]))
            edit = Edit(path, start, start, "    with torch.enable_grad():\n")
            place = Place(start, start + 1, line + 1, 1, line + 1, 2)
            fix = Fix(rule.fix_title, (edit,)) if rule.safety else None
            findings.append(
                Finding(rule.code, rule.name, path, place, rule.summary, rule.safety, fix, applied=fix is not None)
            )
            if fix:
                changes.append(Change(rule.code, edit, rule.summary, rule.safety))
                new[line] = edit.text + new[line]
        yield FilePlan(path, before.encode(), "".join(new).encode(), tuple(findings), tuple(changes))


def campaign(count: int, chance: random.Random, rules: Mapping[str, Rule]) -> bytes:
    """The page of a campaign with `count` findings."""
    rows = []
    for number in range(count // IN_A_REPOSITORY):
        mine = list(files(IN_A_REPOSITORY // IN_A_FILE, chance, rules))
        ending = chance.choice((*Ending, *[Ending.CHANGED] * 10))
        parts = chance.choice((1, 1, 1, 3))
        url = f"https://github.com/acme/service-{number}"
        branches = [
            branch(
                f"fixer/amp-2026{f'/part-{part}' if parts > 1 else ''}",
                owners=(f"@acme/team-{chance.randrange(9)}",),
                patch=patch(mine[part::parts]),
                ending=ending,
                pull_request=part + 1,
                url=f"{url}/pull/{part + 1}",
            )
            for part in range(parts)
        ]
        places = tuple(
            job.FindingRow(one.code, one.path, one.place.line, one.message, str(one.safety), one.applied)
            for file in mine
            for one in file.findings
        )
        rows.append(row(f"{url}.git", *branches, ending=ending, places=places, detail=WHY if ending.bad else ""))
    return campaign_html.render(Standing("amp-2026", tuple(rows)), rules)


def check(count: int, chance: random.Random, rules: Mapping[str, Rule]) -> bytes:
    """The page of a check with `count` findings."""
    plan = Plan(tuple(files(count // IN_A_FILE, chance, rules)), files_seen=count, files_read=count // IN_A_FILE)
    return findings_html.render(plan, rules, name="app", unsafe=frozenset(), read=lambda path: None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("browser", type=Path, help="where the packages were installed")
    parser.add_argument("pages", type=Path, nargs="*")
    parser.add_argument("--findings", type=int, default=5_000)
    parser.add_argument("--screenshots", type=Path, default=Path(tempfile.gettempdir()) / "fixer-pages")
    options = parser.parse_args()
    options.screenshots.mkdir(exist_ok=True)
    pages = [page.resolve() for page in options.pages]
    if not pages:
        rules = {rule.code: rule for rule in load()}
        for make in (campaign, check):
            pages.append((options.screenshots / f"{make.__name__}.html").resolve())
            pages[-1].write_bytes(make(options.findings, random.Random(1), rules))
    script = options.browser / "open-pages.mjs"
    script.write_text(BROWSER)
    done = subprocess.run(["node", script, options.screenshots.resolve(), *pages], check=False)
    print(f"screenshots: {options.screenshots}")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
