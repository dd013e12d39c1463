"""Encoders, and the precision that their attention runs in."""
