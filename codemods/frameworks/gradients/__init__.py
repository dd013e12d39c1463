"""Losses: where they are made, cut from the graph, and differentiated."""
