"""What all files say together: the index with its dependencies, results that hold, versions."""
