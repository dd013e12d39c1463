"""Rules about what dependency files ask for: floors above known bugs, pins that do not fit together, bad releases."""
