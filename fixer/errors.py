"""The one exception that a person is meant to read."""

from __future__ import annotations


class Refusal(Exception):
    """The command cannot do its job; the text says what, where and what to do. Exit code 2."""

    code = 2
