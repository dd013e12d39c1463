"""Judging one run of a command on the code as it is. Standard library only.

A right program is healthy: what may be meant (a frozen part, an output that no loss uses, a layer that is skipped at
some steps) is a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codemods.verify.comparison import progress, troubles
from codemods.verify.symptoms import (
    NAMED,
    REMARKS,
    SKIPPED,
    Run,
    Symptom,
    quoted,
    sentences,
    stands_still,
    symptoms,
    unheld,
)
from codemods.verify.trace import Parameter, Trace
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
    if run.well and not run.steps:
        return _without_steps(run)
    found = tuple(_placed(symptom, run) for symptom in symptoms(run, messages))
    cut = [frozenset(_cut_off(trace)) for trace in run.traces]
    wrong = [symptom for symptom in found if _is_wrong(symptom, run, cut)]
    told = sentences(wrong, run)
    notes = (*sentences([symptom for symptom in found if symptom not in wrong], run), *dict.fromkeys(_notes(run)))
    if wrong:
        return Verdict("unhealthy", told[0], wrong=told, notes=notes)
    return Verdict("healthy", progress(run), notes=notes)


def _without_steps(run: Run) -> Verdict:
    """The verdict on a run that ended well, in which no optimizer took a step."""
    passes = f"{run.backward:,} backward pass{'' if run.backward == 1 else 'es'}"
    if any(trace.made for trace in run.traces):
        told = f"nothing is trained: {passes}, and the optimizer that was made took no step"
        return Verdict("unhealthy", told, wrong=(told,), notes=tuple(dict.fromkeys(_notes(run))))
    return Verdict("could-not-run", f"{passes}, and no optimizer of torch was made: what is trained cannot be seen")


def _placed(symptom: Symptom, run: Run) -> Symptom:
    """An error with its line, and after how many steps it came."""
    trace = min((trace for trace in run.traces if trace.error), key=lambda trace: trace.written, default=None)
    if symptom.kind != "failed" or trace is None:
        return symptom
    steps = f"after {trace.updates:,} optimizer step{'' if trace.updates == 1 else 's'}"
    place = f"at {trace.error_place}" if trace.error_place else ""
    return replace(symptom, name=f"{symptom.name} ({', '.join(filter(None, (steps, place)))})")


def _is_wrong(symptom: Symptom, run: Run, cut: Sequence[frozenset[str]]) -> bool:
    if symptom.kind in ("message", "exception"):
        return False  # it printed a warning, or caught what it tried
    if symptom.process < 0 or symptom.name not in run.traces[symptom.process].parameters:
        return True
    trace, parameter = run.traces[symptom.process], run.traces[symptom.process].parameters[symptom.name]
    if symptom.kind == "no-gradient":
        return symptom.share == 1 and symptom.name in cut[symptom.process]
    if symptom.kind == "zero-gradient":
        always = parameter.looks >= LOOKS or not any(map(_reached, trace.parameters.values()))
        return always and symptom.name in cut[symptom.process]
    return symptom.kind != "unmoved" or not parameter.half or stands_still(trace)


def _cut_off(trace: Trace) -> Iterator[str]:
    """The parameters without a gradient that lie where the graph must have been cut: what has one depends on them.

    Where it was not seen what depends on them, the order of calls decides: an output that no loss uses is called after
    what has a gradient, or beside it, a layer that is skipped after other layers; what is never called has no place.
    What moves without a gradient is an average of other weights, or a copy of them.
    """
    reached = {name: page for name, page in trace.parameters.items() if _reached(page)}
    alive = {path for name, page in reached.items() for path in _paths(name, page)}
    containers = {path for name, page in trace.parameters.items() for path in _paths(name, page)[1:]}
    first: dict[int, int] = {}
    last = -1
    for name, page in reached.items():
        if page.order is not None and _paths(name, page)[0] not in containers:
            first[page.root] = min(page.order, first.get(page.root, page.order))
            last = max(last, page.order)
    for name, page in trace.parameters.items():
        if page.root < 0:  # of no module, unlike the rest: the layer that it belonged to was replaced
            cut = not reached or any(other.root >= 0 for other in reached.values())
        elif not reached:
            cut = True
        elif page.moved and not page.present:
            cut = False
        elif page.feeds is not None and not page.present:
            cut = page.feeds
        elif _paths(name, page)[0] in alive or page.order is None:
            cut = False
        else:
            cut = page.order < min(last, first.get(page.root, last))
        if cut and name not in reached:
            yield name


def _paths(name: str, page: Parameter) -> list[tuple[int, str]]:
    """The module that holds a parameter, and those around it, innermost first."""
    words = name.split(".")[:-1]
    return [(page.root, ".".join(words[:count])) for count in range(len(words), 0, -1)]


def _reached(parameter: Parameter) -> bool:
    """Whether a gradient that is not zero reached a parameter."""
    return parameter.trainable and parameter.present > parameter.zero


def _notes(run: Run) -> Iterator[str]:
    yield from quoted("warning", tuple(run.warned().values()))
    for trace in run.traces:
        if trace.trouble:
            yield f"the probe did not see everything: {trace.trouble}"
        for oddity in trace.oddities:
            if oddity in REMARKS:
                yield REMARKS[oddity]
        wrong = set(unheld(trace))
        if beside := [name for name, page in trace.unheld.items() if page.present and name not in wrong]:
            more = f" and {len(beside) - NAMED:,} more" if len(beside) > NAMED else ""
            yield (
                f"no optimizer holds {len(beside):,} parameter{'s that get' if len(beside) > 1 else ' that gets'} a "
                f"gradient, before all that is trained or in evaluation mode: {', '.join(beside[:NAMED])}{more}; "
                "if this is meant, requires_grad_(False) saves computing it"
            )
        if run.steps and trace.backward and not trace.updates:
            yield f"{trace.backward:,} backward passes, and no step of an optimizer of torch"
        trained = [page for page in trace.parameters.values() if page.trainable and page.looks]
        if trained and all(page.at_rest and page.moved is None for page in trained):
            yield "no step moves a parameter: the learning rate was 0 at each step that was looked at"
        if 0 < trace.skipped <= SKIPPED and not trace.steps:
            steps = f"all {trace.skipped:,} steps" if trace.skipped > 1 else "the only step"
            why = "since gradients were inf or nan, so that nothing has moved yet: let it run more steps"
            yield f"the gradient scaler left out {steps}, {why}"
