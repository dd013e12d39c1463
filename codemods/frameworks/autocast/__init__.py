"""Autocast regions: where they open, what runs in them, and how they are repaired."""
