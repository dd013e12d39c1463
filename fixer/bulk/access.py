"""How git gets into a remote of a campaign: with a token of the environment, where there is one for that host."""

from __future__ import annotations

import os

from fixer.bulk.campaign import Campaign
from fixer.errors import Refusal
from fixer.git.credentials import from_environment, pushing_with
from fixer.git.forge.find import place_of
from fixer.git.remotes import parse


def variables(location: str, campaign: Campaign) -> dict[str, str]:
    """Variables for git; they may hold a token, and are never to be written down."""
    try:
        remote = parse(location)
        place = place_of(remote, campaign.pull_requests.forge, os.environ)
    except Refusal:
        # Reading may do without; whether a pull request can be opened is said when one is.
        return {}
    if place is None or remote.scheme not in ("http", "https"):
        return {}
    return pushing_with(from_environment(place.kind, place.host, os.environ, named=place.named), place.kind)
