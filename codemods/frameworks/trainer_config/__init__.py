"""What a training loop beside Transformers' Trainer and Accelerate does by hand."""
