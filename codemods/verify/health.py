"""Judging one run of a command on the code as it is. Standard library only.

A right program is healthy: what may be meant (a frozen part, an output that no loss uses, a layer that is skipped at
some steps) is a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codemods.verify.comparison import progress, troubles
from codemods.verify.symptoms import ODDITIES, Run, Symptom, sentences, symptoms
from codemods.verify.trace import Trace
from codemods.verify.verdict import Verdict

LOOKS = 3
"""From so many on, a gradient that is always zero says something: LoRA and a warm-up from zero begin with zeros."""


def examined(run: Run, messages: Sequence[str] = ()) -> Verdict:
    """The verdict on one run; `messages` are those of the rules that found something."""
    if run.how == "time" and run.steps:  # what was seen until then is judged
        run = replace(run, how="cut")
    trouble = next(troubles(run, run), "")
    if trouble:
        return Verdict("could-not-run", trouble)
    if not any(trace.trained for trace in run.traces):
        ended = "it ended well, and there was no backward pass to look at"
        return Verdict("could-not-run", run.error() or ended)
    found = tuple(symptoms(run, messages))
    wrong = [symptom for symptom in found if _is_wrong(symptom, run)]
    told = sentences(wrong, run)
    notes = (*sentences([symptom for symptom in found if symptom not in wrong], run), *_notes(run))
    if wrong:
        return Verdict("unhealthy", told[0], wrong=told, notes=notes)
    return Verdict("healthy", progress(run), notes=notes)


def _is_wrong(symptom: Symptom, run: Run) -> bool:
    if symptom.kind in ("message", "exception"):
        return False  # it printed a warning, or caught what it tried
    if symptom.kind in ODDITIES or symptom.process < 0:
        return True
    trace = run.traces[symptom.process]
    parameter = trace.parameters.get(symptom.name)
    if parameter is None:
        return True
    if symptom.kind == "no-gradient":
        return symptom.share == 1 and _cut_off(symptom.name, trace)
    if symptom.kind == "zero-gradient":
        return _cut_off(symptom.name, trace) and (parameter.looks >= LOOKS or not trace.reached())
    return True


def _cut_off(name: str, trace: Trace) -> bool:
    """Whether a parameter without a gradient lies before all that have one, rather than beside them."""
    return not trace.reached()


def _notes(run: Run) -> Iterator[str]:
    for trace in run.traces:
        if trace.trouble:
            yield f"the probe did not see everything: {trace.trouble}"
        if trace.backward and not trace.updates:
            yield f"{trace.backward:,} backward passes, and no step of an optimizer of torch"
