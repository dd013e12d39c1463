"""From the text of a log to the messages in it, the places they come from, and what can be done."""
