"""A model set up by Fabric under bf16-mixed refuses the raw call."""

from codemods.verify.observe import observe, watch

SYMPTOM = "requires you to call `fabric.backward(loss)` instead of `loss.backward()`"


def run(case):
    return observe(case.main())
