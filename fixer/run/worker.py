"""A worker process, started as `python -I /absolute/worker.py` so that no file of the repository at hand is imported.

It reads pickled messages and answers each with one: a `Task` and what is to be done with some of its paths, the gate or
the plan. A task is sent once, later only its number. Before the answer it sends now and then how many paths more are
done. Plain data only.
"""

import os
import pickle
import sys
import time
from typing import Any

EVERY = 0.2
"""Seconds between two messages about paths that are done."""


def main() -> None:
    """Serve until standard input ends."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    # Whatever a rule prints must not end up between the pickles.
    sys.stdout = sys.stderr
    done, told = 0, 0.0

    def receive() -> Any:
        try:
            return pickle.load(source)
        except (EOFError, pickle.UnpicklingError):  # nobody asks any more
            sys.exit()

    def send(value: object) -> None:
        try:
            pickle.dump(value, sink)
            sink.flush()
        except BrokenPipeError:  # whoever asked was killed
            os._exit(1)

    sys.path[:] = receive()
    from codemods.model.profile import SILENT, Recorder
    from fixer.run.execute import index_of, work

    def tick(count: int) -> None:
        nonlocal done, told
        done += count
        if time.monotonic() - told >= EVERY:
            send(done)
            done, told = 0, time.monotonic()

    tasks = {}
    send(True)
    while True:
        number, pickled, doing, paths = receive()
        if pickled is not None:
            task = pickle.loads(pickled)
            tasks[number] = task, index_of(task, Recorder(time.perf_counter) if task.profiled else SILENT)
        task, index = tasks[number]
        done, told = 0, time.monotonic()
        send(work(task, doing, paths, index, tick))


if __name__ == "__main__":
    main()
