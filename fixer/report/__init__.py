"""Renderings of a plan. All show the same: what a dry-run prints is what a run does."""
