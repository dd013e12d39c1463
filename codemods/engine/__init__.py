"""From files to a plan: the prefilter, the checks of one file, findings, rounds."""
