"""`fixer explain`: the page of a rule, with its proof (`--prove`); what is known of a message; or of a place."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fixer.cli import completion, options
from fixer.cli.options import Color, ExplainFormat
from fixer.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemods.rules.rule import Rule
    from fixer.cli.screen import Screen
    from fixer.run.explanation import AskedPlace
    from fixer.run.request import Request


EXAMPLES = """\
fixer explain SCL001                         # why it is bad, and the fix
fixer explain train.py:12                    # why that line is fixed or not
fixer explain "element 0 of tensors does not require grad"
"""
SETTINGS = {"epilog": EXAMPLES}
"""How Typer makes this command."""


def explain(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="CODE…|MESSAGE|FILE[:LINE]",
            help="Codes of rules or families (PL001, AMP), a message's text, or a place (train.py:12).",
            autocompletion=completion.codes,
        ),
    ],
    prove: Annotated[
        bool, typer.Option("--prove", help="Run one of its proofs now, before and after, and show both sides.")
    ] = False,
    python: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --prove: the interpreter that has torch.",
            show_default="the active environment's",
        ),
    ] = None,
    target: options.Target = None,
    config: options.Config = None,
    isolated: options.Isolated = False,
    format: Annotated[ExplainFormat, typer.Option(help="Of a place.")] = ExplainFormat.terminal,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Of a place: name every rule.")] = False,
    color: options.ColorOption = Color.auto,
) -> None:
    """Say why a rule speaks, what its fix does, and show an example; or what is known of a message or a line of code.

    FILE:LINE says what every rule saw there, and why it is fixed, is not fixed, or nothing is said.

    With --prove, exit code 0: proved, or not reproduced in your versions; 1: refuted; 2: could not run.
    """
    from codemods.transforms import load
    from fixer.cli.screen import Screen
    from fixer.project.selectors import find, is_known, of_family

    screen, rules = Screen(color), load()
    places = [place for word in words if (place := _place(word, rules)) is not None]
    if places:
        if len(places) < len(words) or prove:
            raise Refusal("explain either places (train.py:12) or rules, and --prove is for rules")
        request = options.Running(config=config, isolated=isolated).request(None, options.Rules(target=target))
        _explain_places(screen, places, request, format, verbose=verbose)
        return
    if format is not ExplainFormat.terminal:
        raise Refusal("--format is for places, such as train.py:12; `fixer rules --format json` tells of rules")
    if any(" " in word.strip() for word in words) or (len(words) > 1 and not any(is_known(w, rules) for w in words)):
        _explain_message(screen, " ".join(words))
        return
    chosen = list(dict.fromkeys(rule for word in words for rule in of_family(word, rules) or [find(word, rules)]))
    if prove:
        raise typer.Exit(max(_prove(screen, rule, python) for rule in chosen))
    _show(screen, chosen, families=len(chosen) > len(words))


def _place(word: str, rules: Sequence[Rule]) -> AskedPlace | None:
    """The place that a word names: `train.py:12`, as `check` prints it (`train.py:12:5`, `nb.ipynb:cell 3:12`), a file.

    Raises:
        Refusal: if what follows the name of a file is no line.
    """
    from codemods.sources.files import is_source
    from fixer.project.selectors import is_known
    from fixer.run.explanation import AskedPlace

    if Path(word).is_file() or Path(word).is_dir():
        return None if is_known(word, rules) else AskedPlace(word)
    path, colon, rest = word.partition(":")
    if "\0" in word or not (is_source(path) or (colon and Path(path).is_file())) or len(path.splitlines()) > 1:
        return None
    if not colon or (found := _POSITION.fullmatch(rest)) is not None:
        if not Path(path).exists():
            if " " in path:
                return None
            raise Refusal(f"{path}: no such file")
        if not colon or found is None:
            return AskedPlace(path)
        return AskedPlace(path, int(found["line"]), int(found["cell"]) if found["cell"] else None)
    if Path(path).is_file():
        raise Refusal(f"{word}: {rest!r} is not a line; write {path}:12")
    return None


def _explain_places(
    screen: Screen, places: Sequence[AskedPlace], request: Request, format: ExplainFormat, *, verbose: bool
) -> None:
    from codemods.transforms import load
    from fixer.report.explanation import document, show
    from fixer.report.json import render
    from fixer.run.explanation import explain_place

    here = Path.cwd()
    found = [explain_place(place, request, here, load(), screen.progress) for place in places]
    if format is ExplainFormat.json:
        documents = [document(each, here) for each in found]
        screen.result(render(documents if len(documents) > 1 else documents[0]))
        return
    for each in found:
        show(screen.console(sys.stdout), each, here, verbose=verbose)


_POSITION = re.compile(r"(?:cell (?P<cell>[1-9]\d*):)?(?P<line>[1-9]\d*)(?::\d+)?:?")
"""What stands behind the name of a file and a colon."""


def _show(screen: Screen, rules: list[Rule], *, families: bool) -> None:
    """The pages of some rules; of a family the list."""
    from fixer.report.catalogue import page, show, show_page

    if families:
        show(screen.console(sys.stdout), rules)
        screen.note(f"`fixer explain {rules[0].code}` shows the page of one")
        return
    for rule in rules:
        if screen.pretty:
            show_page(screen.console(sys.stdout), rule)
        else:
            screen.result(page(rule).encode())


def _explain_message(screen: Screen, text: str) -> None:
    """Show the causes and the rules of a message; its first words are enough, where they are of one only.

    Raises:
        Refusal: if it is not known.
    """
    import io

    from fixer.diagnose.messages import Messages
    from fixer.diagnose.reading import lines
    from fixer.diagnose.scan import Message, Scanner, Sort, ordered
    from fixer.diagnose.topics import all_topics
    from fixer.report.diagnosis import show_known
    from fixer.run import cache_directory
    from fixer.run.rule_index import rule_infos

    infos = rule_infos(cache_directory.directory())
    index = Messages(infos, all_topics())
    found = ordered(Scanner(index).read(lines(io.BytesIO(text.encode("utf-8", "replace")))))
    begun = re.sub(r"^(\w+\.)*\w+(Error|Exception|Warning): ", "", text).rstrip(" .…")
    if not found and (known := index.begun_by(begun)) is not None:
        found = [Message(known.pattern.text, 1, known.codes, known.topic, Sort.TEXT)]
    if not found:
        near = index.nearest(text)
        hint = f"the nearest that is known: {near.pattern.text}" if near else "`fixer rules` lists all rules"
        raise Refusal(f"no rule and no cause is known of this message; {hint}")
    show_known(screen.console(sys.stdout), found, {info.code: info for info in infos})


def _prove(screen: Screen, rule: Rule, python: str | None) -> int:
    from codemods.verify.evidence import read, sentence
    from codemods.verify.places import FIXTURES, RECORD
    from codemods.verify.proof import ProofOutcome
    from fixer.cli.verify_module import active_python
    from fixer.report.live_proof import show
    from fixer.verify.live_proof import proof_of, prove_live

    python = python or active_python()
    evidence = read(RECORD)
    proof = proof_of(rule, FIXTURES)
    screen.note(f"{proof} is run in child processes, with the torch of {python}")
    found = prove_live(proof, python)
    show(screen.console(sys.stdout), rule.code, found, sentence(evidence, rule.code))
    return 1 if found.verdict.outcome is ProofOutcome.REFUTED else 0
