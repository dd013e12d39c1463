"""What a project does that only some versions of its frameworks do right."""
