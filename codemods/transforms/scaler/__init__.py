"""Rules about GradScaler."""
