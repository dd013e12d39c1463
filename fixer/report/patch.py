"""A plan as a patch, in bytes, that `git apply` accepts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from codemods.model.plan import FilePlan
from fixer.report.diff import Hunk, hunks

_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def patch(files: Iterable[FilePlan]) -> bytes:
    """The changes of `files` as one patch; paths are relative to the root."""
    return b"".join(part for file in files if file.changed for part in file_patch(file))


def created(file: FilePlan) -> bytes:
    """The patch of a file that there was not."""
    new = quoted(f"b/{file.path}")
    lines = file.after.split(b"\n")[:-1]
    head = named(file.path) + b"\nnew file mode 100644\n--- /dev/null\n+++ " + new
    return head + f"\n@@ -0,0 +1,{len(lines)} @@\n".encode() + b"".join(b"+" + line + b"\n" for line in lines)


def file_patch(file: FilePlan) -> Iterator[bytes]:
    """The patch of one file, piece by piece: its header, then each hunk."""
    yield header(file)
    for hunk in hunks(file):
        heading = hunk.heading.encode("utf-8", "replace")
        yield f"@@ {hunk.position} @@".encode() + (b" " + heading if heading else b"") + b"\n"
        yield from body(hunk)


def header(file: FilePlan) -> bytes:
    """The three lines that name the file."""
    old, new = quoted(f"a/{file.path}"), quoted(f"b/{file.path}")
    # As git does: a name with a space is ended by a tab, so that no reader takes the rest for a date.
    tab = b"\t" if b" " in old else b""
    return named(file.path) + b"\n--- " + old + tab + b"\n+++ " + new + tab + b"\n"


def named(path: str) -> bytes:
    """The line that begins the patch of a file; nothing else in a patch reads like it."""
    return b"diff --git " + quoted(f"a/{path}") + b" " + quoted(f"b/{path}")


def body(hunk: Hunk) -> Iterator[bytes]:
    """The lines of a hunk with their signs."""
    for sign, line in hunk.lines:
        yield sign.encode() + line
        if not line.endswith(b"\n"):
            yield b"\n\\ No newline at end of file\n"


def quoted(path: str) -> bytes:
    """A path as git writes it: in quotes with octal escapes where it holds anything but printable ASCII."""
    raw = os.fsencode(path)
    if all(32 <= byte < 127 and byte not in b'"\\' for byte in raw):
        return raw
    parts = (_ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in raw)
    return b'"' + "".join(parts).encode() + b'"'
