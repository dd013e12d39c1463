"""A release that is chosen outside of packaging files: no fix that is for another release is safe then."""

from __future__ import annotations

import pytest
from cases import Case, cases, hold

from codemods.model.edits import Safety

OLD = {
    "transformers": "3.5.1",
    "trl": "0.4.1",
    "peft": "0.2.0",
    "accelerate": "0.10.0",
    "pytorch-lightning": "1.2.10",
    "lightning": "1.2.10",
    "torch": "1.5.1",
}
"""Releases that came before every change that a rule about names knows."""
CODES = frozenset({"AMP002", "HF014", "HF021", "HF022", "PL101", "PL102", "PL103", "PL104", "PL105", "PL106"})
NEVER_SAFE = frozenset({"HF021", "PL104"})


def _joined(form: str, between: str = " ") -> str:
    return between.join(form.format(name, release) for name, release in OLD.items())


INSTALLERS = {
    "Makefile": "setup:\n\tpip install " + _joined("{}=={}") + "\n",
    "docker/gpu.dockerfile": "FROM python:3.9\nRUN pip install " + _joined('"{}~={}"') + "\n",
    "deploy/Dockerfile.train": "FROM python:3.9\nRUN pip install " + _joined('"{}<={}"') + "\n",
    "tox.ini": "[testenv]\ndeps =\n" + _joined("    {}=={}", "\n") + "\n",
    "install.bat": "pip install " + _joined("{}=={}") + "\n",
    "justfile": "setup:\n    uv pip install " + _joined("{}@{}") + "\n",
    "ci/setup.sh": "VERSION=$1\npip install " + _joined("{}==${{{}}}").replace(".", "_") + "\n",
    ".github/workflows/train.yml": "jobs:\n  train:\n    steps:\n      - run: pip install " + _joined("{}=={}") + "\n",
    "image.py": "PINS = {" + _joined('"{}": "{}",') + "}\n",
    "my-reqs.txt": _joined("{}=={}", "\n") + "\n",
    "README.md": "# Training\n\nTrained with " + _joined("{} {}", ", ") + ".\n",
    "versions.yaml": _joined("{}: {}", "\n") + "\n",
    "job.slurm": "#!/bin/bash\nmodule load " + _joined("{}/{}-foss-2022a") + "\npython train.py\n",
    "wheels.txt": _joined("https://example.org/{}-{}-py3-none-any.whl", "\n") + "\n",
    "sky.yaml": "resources:\n  image_id: docker:registry.org/train:3.9-" + _joined("{}{}", "-") + "\n",
    "ngc.dockerfile": "FROM nvcr.io/nvidia/pytorch:21.06-py3\nRUN pip install " + _joined("{}=={}") + "\n",
    ".gitmodules": "".join(f'[submodule "{each}"]\n\turl = https://github.com/org/{each}\n' for each in OLD),
}


@pytest.fixture(scope="module")
def gated() -> dict[str, Case]:
    """The fixtures in which a fix is safe because every release that may be installed is a new one."""
    alike = [case for case in cases() if case.kind == "before" and case.rule.code in CODES]
    return {f"{each.rule.code} {each.name}": each for each in alike if _safe(each, each.files)}


def _safe(case: Case, files: dict[str, bytes]) -> list[str]:
    found = case.run(files, fix=False).findings
    return [f"{f.path}:{f.place.line} {f.message}" for f in found if f.fix is not None and f.safety is Safety.SAFE]


@pytest.mark.law
@pytest.mark.parametrize("path", INSTALLERS)
def test_an_old_release_is_heard_of_wherever_it_is_chosen(path: str, gated: dict[str, Case]) -> None:
    text = INSTALLERS[path].encode()

    def law(case: Case) -> None:
        if path == "README.md" and (case.options or not case.python):
            return  # packaging files, or who asks, say more
        folders = {each.rpartition("/")[0] for each in case.files}
        beside = {f"{folder}/{path}".lstrip("/"): text for folder in folders}
        assert _safe(case, {**case.files, **beside}) == []

    hold(law, gated)


@pytest.mark.law
def test_the_law_is_about_something(gated: dict[str, Case]) -> None:
    codes = {case.rule.code for case in gated.values()}
    assert len(gated) >= 20 and codes >= CODES - NEVER_SAFE, (len(gated), CODES - codes)


@pytest.mark.law
@pytest.mark.parametrize("path", INSTALLERS)
def test_another_folder_says_nothing(path: str, gated: dict[str, Case]) -> None:
    """A project with packaging files of its own is not installed by what lies in a folder beside it."""
    text = INSTALLERS[path].encode()

    def law(case: Case) -> None:
        files = {f"project/{each}": data for each, data in case.files.items()}
        files.setdefault("project/requirements.txt", b"numpy\n")
        assert len(_safe(case, files)) == len(_safe(case, {**files, f"other/{path}": text}))

    hold(law, gated)
