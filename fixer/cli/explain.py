"""`fixer explain`: the page of a rule, with its proof (`--prove`); or what is known of a message."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from fixer.cli import options
from fixer.cli.options import Color

if TYPE_CHECKING:
    from codemods.rules.rule import Rule
    from fixer.cli.screen import Screen


def explain(
    words: Annotated[
        list[str],
        typer.Argument(metavar="CODE…|MESSAGE", help="Codes of rules or families (PL001, AMP), or a message's text."),
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
    color: options.ColorOption = Color.auto,
) -> None:
    """Say why a rule speaks, what its fix does, and show an example; or say what is known of a message.

    With --prove, exit code 0: proved, or not reproduced in your versions; 1: refuted; 2: could not run.
    """
    from codemods.transforms import load
    from fixer.cli.screen import Screen
    from fixer.project.selectors import find, is_known, of_family

    screen, rules = Screen(color), load()
    if any(" " in word.strip() for word in words) or (len(words) > 1 and not any(is_known(w, rules) for w in words)):
        _explain_message(screen, " ".join(words))
        return
    chosen = list(dict.fromkeys(rule for word in words for rule in of_family(word, rules) or [find(word, rules)]))
    if prove:
        raise typer.Exit(max(_prove(screen, rule, python) for rule in chosen))
    _show(screen, chosen, families=len(chosen) > len(words))


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
    """Show the causes and the rules of a message.

    Raises:
        Refusal: if it is not known.
    """
    import io

    from fixer.diagnose.messages import Messages
    from fixer.diagnose.reading import lines
    from fixer.diagnose.scan import Scanner, ordered
    from fixer.diagnose.topics import all_topics
    from fixer.errors import Refusal
    from fixer.report.diagnosis import show_known
    from fixer.run import cache_directory
    from fixer.run.rule_index import rule_infos

    infos = rule_infos(cache_directory.directory())
    index = Messages(infos, all_topics())
    found = ordered(Scanner(index).read(lines(io.BytesIO(text.encode("utf-8", "replace")))))
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
