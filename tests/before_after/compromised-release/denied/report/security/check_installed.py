"""Fails when a release of the deny list is installed."""

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

bad = []
for line in Path(__file__).with_name("denied-requirements.txt").read_text().splitlines():
    name, _, denied = line.partition("#")[0].strip().partition("==")
    if not name:
        continue
    try:
        if version(name) == denied:
            bad.append(line)
    except PackageNotFoundError:
        pass
sys.exit(f"denied: {bad}" if bad else 0)
