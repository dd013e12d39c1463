"""The pins leave the two releases out. Nothing is installed or run: they steal credentials."""

from codemods.verify.observe import Observation
from codemods.verify.resolution import demand_without

SYMPTOM = "requirements.txt allows lightning 2.6.3"


def run(case):
    found = [demand_without(case, {package: "2.6.2, 2.6.3"}) for package in ("lightning", "pytorch-lightning")]
    return Observation(numbers=found[0].numbers | found[1].numbers)
