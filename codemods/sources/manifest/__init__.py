"""Packaging files: what they ask for, with its place, in the dialects of pip, conda, Poetry, Pipenv and setuptools."""

from codemods.sources.manifest.document import PACKAGES, Include, Manifest, Requirement, read

__all__ = ["PACKAGES", "Include", "Manifest", "Requirement", "read"]
