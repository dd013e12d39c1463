from .names import *  # noqa: F403
