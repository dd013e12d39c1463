"""A person's command, run on a temporary copy of their code: nothing of it, and nothing it started, stays."""
