"""Makes `tests/` importable, so that tests share `memory` and `cases`; what holds for every test."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

from effort import thorough

if TYPE_CHECKING:  # what is imported here is imported before coverage starts
    from cases import Case
    from riding import Forks

    from codemods.verify.flow_bench import FlowBench

# A slow or busy machine is no failure: nothing here looks at a clock but the limit of each test (`timeout` in
# pyproject.toml), which is for what would never end.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("any-machine"), max_examples=2_000)
settings.load_profile("any-machine")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out of tests marked `few(n)` all but n of their parameters, evenly spread, unless everything is tried."""
    if thorough():
        return
    alike: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("few") is not None:
            alike.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: set[pytest.Item] = set()
    for group in alike.values():
        marker = group[0].get_closest_marker("few")
        number = int(marker.args[0]) if marker is not None else 0
        left_out.update(group)
        left_out.difference_update(group[place * len(group) // number] for place in range(min(number, len(group))))
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def chosen() -> list[Case]:
    """The fixtures of which the laws of the engine are asked."""
    from cases import cases, few

    return cases() if thorough() else few()


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter without torch."""
    place = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    python = place / "bin" / "python"
    if subprocess.run([python, "-I", "-c", "import torch"], capture_output=True, check=False).returncode == 0:
        pytest.skip("the interpreter under the virtual environment has torch")
    return str(python)


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    from riding import Forks

    with Forks(tmp_path_factory.mktemp("seen")) as forks:
        yield forks


@pytest.fixture(scope="session")
def flow_bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlowBench]:
    from codemods.verify.flow_bench import FlowBench, Terms

    with FlowBench(Terms(), tmp_path_factory.mktemp("bench")) as bench:
        yield bench


@pytest.fixture
def one_server(flow_bench: FlowBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """All tests watch modules by one server, which has imported torch once; it forks for every run, as always."""
    from codemods.verify.flow_bench import FlowBench

    ask = FlowBench._ask

    def asked(bench: FlowBench, request: Mapping[str, Any]) -> Mapping[str, Any]:
        flow_bench.terms, flow_bench.environment = bench.terms, bench.environment
        return ask(flow_bench, request)

    monkeypatch.setattr(FlowBench, "_ask", asked)


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
        with suppress(OSError):  # a thread or a process that ends meanwhile
            for pid in listed.read_text().split():
                words = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
                if Path(words[0].decode()).name == "git":
                    found[pid] = b" ".join(words).decode("utf-8", "replace").strip()
    return found
