"""Rules about attention and the encoder fast path."""
