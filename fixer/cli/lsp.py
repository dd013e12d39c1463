"""`fixer lsp`: a language server, which editors start."""

from __future__ import annotations

import sys

import typer

from fixer.errors import Refusal

EXAMPLES = """\
fixer lsp                                    # editors start it: see docs/editor.md
"""
SETTINGS = {"epilog": EXAMPLES}
"""How Typer makes this command."""


def lsp() -> None:
    """Serve an editor: findings and fixes while you type.

    A language server on standard input and output, which editors start. Settings are those of `fixer check`. It needs
    the extra `lsp`: pip install 'ampfix[lsp]'.
    """
    import signal

    try:
        from fixer.lsp.features import serve
    except ImportError as error:
        raise Refusal("lsp requires pygls: pip install 'ampfix[lsp]'") from error
    if sys.stdin.isatty():
        print("fixer: lsp waits for an editor on standard input (Ctrl-C ends it)", file=sys.stderr)
    for number in (signal.SIGINT, signal.SIGTERM):  # nothing has to be put in order, and a thread waits for input
        signal.signal(number, signal.SIG_DFL)
    sink, sys.stdout = sys.stdout.buffer, sys.stderr  # what a rule prints must not end up between messages
    raise typer.Exit(serve(sys.stdin.buffer, sink))
