"""A constant, a default of Fabric and two subclasses: each warns under the old name, none under the new one."""

from codemods.verify.observe import Observation

SYMPTOM = "is supported for historical reasons but its usage is discouraged"


def run(case):
    trainer, fabric, other = case.main(True)
    made = (trainer, other, case.Quiet(accelerator="cpu"))
    numbers = {f"{number} is mixed": float("mixed" in str(each.precision)) for number, each in enumerate(made)}
    return Observation(numbers={**numbers, "fabric": float("mixed" in fabric._precision.precision)})
