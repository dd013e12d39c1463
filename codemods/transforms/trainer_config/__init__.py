"""Rules about Accelerate and transformers."""
