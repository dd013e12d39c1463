"""What is known of loss functions and of the numbers that they are given."""
