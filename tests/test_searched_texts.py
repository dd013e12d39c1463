"""A fix that changes a name is not safe where something looks for that name in the text of the program.

Each form is one more file beside a program whose fix is safe alone.
"""

from __future__ import annotations

import pytest
from memory import Memory

from codemods.engine.rounds import Options, plan
from codemods.model.edits import Safety
from codemods.model.plan import Target
from codemods.project.index import Index
from codemods.transforms import load

PROGRAMS = {
    "HF007": ("transformers>=5.1", "transformers.TrainingArguments('out', NAME='no')", "evaluation_strategy"),
    "HF009": ("transformers>=5.1", "transformers.AutoModel.from_pretrained('m', NAME='float16')", "torch_dtype"),
    "PL103": ("lightning>=2.4", "lightning.pytorch.Trainer(NAME=False)", "replace_sampler_ddp"),
    "PL101": ("lightning>=2.4", "lightning.pytorch.Trainer(NAME=16)", "precision"),
    "AMP002": ("torch>=2.6", "torch.cuda.amp.NAME()", "GradScaler"),
}
"""Rule → what is asked for, an expression, and the name in it that a fix changes, or changes the value of."""
SEARCHING = {
    ".github/workflows/gate.yml": "jobs:\n  gate:\n    steps:\n      - run: grep -q NAME case.py\n",
    ".pre-commit-config.yaml": "repos:\n  - repo: local\n    hooks:\n      - id: gate\n        entry: rg NAME\n",
    "Makefile": "gate:\n\tgrep -c NAME case.py\n",
    "change.sh": "sed -i 's/NAME=[^)]*/NAME=1/' case.py\n",
    "read.js": "const found = source.match(/NAME/)\n",
    "test_constants.py": "import case\n\n\ndef test():\n    assert 'NAME' in case.made.__code__.co_names\n",
    "test_double.py": (
        "from unittest import mock\n\nimport case\n\n\ndef test(double):\n    with mock.patch('case.made') as made:\n"
        "        made()\n    assert made.call_args.kwargs['NAME']\n"
    ),
    "test_source.py": "import inspect\n\nimport case\n\n\ndef test():\n    assert 'NAME' in inspect.getsource(case)\n",
    "test_text.py": "import re\n\n\ndef test():\n    assert re.search('NAME=', open('case.py').read())\n",
    "test_tree.py": (
        "import ast\nimport pathlib\n\n\ndef test():\n    tree = ast.parse(pathlib.Path('case.py').read_text())\n"
        "    assert any(each.arg == 'NAME' for each in ast.walk(tree) if isinstance(each, ast.keyword))\n"
    ),
}
IDLE = {
    ".github/workflows/run.yml": "jobs:\n  run:\n    steps:\n      - run: python case.py\n",
    "run.sh": "python case.py\n",
    "test_case.py": "import case\n\n\ndef test():\n    assert case.made() is not None\n",
}


def safeties(code: str, path: str, text: str) -> list[bool]:
    asked, made, name = PROGRAMS[code]
    library = made.partition(".")[0]
    module = "lightning.pytorch" if library == "lightning" else library
    program = f"import {module}\n\n\ndef made():\n    return {made.replace('NAME', name)}\n"
    files = {"case.py": program, "requirements.txt": f"{asked}\n", path: text.replace("NAME", name)}
    memory = Memory({each: content.encode() for each, content in files.items()})
    told = Target(library, asked.partition(library)[2], "--target", given=True)  # a person names the release
    options = Options(tuple(rule for rule in load() if rule.code == code), targets={library: told})
    index = Index(memory, {library: told}, noting=True)
    found = plan(sorted(files), memory, options, fix=False, index=index).findings
    return [each.fix is not None and each.safety is Safety.SAFE for each in found if each.path == "case.py"]


@pytest.mark.parametrize("code", sorted(PROGRAMS))
@pytest.mark.parametrize("path", sorted(SEARCHING))
def test_what_is_looked_for_is_not_changed_safely(code: str, path: str) -> None:
    assert safeties(code, path, SEARCHING[path]) == [False]


@pytest.mark.parametrize("code", sorted(PROGRAMS))
@pytest.mark.parametrize("path", sorted(IDLE))
def test_what_only_runs_it_takes_nothing_away(code: str, path: str) -> None:
    assert safeties(code, path, IDLE[path]) == [True]
