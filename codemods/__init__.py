"""Pure core of `fixer`: reads PyTorch training code, says what is wrong, and computes the repair.

Nothing in this package reads a file, a clock, the network, git or a terminal, and nothing imports torch
(`codemods.verify` starts child processes that do).
"""

__version__ = "0.1.0"
