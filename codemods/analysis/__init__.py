"""What code does: what is differentiated, and which errors are expected."""
