"""The command line."""

from __future__ import annotations

import sys


def main() -> None:
    """The entry point of the command `fixer`."""
    try:
        _main()
    except KeyboardInterrupt:
        sys.exit(130)


def _main() -> None:
    # What a repository holds must never be imported; `""` and relative places mean the current directory.
    sys.path[:] = [place for place in sys.path if place not in ("", ".")]
    import gc
    import os
    from pathlib import Path

    from codemods.model.visible import harmless
    from fixer import COLLECT
    from fixer.cli.application import application
    from fixer.cli.ending import end_when_told
    from fixer.cli.habits import START, check_words
    from fixer.errors import Refusal
    from fixer.git.command import forget_location

    end_when_told()
    forget_location()
    gc.set_threshold(*COLLECT)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            Path.cwd()
        except OSError as error:
            raise Refusal("the current directory is gone: change to one that exists") from error
        if not sys.argv[1:] and "_FIXER_COMPLETE" not in os.environ:
            print(START, end="", file=sys.stderr)
            sys.exit(2)
        check_words(sys.argv[1:])
        application(sys.argv[1:])(prog_name="fixer")
    except Refusal as refusal:
        print(harmless(f"fixer: {refusal}"), file=sys.stderr)
        sys.exit(refusal.code)
    except MemoryError:
        print("fixer: there is not enough memory: leave --jobs at 1, or name fewer files", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.errno is None or isinstance(error, BrokenPipeError):
            raise
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
        print(harmless(f"fixer: {where}{error.strerror}"), file=sys.stderr)
        sys.exit(2)
    except ImportError as error:
        from codemods.transforms import Unloadable

        if not isinstance(error, Unloadable):
            raise
        print(harmless(f"fixer: {error}"), file=sys.stderr)
        sys.exit(2)
