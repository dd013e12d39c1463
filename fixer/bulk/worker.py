"""A process that does one job of a campaign, started as `python -I /absolute/worker.py DIRECTORY`.

It reads where it may import from, the job and the memory it may use from standard input, and writes the answer to a
file: programs that git starts may hold on to standard output for longer than the job lasts. When standard input ends,
whoever started it is gone, and it ends at once with all that it started.
"""

import os
import pickle
import signal
import sys
import threading
from pathlib import Path

ANSWER = "answer.pickle"


def _end_with_parent() -> None:
    # Not through `sys.stdin`, whose lock a thread must not hold when the interpreter ends.
    os.read(sys.stdin.fileno(), 1)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Do the job."""
    directory = Path(sys.argv[1])
    sys.path[:] = pickle.load(sys.stdin.buffer)
    # Whatever is put into a temporary directory goes with ours, also if this process is killed.
    os.environ["TMPDIR"] = str(directory)

    from fixer.bulk.process_repository import prepare
    from fixer.git.command import forget_location

    job = pickle.load(sys.stdin.buffer)
    memory = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if memory:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    forget_location()
    answer = prepare(job, directory)
    unfinished = directory / f"{ANSWER}.part"
    unfinished.write_bytes(pickle.dumps(answer))
    unfinished.replace(directory / ANSWER)


if __name__ == "__main__":
    main()
