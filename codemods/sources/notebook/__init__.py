"""Notebooks: their code cells as Python text, with the way back into the raw JSON."""

from codemods.sources.notebook.source import NotebookSource, cells, decode, line_in_file, units

__all__ = ["NotebookSource", "cells", "decode", "line_in_file", "units"]
