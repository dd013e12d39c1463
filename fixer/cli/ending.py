"""How a command is ended by a signal."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading

AGAIN = 0.01
"""Seconds after which a signal that was lost is sent again."""


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
    sys.unraisablehook = _unraisable


def _stop(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def _unraisable(ignored: sys.UnraisableHookArgs) -> None:
    """Send a signal again that came where Python ignores exceptions: in a finalizer, or for a weak reference.

    Each import ends with a callback of a weak reference: the command went on as if nobody had told it to end.
    """
    raised = ignored.exc_value
    if isinstance(raised, KeyboardInterrupt):
        number = int(signal.SIGINT)
    elif isinstance(raised, SystemExit) and isinstance(raised.code, int) and raised.code > 128:
        number = raised.code - 128
    else:
        sys.__unraisablehook__(ignored)
        return
    timer = threading.Timer(AGAIN, _send, [number])
    timer.daemon = True
    with contextlib.suppress(RuntimeError):  # no thread starts any more: the interpreter is ending
        timer.start()


def _send(number: int) -> None:
    main = threading.main_thread().ident
    if sys.platform == "win32" or main is None:
        signal.raise_signal(number)
    else:
        signal.pthread_kill(main, number)
