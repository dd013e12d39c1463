"""Losses and other functions whose numbers go wrong."""
