"""Rules about activation checkpointing."""
