"""What is there and what is asked for: files, settings, selectors."""
