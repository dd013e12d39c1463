"""How long to wait before a request is sent again, and when to give up.

Sources: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api (Retry-After, then the reset of
an exhausted limit, then at least a minute, longer each time) and
https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/ (Retry-After, RateLimit-Reset).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TypeVar

from fixer.errors import Refusal

T = TypeVar("T")
MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class FailedRequest:
    """A request that failed; `status` is None where no answer came at all."""

    status: int | None
    text: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """By name in lower case."""


class Failed(Exception):
    """A request failed for good, and why is to be said by who made it."""

    def __init__(self, answer: FailedRequest) -> None:
        super().__init__(answer.status)
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Patience:
    """How patient we are with one request; the functions are replaced by tests."""

    seconds: float = 15 * MINUTE
    """In all; a host that asks for more is left for another day."""
    tries: int = 6
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time
    chance: Callable[[], float] = random.random
    tell: Callable[[str], None] = lambda sentence: None
    """Hears about waits that a person would notice."""

    def with_(self, request: Callable[[], T], host: str) -> T:
        """Send `request` until it is answered.

        Raises:
            Refusal: if the host cannot be reached or asks us to wait for longer than we want to.
            Failed: if it says no.
        """
        spent = 0.0
        for attempt in range(self.tries):
            try:
                return request()
            except Failed as failed:
                answer = failed.answer
                wanted = wait(answer, attempt, self.now())
                if wanted is None:
                    raise
                # Those who were turned away together must not come back together.
                wanted += self.chance() * max(1.0, wanted / 10)
                if attempt == self.tries - 1 or spent + wanted > self.seconds:
                    raise Refusal(_given_up(host, answer, wanted)) from None
                if wanted > 5:
                    self.tell(f"{host} asks for a pause of {_span(wanted)}")
                self.sleep(wanted)
                spent += wanted
        raise AssertionError("unreachable")


PATIENT = Patience()


def wait(answer: FailedRequest, attempt: int, now: float) -> float | None:
    """Seconds to wait after the failed attempt of that number, from 0; None if trying again is of no use."""
    headers = answer.headers
    if answer.status is None or answer.status in (500, 502, 503, 504):
        return max(_retry_after(headers, now) or 0.0, 2.0**attempt)
    if answer.status not in (403, 429):
        return None
    asked = [] if (pause := _retry_after(headers, now)) is None else [pause]
    for prefix in ("x-ratelimit-", "ratelimit-"):
        if headers.get(f"{prefix}remaining") == "0" and headers.get(f"{prefix}reset", "").isdigit():
            asked.append(max(1.0, float(headers[f"{prefix}reset"]) - now + 1))
    if asked:
        return max(asked)
    limited = answer.status == 429 or "rate limit" in answer.text.lower() or "abuse" in answer.text.lower()
    return MINUTE * 2.0**attempt if limited else None


def _retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds, or a date, as RFC 9110 has it."""
    value = headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now) if value else None
    except ValueError:
        return None


def _given_up(host: str, answer: FailedRequest, wanted: float) -> str:
    if answer.status is None:
        return f"{host} cannot be reached ({answer.text}): check the address and the network, then run this again"
    if answer.status >= 500:
        return f"{host} answers with an error of its own ({answer.status}): run this again later"
    return f"{host} limits how often it is asked: run this again in {_span(wanted)}; what was done stays done"


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / MINUTE:.0f} min"
