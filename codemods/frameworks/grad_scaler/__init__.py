"""Gradient scalers: which object is one, and the steps of training with it."""
