"""The world around the pure core `codemods`: files, processes, git and the terminal."""

COLLECT = 100_000, 20, 100
"""When to look for garbage: seldom, for lists of files and trees are many objects that live and die together."""
