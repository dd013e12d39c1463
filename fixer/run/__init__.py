"""From a request to a plan: planning, workers, cache."""
