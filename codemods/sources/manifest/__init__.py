"""Packaging files: what they ask for, with its place, in the dialects of pip, conda, Poetry, Pipenv and setuptools."""

from codemods.sources.manifest.document import Manifest, read
from codemods.sources.manifest.requirement import PACKAGES, Include, Requirement

__all__ = ["PACKAGES", "Include", "Manifest", "Requirement", "read"]
