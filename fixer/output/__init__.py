"""What becomes of a plan: files, commits, branches, parts, pull requests."""
