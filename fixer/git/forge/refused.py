"""What to say about a request that a forge refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fixer.git.forge.patience import FailedRequest

if TYPE_CHECKING:
    import requests

NOT_UNDERSTOOD = (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError)
"""What libraries raise about an answer that is not of the documented shape."""


def explained(host: str, doing: str, answer: FailedRequest) -> str:
    """One sentence: what could not be done, why, and what a person can do about it."""
    words = said(answer)
    if answer.status == 0:
        return f"{host} does not answer as it should: check the address and the network ({words})"
    advice = {
        401: "the token is wrong or has expired: make a new one",
        403: "the token is not allowed to: it must be able to write to pull requests and to the repository's contents",
        404: "there is no such repository, or the token is not allowed to see it",
        410: "pull requests are switched off there",
        451: "it was taken down for legal reasons",
    }.get(answer.status or 0, "")
    what = f"{host} did not let us {doing}"
    return f"{what}: {advice} ({words})" if advice else f"{what}: {words}"


def said(answer: FailedRequest) -> str:
    """The host's own words on one line, with the status."""
    text = " ".join(re.sub(r"<[^>]*>", " ", answer.text).split())[:300]
    return f"{answer.status} {text}".strip()


def unreachable(error: requests.RequestException) -> FailedRequest:
    """What a request that got no answer comes to."""
    text = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return FailedRequest(
            495, "the certificate of the server is not trusted here (REQUESTS_CA_BUNDLE names one that is)"
        )
    found = re.search(r"\[Errno -?\d+\] ([^'\")\]]+)|(timed out)|(Name or service not known|Failed to resolve)", text)
    return FailedRequest(None, next((part for part in found.groups() if part), "") if found else type(error).__name__)
