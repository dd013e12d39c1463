"""Many changes at once: a plan in parts, a campaign over repositories."""
