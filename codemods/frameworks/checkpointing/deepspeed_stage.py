"""Which stage of DeepSpeed's ZeRO a configuration file trains under."""

from __future__ import annotations

import posixpath
import re

from codemods.frameworks.config_owners import scalar
from codemods.rules.file_context import FileContext
from codemods.sources.config import Config, Table, Value, followed

_NAMED = re.compile(r"(?:z|zero|stage)[-_]?([0-3])(?![0-9])")


def deepspeed_stage(value: Value | None, ctx: FileContext) -> int | None:
    """The stage that `deepspeed: …` leads to, 0 where there is no DeepSpeed; None where that cannot be told.

    The file is looked for from the configuration's folder upwards, for nobody says where training is started; where
    none is found, its name may tell.
    """
    value = followed(value) if value is not None else None
    if isinstance(value, Table):
        return _stage(value)
    path = scalar(value)
    if path is None or path == "":
        return 0
    if not isinstance(path, str):
        return None
    folder = posixpath.dirname(ctx.path)
    while True:
        document = ctx.index.document(posixpath.normpath(posixpath.join(folder, path)))
        if isinstance(document, Config) and len(document.roots) == 1 and isinstance(document.roots[0], Table):
            return _stage(document.roots[0])
        if not folder:
            named = _NAMED.search(posixpath.basename(path).lower())
            return int(named[1]) if named else None
        folder = posixpath.dirname(folder)


def _stage(table: Table) -> int | None:
    if table.entry("zero_optimization") is None:
        return 0
    stage = scalar(table.get("zero_optimization", "stage"))
    return stage if isinstance(stage, int) and not isinstance(stage, bool) else None
