"""Rules about autocast regions and AMP names."""
