"""How a command is ended by a signal."""

from __future__ import annotations

import signal


def end_when_told() -> None:
    """Let SIGINT, SIGTERM and SIGHUP end this process in order, so that no child and no temporary file stays.

    A shell starts a command in the background (`fixer verify … &`) with SIGINT ignored; whoever sends it all the same
    means it. SIGHUP stays ignored where it is: that is what `nohup` is for.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _stop)
    hangup = getattr(signal, "SIGHUP", None)  # Windows has none
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        signal.signal(hangup, _stop)


def _stop(number: int, frame: object) -> None:
    raise SystemExit(128 + number)
