"""Activation checkpointing: what a checkpointed function does, and who switches it on."""
