"""`python -m fixer`: the command, run by an interpreter of one's choice."""

import sys

# Python puts the current directory first. What a repository holds must never be imported.
if sys.path and not __file__.startswith(sys.path[0]):
    del sys.path[0]

from fixer.cli import main

if __name__ == "__main__":
    main()
