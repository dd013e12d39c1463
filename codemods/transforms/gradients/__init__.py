"""Rules about the chain of gradients from parameters to loss and back."""
