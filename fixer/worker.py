"""A worker process, started as `python -I /absolute/worker.py` so that no file of the repository at hand is imported.

It reads one pickled `Task`, then lists of paths, and answers each list with a pickled plan. Plain data only.
"""

import pickle
import sys


def main() -> None:
    """Serve until standard input ends."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    # Whatever a rule prints must not end up between the pickles.
    sys.stdout = sys.stderr
    sys.path[:] = pickle.load(source)
    from fixer.runner import plan_paths, prepare

    task = pickle.load(source)
    prepare(task)
    pickle.dump(True, sink)
    sink.flush()
    while True:
        try:
            paths = pickle.load(source)
        except EOFError:
            return
        pickle.dump(plan_paths(task, paths), sink)
        sink.flush()


if __name__ == "__main__":
    main()
