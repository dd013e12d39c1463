"""Makes `tests/` importable, so that tests share `memory` and `cases`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
