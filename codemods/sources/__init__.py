"""What a file is: bytes that become text with spans, and text that becomes the same bytes again."""
