"""What a result is: edits, fixes, findings, skips, the plan; canonical names."""
