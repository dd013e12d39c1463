"""Configuration files: YAML, JSON and TOML as trees of values with spans, and edits in the manner of the file."""

from codemods.sources.config.document import Config, read
from codemods.sources.config.values import (
    Alias,
    Array,
    Entry,
    Key,
    Opaque,
    Pair,
    Scalar,
    Table,
    Value,
    followed,
    plain,
    same,
)

__all__ = [
    "Alias",
    "Array",
    "Config",
    "Entry",
    "Key",
    "Opaque",
    "Pair",
    "Scalar",
    "Table",
    "Value",
    "followed",
    "plain",
    "read",
    "same",
]
