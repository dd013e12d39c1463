"""How fast `fixer` is, as ratios to other tools measured alternately in one run: `python tests/benchmarks`."""
