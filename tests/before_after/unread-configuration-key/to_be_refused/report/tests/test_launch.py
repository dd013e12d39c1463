"""Our launcher stops where Accelerate does not understand a file."""
import subprocess
import sys
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parent / "data").glob("*.yaml"))


def launch(file):
    command = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(file), "hello.py"]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_it_takes_what_it_should(file):
    done = launch(file)
    assert (done.returncode == 0) == file.stem.startswith("taken"), done.stderr
