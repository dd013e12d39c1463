"""Judging two runs of one command, on the code as it is and as it would be. Standard library only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from codemods.model.effect import Effect
from codemods.verify.effects import CLOSE, divided, excesses
from codemods.verify.symptoms import Run, Symptom, quoted, sentences, symptoms
from codemods.verify.trace import Parameter, Trace, furthest_apart
from codemods.verify.verdict import Verdict

NO_TORCH = "No module named 'torch'"


def judge(
    before: Run,
    after: Run,
    messages: Sequence[str] = (),
    *,
    effect: Effect = Effect.GRADIENTS,
    noise: float = 0.0,
) -> Verdict:
    """The verdict on two runs.

    Args:
        messages: the errors that the rules behind the fixes document.
        effect: what the fixes may change.
        noise: how far two runs of the code as it is are apart, as a relative difference.
    """
    if before.how == "time" and before.steps:  # what was seen until then is compared
        before = replace(before, how="cut")
        after = replace(after, how="cut") if after.how == "time" and after.steps else after
    trouble = next(iter(troubles(before, after)), "")
    if trouble:
        return Verdict("could-not-run", trouble)
    was, is_now = tuple(symptoms(before, messages)), tuple(symptoms(after, messages))
    gone = [symptom for symptom in _without(was, is_now) if _was_looked_for(symptom, after)]
    worse = [*_lost(before, after), *_excesses(before, after, effect, noise), *_without(is_now, was)]
    # Where the code as it is never came, it cannot have been better.
    new = [symptom for symptom in worse if _was_better(symptom, before, after)]
    return replace(
        _word(before, after, gone, new),
        gone=sentences(gone, before),
        new=sentences(new, after),
        both=sentences([symptom for symptom in was if symptom not in gone], before),
        notes=tuple(_notes(before, after, messages)),
    )


def _word(before: Run, after: Run, gone: Sequence[Symptom], new: Sequence[Symptom]) -> Verdict:
    if not before.well and not after.well:
        if before.error() == after.error():
            return Verdict("could-not-run", f"the command fails before and after alike: {before.error()}")
        if (after.steps, after.backward) < (before.steps, before.backward):
            return Verdict("refuted", f"after the fixes it fails earlier: {after.error()}")
        return Verdict("could-not-run", f"before: {before.error()}; after the fixes: {after.error()}")
    if new:
        return Verdict("refuted", f"after the fixes: {sentences(new, after)[0]}")
    apart = difference(before, after)
    if gone and before.well and all(symptom.kind == "message" for symptom in gone):
        kept = equality(apart) if apart <= CLOSE else "the first losses are equal"
        return Verdict(
            "warning-gone",
            f"before: {sentences(gone, before)[0]}; after it does not, {kept}",
            short=f"the program was right before, and prints a warning less: {kept}",
        )
    if gone:
        alike = ", equal numbers" if before.well and _tried(after) and apart == 0 else ""
        was = sentences(gone, before, named=0)[0].rstrip(".")
        return Verdict(
            "proved", f"before: {was}; after: {progress(after)}{alike}", short=f"what was wrong before is gone{alike}"
        )
    if apart <= CLOSE:
        return Verdict("not-reproduced", f"both run alike: {progress(after)}, {equality(apart)}")
    return Verdict(
        "numbers-differ", f"nothing is wrong on either side, but the numbers differ: {_numbers(before, after)}"
    )


def troubles(before: Run, after: Run) -> Iterator[str]:
    """Why nothing can be said of two runs, or of one that is given twice."""
    for run in (before, after):
        if run.code == 127 and not run.traces:
            yield f"the command was not found: {run.error()}"
    for side, run in (("as it is", before), ("with the fixes", after)):
        if run.how in ("memory", "processes"):
            limit = "more memory than --memory allows" if run.how == "memory" else "too many processes"
            yield f"the code {side} took {limit}, and was ended"
        strays = [path for trace in run.traces for path in trace.strays]
        if strays:
            yield (
                f"the code {side} ran {strays[0]} of the checkout rather than the copy of it: "
                "name the program relative to the checkout"
            )
    if before.how == "time":
        yield f"it did not end within {before.seconds:.0f} s: let it run fewer steps, or give it more with --timeout"
    if after.how == "time" and after.seconds < 2 * before.seconds:
        yield f"with the fixes it did not end within {after.seconds:.0f} s: give it more with --timeout"
    if not before.traces and not after.traces:
        if before.well and after.well:
            yield "the command ended well, but no Python that it ran imported torch where the probe could see it"
        elif before.error() == after.error():
            advice = ": install it where the command runs (pip install torch)" if NO_TORCH in before.error() else ""
            yield f"the command failed before torch was imported: {before.error()}{advice}"


def _without(some: Sequence[Symptom], others: Sequence[Symptom]) -> Iterator[Symptom]:
    """Symptoms that the other side does not have, or has less of."""
    shares = {(other.process, other.kind, other.name): other.share for other in others}
    failed = any(other.kind == "failed" for other in others)
    for symptom in some:
        if symptom.kind == "failed" and failed:
            continue
        if symptom.share > shares.get((symptom.process, symptom.kind, symptom.name), 0.0) + 1e-9:
            yield symptom


_OF_PARAMETERS = (
    "no-gradient",
    "zero-gradient",
    "non-finite-gradient",
    "unmoved",
    "unheld",
    "vanishing",
    "exploding",
    "lost",
)
"""Kinds of symptoms that are about one parameter."""


def _was_looked_for(symptom: Symptom, run: Run) -> bool:
    """Whether a run could have shown a symptom: its process ran, and its parameter was seen after a backward pass."""
    if symptom.process < 0 or not run.traces:
        return True
    if symptom.process >= len(run.traces):
        return False
    known = run.traces[symptom.process].parameters.get(symptom.name)
    return symptom.kind not in _OF_PARAMETERS or (known is not None and known.looks > 0)


def _lost(before: Run, after: Run) -> Iterator[Symptom]:
    """What the code as it is did, and the fixed code does not do at all."""
    if not after.well:
        return
    if _tried(before) and not _tried(after):
        yield Symptom(-1, "failed", "there is no backward pass any more")
    if before.well and before.steps and not after.steps:
        yield Symptom(-1, "failed", "no optimizer takes a step any more")
    for number, (one, other) in enumerate(zip(before.traces, after.traces, strict=False)):
        for name in sorted(one.parameters.keys() - other.parameters.keys()) if other.steps or other.skipped else ():
            if one.parameters[name].trainable and one.parameters[name].present:
                yield Symptom(number, "lost", name)
        for name, parameter in one.parameters.items():
            known = other.parameters.get(name)
            if known and parameter.trainable and not known.trainable and parameter.present:
                yield Symptom(number, "lost", name)


def _excesses(before: Run, after: Run, effect: Effect, noise: float) -> Iterator[Symptom]:
    """What the fixes changed and may not."""
    whole = before.whole and after.whole
    for number, (one, other) in enumerate(zip(before.traces, after.traces, strict=False)):
        for text in excesses(one, other, effect, whole=whole, noise=noise):
            yield Symptom(number, "excess", text)
    if after.well and not before.well and any(trace.trainable() for trace in after.traces):
        if not any(trace.reached() for trace in after.traces):
            yield Symptom(-1, "excess", "it runs, and no gradient reaches any parameter")


def _tried(run: Run) -> bool:
    """Whether there was a backward pass, if only one that failed."""
    return any(trace.backward or trace.exceptions for trace in run.traces)


def _was_better(symptom: Symptom, before: Run, after: Run) -> bool:
    if symptom.process < 0 or symptom.process >= len(before.traces):
        return symptom.process < 0
    if symptom.kind == "excess":
        return True
    trace = before.traces[symptom.process]
    if symptom.kind == "standstill":
        return any(parameter.moved for parameter in trace.parameters.values())
    if symptom.kind in _OF_PARAMETERS:
        known = trace.parameters.get(symptom.name)
        if known is None or not known.looks:
            return False
        now = after.traces[symptom.process].parameters.get(symptom.name, Parameter())
        always, never = known.present == known.looks, now.looks > 0 and now.present == 0
        if not before.well and known.looks < now.looks and not (always and never):
            return False
        return symptom.kind != "unmoved" or known.moved is True
    return bool(trace.backward) or before.well


def difference(before: Run, after: Run) -> float:
    """How far the losses and the norms of the gradients of two runs are apart, as a relative difference."""
    if len(before.traces) != len(after.traces):
        return math.inf
    cut = before.how in ("cut", "time") or after.how in ("cut", "time")
    return max((_apart(*pair, cut) for pair in zip(before.traces, after.traces, strict=True)), default=0.0)


def _apart(one: Trace, other: Trace, cut: bool) -> float:
    """`cut`: one was ended at the limit of time, so that only what both did is compared."""
    if (len(one.losses) != len(other.losses) and not cut) or one.parameters.keys() != other.parameters.keys():
        return math.inf
    norms = [
        furthest_apart(parameter.norms, other.parameters[name].norms)
        if cut or len(parameter.norms) == len(other.parameters[name].norms)
        else math.inf
        for name, parameter in one.parameters.items()
    ]
    return max([furthest_apart(one.losses, other.losses), *norms])


def equality(apart: float) -> str:
    """`equal numbers`, or how nearly."""
    return "equal numbers" if apart == 0 else f"numbers equal to within {apart:.1g}"


def _numbers(before: Run, after: Run) -> str:
    """The first losses that differ."""
    for one, other in zip_longest(before.traces, after.traces, fillvalue=Trace()):
        for step, (was, now) in enumerate(zip(one.losses, other.losses, strict=False), 1):
            if furthest_apart([was], [now]) > CLOSE:
                return f"loss {step} is {now:.6g} instead of {was:.6g}"
        if len(one.losses) != len(other.losses) and before.whole and after.whole:
            return f"{len(other.losses):,} losses instead of {len(one.losses):,}"
    return "the losses are equal, the gradients are not"


def progress(run: Run) -> str:
    """`2 optimizer steps, 148 of 148 parameters receive a gradient`; of several processes each, if they are alike."""
    each = list(dict.fromkeys(_progress_of(trace) for trace in run.traces if trace.trained))
    if not each:
        return "it ends well"
    if len(each) == 1 and len(run.traces) > 1:
        return f"in each of {len(run.traces)} processes {each[0]}"
    return "; ".join(each[:3]) + (" …" if len(each) > 3 else "")


def _progress_of(trace: Trace) -> str:
    taken = f"{trace.steps:,} optimizer step{'' if trace.steps == 1 else 's'}"
    if trace.skipped:
        taken += f" ({trace.skipped:,} skipped by the scaler)"
    total = trace.trainable()
    return f"{taken}, {trace.reached():,} of {total:,} parameters receive a gradient" if total else taken


def _notes(before: Run, after: Run, messages: Sequence[str]) -> Iterator[str]:
    if "cut" in (before.how, after.how):
        yield f"ended after {before.seconds:.0f} s; what was seen until then is compared"
    for side, run in (("before", before), ("after", after)):
        for trace in run.traces:
            if trace.trouble:
                yield f"{side}: the probe did not see everything: {trace.trouble}"
    if before.well and after.well:
        yield from _warnings(before, after, messages)
        if before.traces and after.traces and (batches := divided(before.traces[0], after.traces[0])):
            yield (
                f"the losses after the fixes are divided by {batches}, the number of batches for a step: they are "
                "recorded where the backward pass begins"
            )
    if before.whole and after.whole and (before.steps, before.backward) != (after.steps, after.backward):
        yield (
            f"{after.backward:,} backward calls and {after.steps:,} steps instead of "
            f"{before.backward:,} and {before.steps:,}"
        )
    missing = [trace for trace in after.traces if trace.reached() < trace.trainable()]
    if missing and not before.well:
        trace = missing[0]
        yield (
            f"after the fixes {trace.trainable() - trace.reached():,} of {trace.trainable():,} parameters receive no "
            "gradient; before, it did not come that far"
        )


def _warnings(before: Run, after: Run, messages: Sequence[str]) -> Iterator[str]:
    """Warnings of one side; those that a rule knows are told as symptoms."""
    for side, run, other in (("before", before, after), ("after", after, before)):
        alone = [text for key, text in run.warned().items() if key not in other.warned()]
        yield from quoted(f"warning only {side}", [text for text in alone if not any(map(text.__contains__, messages))])
