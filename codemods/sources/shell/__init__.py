"""Shell scripts: the commands in them, and the Python programs they start."""

from codemods.sources.shell.commands import Command, Word
from codemods.sources.shell.script import Launch, Script, launched, read

__all__ = ["Command", "Launch", "Script", "Word", "launched", "read"]
