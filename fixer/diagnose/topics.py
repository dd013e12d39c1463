"""What is known of messages that people meet: what they mean, and their causes in the order in which to check them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause of a message."""

    what: str
    """What the code does."""
    tell: str = ""
    """How to see whether it is this one."""
    cure: str = ""
    """What to change."""
    codes: tuple[str, ...] = ()
    """The rules that look for it."""
    signs: tuple[str, ...] = ()
    """Patterns of lines of code that are worth a look: it cannot be this cause where there is none, or seldom."""
    said: str = ""
    """A pattern of the message itself: where it fits, this is the cause to check first."""
    inside: str = ""
    """A pattern of the functions in the traceback: the same, and where it fits none of them, this is no likely one."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One message, in all its wordings."""

    name: str
    """In kebab case."""
    texts: tuple[str, ...]
    """Templates of `fixer.diagnose.patterns.Pattern`."""
    meaning: str
    causes: tuple[Cause, ...]
    """The first is the one to check first."""
    codes: tuple[str, ...] = ()
    """Rules that find causes of it, beside those whose own texts match and those of the causes."""
    again: str = ""
    """What to set in the environment, so that the program itself says more when it is run again."""
    watch: bool = True
    """Whether `fixer verify --run` tells more."""
    step: str = ""
    """What to do next, where running the program under watch does not help."""


def all_topics() -> tuple[Topic, ...]:
    """Every topic."""
    from fixer.diagnose import (
        topics_dtypes,
        topics_gradients,
        topics_names,
        topics_scaler,
        topics_training,
        topics_versions,
    )

    modules = (topics_gradients, topics_scaler, topics_dtypes, topics_training, topics_versions, topics_names)
    return tuple(topic for module in modules for topic in module.TOPICS)
