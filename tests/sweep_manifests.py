"""Every dependency file of real repositories: each constraint of ours set to itself, then to new ones. Opt-in:

python tests/sweep_manifests.py /where/the/repositories/are
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from codemods.model.edits import Skip, splice
from codemods.sources import files
from codemods.sources.manifest import PACKAGES, Manifest, Requirement, read
from codemods.sources.manifest.specifiers import alternatives

NEW = (">=2.0.7", ">=2.0.7,<3", "==9.8.7")


def sweep(root: Path) -> Iterator[tuple[str, str]]:
    """(what happened, where) for each file, requirement and edit below `root`."""
    for place in sorted(root.rglob("*")):
        path = place.relative_to(root).as_posix()
        if ".git/" in path or not files.is_manifest(path) or not place.is_file():
            continue
        source = files.decode(path, place.read_bytes())
        if isinstance(source, Skip):
            yield f"not decoded: {source.reason}", f"{path}: {source.detail}"
            continue
        manifest = read(path, source.text)
        if isinstance(manifest, Skip):
            yield f"skipped: {manifest.reason}", f"{path}: {manifest.detail}"
            continue
        assert isinstance(manifest, Manifest)
        yield "files", path
        yield from (("notes", f"{path}: {note}") for note in manifest.notes())
        for each in manifest.requirements:
            assert manifest.text[slice(*each.constraint)] == each.written or each.why_not, (path, each)
            if each.package in PACKAGES:
                where = f"{path}:{manifest.line(each)} {manifest.label(each)} {each.written}"
                yield "requirements of ours", where
                yield from ((what, f"{where} {each.why_not}") for what in _edited(manifest, each))


def _edited(manifest: Manifest, each: Requirement) -> Iterator[str]:
    if not each.editable:
        assert all(manifest.edits(each, new) is None for new in NEW)
        yield f"not editable: {each.why_not.split(';')[0].split(' ', 1)[1] if each.locked else each.why_not}"
        return
    assert manifest.edits(each, each.written) == ()
    yield "set to itself: no byte changes"
    for new in NEW:
        edits = manifest.edits(each, new)
        if edits is None:
            yield "not surely possible"
        elif edits:
            (edit,) = edits
            assert (edit.start, edit.end) == each.constraint
            again = read(manifest.path, splice(manifest.text, edits))
            assert isinstance(again, Manifest)
            before, after = [list(map(_said, one.requirements)) for one in (manifest, again)]
            at = manifest.requirements.index(each)
            assert (before[:at], before[at + 1 :]) == (after[:at], after[at + 1 :]), (manifest.path, each)
            assert again.requirements[at].specs == alternatives(new)
            yield "set to a new constraint: only its span changes"
        else:
            yield "said so already"


def _said(each: Requirement) -> tuple[object, ...]:
    return each.package, each.specs, each.written, each.place, each.condition, each.locked, each.why_not


def main() -> None:
    counts: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    for what, where in sweep(Path(sys.argv[1])):
        counts[what] += 1
        if what not in ("files", "requirements of ours") and not what.startswith("set to") and shown[what] < 8:
            shown[what] += 1
            print(f"{what}: {where}")
    for what, count in sorted(counts.items()):
        print(f"{count:8,} {what}")


if __name__ == "__main__":
    main()
