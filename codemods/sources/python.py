"""A Python file: its text, and how to get back to its bytes."""

from __future__ import annotations

import codecs
import io
import tokenize
from dataclasses import dataclass

from codemods.edits import Skip, SkipReason

LARGEST = 4_000_000
"""Bytes; a larger Python file is generated data, and is skipped."""


@dataclass(frozen=True, slots=True)
class Source:
    """Decoded text of one file. `encode(text)` gives the bytes that hold `text` in the file's own encoding."""

    path: str
    text: str
    encoding: str
    bom: bool = False

    def encode(self, text: str) -> bytes:
        """The bytes of `text`, with the file's own encoding and byte-order mark.

        Raises:
            UnicodeEncodeError: if the encoding cannot hold a character of `text`.
        """
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)


def decode(path: str, data: bytes) -> Source | Skip:
    """The file as text, by its byte-order mark or coding declaration (PEP 263), line ends as they are."""
    if len(data) > LARGEST:
        return Skip(path, SkipReason.TOO_LARGE, f"{len(data):,} bytes; files above {LARGEST:,} bytes are not read")
    if b"\0" in data:
        return Skip(path, SkipReason.UNDECODABLE, "contains NUL bytes")
    bom = data.startswith(codecs.BOM_UTF8)
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        text = data[len(codecs.BOM_UTF8) if bom else 0 :].decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Skip(path, SkipReason.UNDECODABLE, f"line {line}: not valid {error.encoding}")
    except (SyntaxError, LookupError, UnicodeError) as error:
        return Skip(path, SkipReason.UNDECODABLE, str(error))
    source = Source(path, text, encoding, bom)
    if source.encode(text) != data:
        return Skip(path, SkipReason.NO_ROUND_TRIP, f"decoding as {encoding} and encoding again changes the bytes")
    return source
