"""Starts the probe in a Python that has this directory on its `PYTHONPATH`, then the `sitecustomize` of its owner.

Runs in the interpreter of the person whose code is watched: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).absolute().parent


def _load(name: str, spec: Any) -> Any:
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.path[:] = [place for place in sys.path if Path(place).absolute() != HERE]
if "FIXER_PROBE" in os.environ:
    try:
        _spec = importlib.util.spec_from_file_location("_fixer_probe", HERE.with_name("probe.py"))
        _load("_fixer_probe", _spec).start(os.environ)
    except Exception as error:
        sys.stderr.write(f"fixer: the probe could not start: {error!r}\n")
_own = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
if _own is not None:
    _load("sitecustomize", _own)
