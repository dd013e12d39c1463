"""A Python file: its text, by its byte-order mark or coding declaration (PEP 263)."""

from __future__ import annotations

import codecs
import io
import tokenize

from codemods.model.edits import Skip, SkipReason
from codemods.sources.text import Source

LARGEST = 4_000_000
"""Bytes; a larger Python file is generated data, and is skipped."""


def decode(path: str, data: bytes) -> Source | Skip:
    """The file as text, line ends as they are."""
    if len(data) > LARGEST:
        return Skip(path, SkipReason.TOO_LARGE, f"{len(data):,} bytes; files above {LARGEST:,} bytes are not read")
    if b"\0" in data:
        return Skip(path, SkipReason.UNDECODABLE, "contains NUL bytes")
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        text = data[len(bom) :].decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Skip(path, SkipReason.UNDECODABLE, f"line {line}: not valid {error.encoding}")
    except (SyntaxError, LookupError, UnicodeError) as error:
        return Skip(path, SkipReason.UNDECODABLE, str(error))
    source = Source(path, text, encoding, bom)
    if source.encode(text) != data:
        return Skip(path, SkipReason.NO_ROUND_TRIP, f"decoding as {encoding} and encoding again changes the bytes")
    return source
