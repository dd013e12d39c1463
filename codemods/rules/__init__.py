"""The API of a rule: what a rule is, and what a check may ask."""
