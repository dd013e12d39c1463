"""What the rules about gradient scalers share."""
