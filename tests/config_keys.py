"""The keys that programs read in their configuration files, in `codemods/frameworks/tables/keys.toml`.

    python -m tests.config_keys [--check]

All that any published release reads counts, so that what no release reads is a mistake: the fields of the dataclasses
of LLaMA-Factory and of Transformers' arguments, of axolotl's models, and of Accelerate's configurations. Wheels come
from pip's index and are read without importing. `--check` tells whether the file is as it would be written.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

TABLE = Path(__file__).parents[1] / "codemods/frameworks/tables/keys.toml"
CACHE = Path.home() / ".cache/fixer-names/wheels"
SOURCES = {
    "LLaMA-Factory": {
        "llamafactory": r"/hparams/\w+\.py$",
        "transformers": r"transformers/training_args(_seq2seq)?\.py$",
    },
    "axolotl": {"axolotl": r"/(schemas|models)/[\w/]+\.py$|/args\.py$"},
    "Accelerate": {"accelerate": r"/commands/config/config_args\.py$"},
}
"""Owner → distribution → the modules whose classes have the keys as fields."""
HEAD = "# Written by `python -m tests.config_keys`: the keys that any release reads.\n"


def releases(distribution: str) -> list[str]:
    """The published releases; of each minor release of Transformers the last one is enough."""
    said = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", distribution], capture_output=True, text=True, check=True
    ).stdout
    listed = re.search(r"Available versions: (.*)", said)
    assert listed is not None, said
    found = listed[1].split(", ")
    if distribution != "transformers":
        return found
    minor = {version.rpartition(".")[0]: version for version in reversed(found) if int(version.split(".")[0]) > 3}
    return list(minor.values())


def keys(distribution: str, version: str, modules: str) -> Iterator[str]:
    """The fields of the classes of one release; none where there is no wheel."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(CACHE)]
    name = f"{distribution}-{version}"
    if not list(CACHE.glob(f"{name}-*.whl")):
        subprocess.run([*pip, f"{distribution}=={version}"], capture_output=True, check=False)
    for wheel in CACHE.glob(f"{name}-*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for path in archive.namelist():
                if re.search(modules, path):
                    for node in ast.walk(ast.parse(archive.read(path))):
                        for field in node.body if isinstance(node, ast.ClassDef) else ():
                            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                                yield field.target.id


def written() -> str:
    """The whole table."""
    parts = [HEAD]
    for owner, distributions in SOURCES.items():
        found = {
            key
            for distribution, modules in distributions.items()
            for version in releases(distribution)
            for key in keys(distribution, version, modules)
        }
        lines = "".join(f'  "{key}",\n' for key in sorted(found) if not key.startswith("_"))
        parts.append(f'["{owner}"]\nkeys = [\n{lines}]\n')
    return "\n".join(parts)


def main() -> int:
    CACHE.mkdir(parents=True, exist_ok=True)
    text = written()
    if "--check" in sys.argv[1:]:
        same = TABLE.read_text(encoding="utf-8") == text
        print(f"{TABLE.name}: {'as it would be written' if same else 'out of date'}")
        return 0 if same else 1
    TABLE.write_text(text, encoding="utf-8")
    print(f"{TABLE.name}: {text.count(chr(10)) - 10} keys")
    return 0


if __name__ == "__main__":
    sys.exit(main())
