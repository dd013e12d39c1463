"""The tables of a campaign's state, in SQLite."""

SCHEMA = 1
"""Kept in `PRAGMA user_version`."""
TABLES = """
CREATE TABLE campaign (name TEXT NOT NULL, begun INTEGER NOT NULL) STRICT;
CREATE TABLE repository (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    location TEXT NOT NULL,
    local INTEGER NOT NULL,
    position INTEGER,           -- in the campaign file; NULL: no longer there
    mark TEXT,                  -- of the campaign when it was planned
    base TEXT,
    base_name TEXT NOT NULL DEFAULT '',
    ending TEXT,
    detail TEXT NOT NULL DEFAULT '',
    places TEXT NOT NULL DEFAULT '[]',
    notes TEXT NOT NULL DEFAULT '[]',
    skipped INTEGER NOT NULL DEFAULT 0,
    touched REAL
) STRICT;
CREATE TABLE branch (
    repository INTEGER NOT NULL REFERENCES repository (id),
    name TEXT NOT NULL,
    part TEXT NOT NULL,
    owners TEXT NOT NULL,
    stage TEXT NOT NULL CHECK (stage IN ('prepared', 'done', 'closed', 'withdrawn')),
    tip TEXT NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    patch BLOB NOT NULL,
    pack BLOB,                  -- until it has arrived
    commits TEXT NOT NULL,
    series TEXT NOT NULL,
    verdict TEXT NOT NULL,
    verification TEXT NOT NULL,
    ending TEXT,
    detail TEXT NOT NULL DEFAULT '',
    pull_request INTEGER,
    url TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (repository, name)
) STRICT;
CREATE TABLE tip (              -- everything that a branch was ever to point at
    repository INTEGER NOT NULL REFERENCES repository (id),
    branch TEXT NOT NULL,
    oid TEXT NOT NULL,
    at REAL NOT NULL,           -- when that was begun; 0: it was turned away
    PRIMARY KEY (repository, branch, oid)
) STRICT;
CREATE INDEX tip_at ON tip (at);
"""
