"""A release that some file of a project chooses is one that may be installed: nothing is certain outside of its range.

Each form is one more file beside a program that is certainly wrong under the releases that its requirements ask for.
"""

from __future__ import annotations

import pytest
from memory import Memory

from codemods.engine.rounds import Options, plan
from codemods.model.edits import Certainty, Safety
from codemods.model.plan import Target
from codemods.project.index import Index
from codemods.transforms import load

PROGRAMS = {
    "transformers": (
        "HF009",
        ">=5.1",
        "4.41.2",
        "import transformers\n\nmodel = transformers.AutoModel.from_pretrained('m', torch_dtype='auto')\n",
    ),
    "torch": (
        "AMP002",
        ">=2.6",
        "1.13.1",
        "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n",
    ),
    "lightning": (
        "PL101",
        ">=2.4",
        "1.9.5",
        "import lightning.pytorch as pl\n\ntrainer = pl.Trainer(precision=16)\n",
    ),
}
"""Package → a rule, what is asked for, an older release, and a program."""
NOTEBOOK = (
    '{"cells": [{"cell_type": "code", "source": "%s", "metadata": {}, "outputs": [], "execution_count": null}], '
    '"metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
)
CHOOSING = {
    ".env": "LIB_VERSION=OLD\n",
    ".github/workflows/ci.yml": "jobs:\n  train:\n    steps:\n      - run: pip install -q 'lib==OLD'\n",
    "Dockerfile": "ARG VERSION=OLD\nRUN pip install lib==${VERSION}\n",
    "Makefile": "RELEASE := OLD\n\ninstall:\n\tpip install lib==$(RELEASE)\n",
    "Taskfile.yml": "tasks:\n  train:\n    cmds:\n      - pip install lib==OLD\n",
    "compose.yml": "services:\n  train:\n    image: registry/lib-gpu:OLD-cuda12\n",
    "constraints/cluster.txt": "# listed_in_a_folder\nlib==OLD\n",
    "flake.nix": 'python.pkgs.lib.overridePythonAttrs (old: { version = "OLD"; })\n',
    "hatch.toml": '[envs.old]\ndependencies = ["lib==OLD"]\n',
    "image.def": "Bootstrap: docker\nFrom: registry/lib:OLD\n",
    "install.sh": "conda install -y conda-forge::lib=OLD\n",
    "job.sbatch": "#!/bin/bash\nmodule load lib/OLD\npython case.py\n",
    "launch_at_once.py": "import lib\nassert lib.__version__ == 'OLD'\nimport case\n",
    "launch_by_command.py": "import os\nos.system('pip install lib==%s' % 'OLD')\n",
    "launch_by_script.py": "# /// script\n# dependencies = ['lib==OLD']\n# ///\nimport case\n",
    "launch_by_table.py": "PINS = {'lib': 'OLD'}\n",
    "launch_in_a_class.py": "class Image:\n    lib_version = 'OLD'\n",
    "launch_in_pairs.py": "PINS = [('lib', 'OLD')]\n",
    "lib.csv": "name,version\nlib,OLD\n",
    "packages.lst": "lib OLD\n",
    "node.sh": 'source node.env\npip install "${PACKAGE}==${RELEASE}"\npython case.py\n',
    "part.sh": "grep -v lib requirements.txt > part.txt\npip install -r part.txt\npython case.py\n",
    "pip.ini": "[old]\ninstall = lib (==OLD)\n",
    "pipeline.yaml": "packages:\n  - name: lib\n    version: OLD\n",
    "recipe/meta.yaml": "requirements:\n  run:\n    - lib OLD\n",
    "run.ipynb": NOTEBOOK % "!pip install lib==OLD\\n%run case.py",
    "run.ps1": "pip install lib==OLD\npython case.py\n",
    "run.sh": "uv run --with 'lib == OLD' case.py\n",
    "spack.yaml": "spack:\n  specs:\n    - py-lib@OLD\n",
    "stack.json": '{"packages": [{"name": "lib", "version": "OLD"}]}\n',
    "stack.toml": '[[tools]]\nname = "lib"\nversion = "OLD"\n',
    "stack.yaml": "versions:\n  lib: OLD\n",
    "tox.ini": "[testenv:old]\ndeps =\n    lib==OLD\n",
    "upper.yaml": "LIB: OLD\n",
}
"""Files of a project, each with a release in it."""
SILENT = {
    "advice.json": '{"help": "needs lib version OLD or higher"}\n',
    "advice.py": "WARNING = 'lib version OLD is recommended'\n",
    "CHANGELOG.md": "- was lib OLD\n",
    "Dockerfile": "# lib==OLD\nRUN pip install lib\n",
    "elsewhere/requirements.txt": "lib==OLD\n",
    "apart.ipynb": NOTEBOOK % "!pip install lib==OLD",
    "notes.py": "# lib OLD was slower\n",
    "install.sh": 'pip install --index-url "$INDEX" -r requirements.txt\npip install -e "$HERE"\n',
    "other.yaml": "lib: OLDER\n",
    "same.yaml": "lib: NEW\n",
    "training.yaml": "lib_layers: OLD\n",
    "versions.toml": '[tools]\nwith_lib = true\nsomething = "OLD"\n',
}
"""Files that say nothing of it."""


def found(package: str, path: str, text: str) -> list[tuple[Certainty, bool]]:
    code, asked, old, program = PROGRAMS[package]
    text = text.replace("OLDER", "old").replace("OLD", old).replace("NEW", asked.lstrip(">="))
    text = text.replace("LIB", package.upper()).replace("lib", package)
    files = {"case.py": program, "requirements.txt": f"{package}{asked}\n", path.replace("lib", package): text}
    memory = Memory({name: each.encode() for name, each in files.items()})
    options = Options(tuple(rule for rule in load() if rule.code == code))
    findings = plan(sorted(files), memory, options, fix=False, index=Index(memory, noting=True)).findings
    return [(each.certainty, each.safety is Safety.SAFE) for each in findings if each.path == "case.py"]


@pytest.mark.parametrize("package", sorted(PROGRAMS))
@pytest.mark.parametrize("path", sorted(CHOOSING))
def test_a_release_that_is_chosen_may_be_installed(package: str, path: str) -> None:
    told = found(package, path, CHOOSING[path])
    assert told
    assert all(certainty is Certainty.POSSIBLE and not safe for certainty, safe in told)


@pytest.mark.parametrize("package", sorted(PROGRAMS))
@pytest.mark.parametrize("path", sorted(SILENT))
def test_what_chooses_nothing_takes_nothing_away(package: str, path: str) -> None:
    assert found(package, path, SILENT[path]) == [(Certainty.CERTAIN, True)]


def test_a_folder_with_a_release_of_its_own_is_not_the_one_that_is_named() -> None:
    """A configuration names a release, and a folder below it asks for an older one."""
    old = PROGRAMS["transformers"][2]
    program = "import transformers\n\nasked = transformers.TrainingArguments('out', evaluation_strategy='no')\n"
    files = {"case.py": program, "requirements.txt": f"transformers=={old}\n"}
    memory = Memory({name: each.encode() for name, each in files.items()})
    named = {"transformers": Target("transformers", "==5.23.0", "fixer.toml", given=True)}
    options = Options(tuple(rule for rule in load() if rule.code == "HF007"), targets=named)
    found = plan(sorted(files), memory, options, fix=False, index=Index(memory, named, noting=True)).findings
    assert [(each.certainty, each.safety is Safety.SAFE) for each in found] == [(Certainty.POSSIBLE, False)]


def test_a_list_that_a_command_installs_is_read() -> None:
    """`legacy/run.sh` installs `old.txt`, which no name makes a packaging file (`listed_by_a_command`)."""
    code, _, old, program = PROGRAMS["transformers"]
    files = {
        "legacy/run.sh": "python -m venv .venv\n.venv/bin/pip install -q -r old.txt\n.venv/bin/python reproduce.py\n",
        "legacy/old.txt": f"transformers=={old}\n",
        "legacy/reproduce.py": program,
        "requirements.txt": "transformers>=5.1\n",
    }
    memory = Memory({name: each.encode() for name, each in files.items()})
    options = Options(tuple(rule for rule in load() if rule.code == code))
    (told,) = plan(["legacy/reproduce.py"], memory, options, fix=False).findings
    assert ("legacy/old.txt", 1) in {(each.path, each.line) for each in (*told.doubts, *told.cautions)}


def test_a_project_with_an_older_release_imports_the_file() -> None:
    """A module of the whole repository that a service, which pins an older release, imports through another one."""
    code, asked, old, program = PROGRAMS["torch"]
    files = {
        "common/__init__.py": "",
        "common/loss.py": "from common.case import scaler\n",
        "common/case.py": program,
        "requirements.txt": f"torch{asked}\n",
        "serving/requirements.txt": f"torch=={old}\n",
        "serving/app.py": "from common.loss import scaler\n",
    }
    memory = Memory({name: each.encode() for name, each in files.items()})
    options = Options(tuple(rule for rule in load() if rule.code == code))
    (told,) = plan(["common/case.py"], memory, options, fix=False).findings
    assert told.safety is Safety.UNSAFE
    assert ("serving/requirements.txt", 1) in {(each.path, each.line) for each in (*told.doubts, *told.cautions)}
    del files["serving/app.py"]
    memory = Memory({name: each.encode() for name, each in files.items()})
    (told,) = plan(["common/case.py"], memory, options, fix=False).findings
    assert told.safety is Safety.SAFE
