"""Configuration files: YAML, JSON and TOML as trees of values with spans, and edits in the manner of the file."""

from codemods.sources.config.document import (
    FORMATS,
    Alias,
    Array,
    Config,
    Entry,
    Key,
    Opaque,
    Pair,
    Scalar,
    Table,
    Unknown,
    Value,
    followed,
    plain,
    read,
    same,
)

__all__ = [
    "FORMATS",
    "Alias",
    "Array",
    "Config",
    "Entry",
    "Key",
    "Opaque",
    "Pair",
    "Scalar",
    "Table",
    "Unknown",
    "Value",
    "followed",
    "plain",
    "read",
    "same",
]
