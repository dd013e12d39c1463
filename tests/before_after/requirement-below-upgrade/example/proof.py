"""The pin moves to the release that was asked for. Which code that release needs is shown by the other rules."""

from codemods.verify.observe import Observation
from codemods.verify.resolution import demand_without

SYMPTOM = "requirements.txt allows torch 2.6.0"


def run(case):
    return Observation(numbers=demand_without(case, {"torch": "<2.13.0"}).numbers)
