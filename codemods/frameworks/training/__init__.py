"""Plain training loops of torch: their objects, what happens to these, and what must not."""
