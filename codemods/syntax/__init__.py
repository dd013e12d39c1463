"""Python text and trees: parsing, facts, control flow, comments, suppression, rewriting, imports."""
