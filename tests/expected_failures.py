"""What is known to be wrong, each with its reason: fixtures and spellings whose tests are expected to fail.

The number is held by `test_before_after.py`; a reason names the analysis that is missing.
"""

SPELLING: dict[str, str] = {}
"""Rule name/case → why its findings depend on how the program is spelled."""

FIXTURES: dict[str, str] = {}
"""Rule name/case → why the rule does not yet do what the fixture says."""
