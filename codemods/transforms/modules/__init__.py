"""Rules about what a module does in training and in evaluation."""
