"""What requirement files let in, and what a proof makes of it."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from codemods.verify.observation import Observation
from codemods.verify.resolution import RELEASES, Affected, demand_without

TRAINED = Observation(losses=[1.0])


def trains() -> Observation:
    return TRAINED


def fails() -> Observation:
    raise RuntimeError("element 0 of tensors does not require grad")


def fails_otherwise() -> Observation:
    raise KeyError("x")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch 2.8.0 and nothing else."""
    monkeypatch.setattr(importlib.metadata, "version", {"torch": "2.8.0+cpu"}.__getitem__)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("path", "text", "allowed"),
    [
        ("requirements.txt", "", None),
        ("requirements.txt", "torch>=2.11\n", None),
        ("requirements.txt", "torchvision\n", None),
        ("requirements.txt", "torch==2.4.1\n", "2.4.1"),
        ("docs/requirements-dev.txt", "-r x\n# torch==2.4\n\nTorch[opt]>=2.10 ; python_version > '3' # n\n", "2.10.0"),
        ("requirements.txt", "torch>=2.9\ntorch<2.8.1,>2.7\n", "2.7.1 and 4 more, up to 2.10.0"),
        ("pyproject.toml", '[project]\ndependencies = ["numpy", "torch~=2.9.0"]\n', "2.9.0 and 1 more, up to 2.9.1"),
        ("pyproject.toml", "[tool.black]\n", None),
        ("notes.txt", "torch==2.4.1\n", None),
    ],
)  # fmt: skip
def test_let_in(path: str, text: str, allowed: str | None, project: Path) -> None:
    (project / path).write_text(text)
    if allowed is None:
        assert demand_without(project, {"torch": "<2.11"}).numbers == {"affected releases of torch": 0}
    else:
        with pytest.raises(Affected) as caught:
            demand_without(project, {"torch": "<2.11"})
        assert str(caught.value) == f"{path} allows torch {allowed}"


def test_single_releases(project: Path) -> None:
    (project / "requirements.txt").write_text("lightning===2.6.3\nPyTorch_Lightning>=2.6.2,<2.6.4\n")
    for package, allowed in (("lightning", "2.6.3"), ("pytorch-lightning", "2.6.2 and 1 more, up to 2.6.3")):
        with pytest.raises(Affected, match=f"^requirements.txt allows {package} {allowed}$"):
            demand_without(project, {package: "2.6.2, 2.6.3"})


def test_no_requirement(project: Path) -> None:
    (project / "requirements.txt").write_text("torch=>2\n")
    with pytest.raises(AssertionError, match=r"requirements\.txt: "):
        demand_without(project, {"torch": "<2.11"})


@pytest.mark.usefixtures("installed")
class TestProgram:
    def test_runs_with_releases_that_are_sound(self, project: Path) -> None:
        assert demand_without(project, {"torch": "<2.6"}, trains) is TRAINED
        with pytest.raises(KeyError):
            demand_without(project, {"torch": "<2.6"}, fails_otherwise)
        (project / "requirements.txt").write_text("torch==2.4.1\n")
        with pytest.raises(Affected, match=r"^requirements\.txt allows torch 2\.4\.1$"):
            demand_without(project, {"torch": "<2.6"}, trains)

    def test_shows_the_bug_with_releases_that_have_it(self, project: Path) -> None:
        (project / "requirements.txt").write_text("torch==2.8.0\n")
        with pytest.raises(Affected) as caught:
            demand_without(project, {"torch": "<2.11"}, fails, "element 0 of tensors")
        assert str(caught.value) == (
            "requirements.txt allows torch 2.8.0; torch 2.8.0+cpu is installed: "
            "RuntimeError: element 0 of tensors does not require grad"
        )

    def test_must_show_the_bug(self, project: Path) -> None:
        (project / "requirements.txt").write_text("torch==2.8.0\n")
        with pytest.raises(AssertionError, match="does not say 'element 0"):
            demand_without(project, {"torch": "<2.11"}, trains, "element 0 of tensors")
        with pytest.raises(KeyError):
            demand_without(project, {"torch": "<2.11"}, fails_otherwise, "element 0 of tensors")

    def test_does_not_run_where_the_project_asks_for_others(self, project: Path) -> None:
        (project / "requirements.txt").write_text("torch>=2.11\n")
        assert not demand_without(project, {"torch": "<2.11"}, fails).losses


def test_releases_are_in_order() -> None:
    for releases in RELEASES.values():
        numbers = [tuple(map(int, release.split("."))) for release in releases]
        assert numbers == sorted(set(numbers))
