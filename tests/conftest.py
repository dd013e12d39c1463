"""Makes `tests/` importable, so that tests share `memory` and `cases`."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter without torch."""
    place = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    python = place / "bin" / "python"
    if subprocess.run([python, "-I", "-c", "import torch"], capture_output=True, check=False).returncode == 0:
        pytest.skip("the interpreter under the virtual environment has torch")
    return str(python)
