"""`fixer lsp` in an editor: neovim opens a file, shows what is found, takes the fix and writes the file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from world import CHECKOUT, LONG, SURROUNDINGS, repository

pytest.importorskip("pygls")
SESSION = Path(__file__).parent / "lsp_session.lua"
NEOVIM = shutil.which("nvim") or ""
BEFORE = """\
import torch


def f(m, x):
    "😀"; c = torch.cuda.amp.autocast(False)
    with c:
        return m(x)
"""
AFTER = BEFORE.replace("torch.cuda.amp.autocast(False)", 'torch.amp.autocast("cuda", enabled=False)')


def _version() -> tuple[int, ...]:
    told = subprocess.run([NEOVIM, "--version"], capture_output=True, text=True, check=False).stdout if NEOVIM else ""
    found = re.search(r"NVIM v(\d+)\.(\d+)", told)
    return tuple(map(int, found.groups())) if found else (0, 0)


@pytest.mark.skipif(_version() < (0, 9), reason="needs neovim 0.9")
def test_neovim_shows_a_finding_and_takes_its_fix(tmp_path: Path) -> None:
    root = repository(tmp_path / "project", {"train.py": BEFORE})
    command = tmp_path / "fixer"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m fixer "$@"\n')
    command.chmod(0o755)
    environment = {**os.environ, **SURROUNDINGS, "FIXER": str(command), "PYTHONPATH": str(CHECKOUT)}
    homes = {name: str(tmp_path / "home") for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    done = subprocess.run(
        [NEOVIM, "--headless", "--clean", "train.py", "-S", SESSION],
        cwd=root,
        env={**environment, **homes},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (root / "train.py").read_text() == AFTER
    assert "5:17 fixer AMP002: `torch.cuda.amp.autocast` is deprecated" in done.stderr
    assert "offered: Silence AMP002 here (# fixer: ignore)" in done.stderr
