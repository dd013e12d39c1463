"""Bytes that become text, and text that becomes the same bytes again."""

from __future__ import annotations

import pytest

from codemods.model.edits import Skip, SkipReason
from codemods.sources import python
from codemods.sources.python import decode
from codemods.sources.text import Source


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", Source("p.py", "", "utf-8"), id="empty"),
        pytest.param("é\r\n\rx\n".encode(), Source("p.py", "é\r\n\rx\n", "utf-8"), id="line ends as they are"),
        pytest.param(b"\xef\xbb\xbfx\n", Source("p.py", "x\n", "utf-8", bom=b"\xef\xbb\xbf"), id="byte-order mark"),
        pytest.param(
            b"# coding: latin-1\n# \xe9\n", Source("p.py", "# coding: latin-1\n# é\n", "iso-8859-1"), id="latin-1"
        ),
        pytest.param(
            b"#!x\n# vim: set fileencoding=cp1252 :\n# \x80\n",
            Source("p.py", "#!x\n# vim: set fileencoding=cp1252 :\n# €\n", "cp1252"),
            id="second line",
        ),
    ],
)
def test_decode_and_encode(data: bytes, expected: Source) -> None:
    assert decode("p.py", data) == expected
    assert expected.encode(expected.text) == data


@pytest.mark.parametrize(
    ("data", "reason", "detail"),
    [
        pytest.param(b"x = '\0'\n", SkipReason.UNDECODABLE, "contains NUL bytes", id="NUL"),
        pytest.param(b"a\nb\nx = '\xff'\n", SkipReason.UNDECODABLE, "line 3: not valid utf-8", id="not UTF-8"),
        pytest.param(b"# coding: klingon\n", SkipReason.UNDECODABLE, "unknown encoding: klingon", id="unknown"),
        pytest.param(b"\xef\xbb\xbf# coding: latin-1\n", SkipReason.UNDECODABLE, "encoding problem: utf-8", id="both"),
        pytest.param(b"# coding: rot13\n", SkipReason.UNDECODABLE, "'rot13' is not a text encoding", id="rot13"),
        pytest.param(b"# coding: undefined\n", SkipReason.UNDECODABLE, "undefined encoding", id="undefined"),
        pytest.param(
            b"# coding: unicode_escape\nx = '\\x41'\n",
            SkipReason.NO_ROUND_TRIP,
            "decoding as unicode_escape and encoding again changes the bytes",
            id="no way back",
        ),
    ],
)
def test_what_is_not_read(data: bytes, reason: SkipReason, detail: str) -> None:
    skip = decode("p.py", data)
    assert isinstance(skip, Skip)
    assert skip.reason == reason and detail in skip.detail


def test_a_large_file_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python, "LARGEST", 1_000)
    assert isinstance(decode("p.py", b"#" * 1_000), Source)
    detail = "1,001 bytes; files above 1,000 bytes are not read"
    assert decode("p.py", b"#" * 1_001) == Skip("p.py", SkipReason.TOO_LARGE, detail)
