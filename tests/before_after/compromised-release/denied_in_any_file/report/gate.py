from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement


def check(topic="security"):
    for file in sorted(Path(__file__).parent.joinpath("policies", topic).iterdir()):
        for line in file.read_text().split():
            rule = Requirement(line)
            try:
                found = version(rule.name)
            except PackageNotFoundError:
                continue
            if found in rule.specifier:
                raise SystemExit(f"{rule} must not be installed")
