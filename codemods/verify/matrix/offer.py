"""Whether `fixer` would make the repair that a fixture shows, for the versions at hand. Runs nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from codemods.engine.rounds import Options, plan
from codemods.sources.files import is_source
from codemods.transforms import load
from codemods.verify.proof import asked, sides


@dataclass(frozen=True, slots=True)
class Texts:
    """A project in memory, as the engine reads it."""

    data: Mapping[str, bytes]

    def read(self, path: str) -> bytes | None:
        return self.data.get(path)

    def exists(self, path: str) -> bool:
        return path in self.data

    def files(self) -> Sequence[str]:
        return sorted(self.data)


def is_offered(proof: Path, versions: Mapping[str, str]) -> bool:
    """Whether `fixer`, told that these versions are in use, turns *before* into *after*."""
    before, after = ({path: text.encode() for path, text in side.items()} for side in sides(proof))
    options = asked(proof)
    rules = {
        rule.code: rule for rule in load() if rule.name == proof.parents[1].name or rule.code in options.get("with", "")
    }
    strategies = {
        code: options["strategy"] for code, rule in rules.items() if options.get("strategy") in rule.strategies
    }
    made = plan(
        [path for path in before if is_source(path)],
        Texts(before),
        Options(
            rules=tuple(rules.values()),
            unsafe="unsafe" in options,
            strategies=strategies,
            targets={package: f"=={Version(version).public}" for package, version in versions.items()},
        ),
        fix=True,
    )
    return {**before, **{file.path: file.after for file in made.files}} == after
