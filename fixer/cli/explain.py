"""`fixer explain CODE`: the rule's page, and its example as a diff; `--prove` runs the proof of that example."""

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
    code: Annotated[str, typer.Argument(help="A rule's code, such as PL001.")],
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
    """Say why a rule speaks, what its fix does, and show an example.

    With --prove, exit code 0: proved, or not reproduced in your versions; 1: refuted; 2: could not run.
    """
    from codemods.transforms import load
    from fixer.cli.screen import Screen
    from fixer.project.selectors import find
    from fixer.report.catalogue import page, show_page

    screen = Screen(color)
    rule = find(code, load())
    if prove:
        raise typer.Exit(_prove(screen, rule, python))
    if screen.pretty:
        show_page(screen.console(sys.stdout), rule)
    else:
        screen.result(page(rule).encode())


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
