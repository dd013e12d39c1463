"""Refuses to start beside a release that a list in `deny/` names."""

from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

for path in sorted(Path("deny").glob("*.txt")):
    for line in path.read_text().splitlines():
        rule = Requirement(line)
        if rule.specifier.contains(metadata.version(rule.name)):
            raise SystemExit(f"{rule} must not be installed")
