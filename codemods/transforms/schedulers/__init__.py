"""Rules about learning-rate schedulers."""
