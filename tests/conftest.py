"""Makes `tests/` importable, so that tests share `memory` and `cases`; what holds for every test."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

# A slow or busy machine is no failure: nothing here looks at a clock but the limit of each test (`timeout` in
# pyproject.toml), which is for what would never end.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter without torch."""
    place = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    python = place / "bin" / "python"
    if subprocess.run([python, "-I", "-c", "import torch"], capture_output=True, check=False).returncode == 0:
        pytest.skip("the interpreter under the virtual environment has torch")
    return str(python)


@pytest.fixture(scope="session", autouse=True)
def a_cache_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is kept between runs is kept for the tests only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIXER_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def no_git_stays() -> Iterator[None]:
    """No test leaves a git process of ours behind, such as the `git cat-file` that a repository reads blobs with."""
    before = git_children()
    yield
    for _ in range(200):  # what was asked in the background may still be on its way to its end
        left = [command for pid, command in git_children().items() if pid not in before]
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError(f"left behind: {left}")


def git_children() -> dict[str, str]:
    """The git processes that this process has started, by id; none where /proc does not tell."""
    found = {}
    for listed in Path("/proc/self/task").glob("*/children"):
        for pid in listed.read_text().split():
            words = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
            if Path(words[0].decode()).name == "git":
                found[pid] = b" ".join(words).decode("utf-8", "replace").strip()
    return found
