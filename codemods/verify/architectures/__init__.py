"""Architectures of Transformers under checkpointing: what maintainers run in a checkout. Not part of a wheel."""
