"""`python tests/benchmarks` or `python -m tests.benchmarks`, with any Python that `fixer` runs on."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.program import main

if __name__ == "__main__":
    sys.exit(main())
