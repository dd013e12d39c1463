"""Everything that speaks to git. Repositories are hostile input: no hooks, no monitors, no strange transports."""
