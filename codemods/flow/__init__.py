"""Questions about a program, and their answers. Knows no library."""
