"""The world around the pure core `codemods`: files, processes, git and the terminal."""
