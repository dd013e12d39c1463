"""What is wrong with a run, as plain sentences that two runs can be compared by. Standard library only."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from codemods.verify.trace import Parameter, Trace

ODDITIES = {
    "unscaled-backward": "an optimizer stepped through the scaler after a backward pass that was not scaled",
    "step-beside-scaler": "an optimizer stepped beside the scaler, on gradients still multiplied by its scale",
    "clip-of-scaled": "gradients were clipped while they were still multiplied by the loss scale",
    "raw-backward": "an optimizer of Accelerate, Fabric or Lightning stepped after a backward pass that went around "
    "it: its loss scale or its division by the accumulated batches is missing",
    "stale-autocast": "the model ran again with the old weights, in the autocast region in which they were stepped",
    "stale-gradient": "an optimizer stepped on gradients added to those of its last step: nothing had zeroed them",
}
ERROR = re.compile(r"^(?:\[rank\d+\]:\s*)?((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)\b(?::.*)?)$", re.M)
REMARKS = {
    "raw-alike": "a backward pass went around Accelerate, Fabric or Lightning, which step the optimizer; as they are "
    "set up here, the gradients are the same",
}
"""What was seen, and is no symptom."""
SPREAD = 2.0**23
"""Between the gradients of the first and the last layers: a float32 cannot hold both sizes in one number."""
LAYERS = 5
"""Over so many layers at least, they grow or shrink step by step."""
STEP = 1e3
"""From one layer to the next at most: more is how the model is built, not how it was initialized."""
TINY = 1e-8
"""Of one element: below it, gradients count as vanished; Adam adds as much to what it divides by."""
NAMED = 5
"""Parameters named in a sentence; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the command: how it ended, what it printed, what its processes were seen to do."""

    how: str
    """`exit`, or the limit that ended it: `time`, `memory`, `processes`; `cut` at the limit of time, after steps that
    count.
    """
    code: int | None
    seconds: float
    output: str
    traces: tuple[Trace, ...] = ()
    peak: int = 0

    @property
    def well(self) -> bool:
        return self.how == "cut" or (self.how == "exit" and self.code == 0)

    @property
    def whole(self) -> bool:
        """Whether it came to its own good end."""
        return self.how == "exit" and self.code == 0

    @property
    def steps(self) -> int:
        return sum(trace.steps + trace.skipped for trace in self.traces)

    @property
    def backward(self) -> int:
        return sum(trace.backward for trace in self.traces)

    def error(self) -> str:
        """The exception that ended it, as the last line of its traceback; what else it said; or how it was ended."""
        if self.well:
            return ""
        if self.how != "exit":
            return f"it did not end within {self.seconds:.0f} s" if self.how == "time" else f"ended for its {self.how}"
        # A launcher reports that its children failed; the child knows why.
        told = [trace.error for trace in self.traces if trace.error]
        printed = [line for line in ERROR.findall(self.output) if "ChildFailedError" not in line]
        last = [line.strip() for line in self.output.strip().splitlines()[-1:]]
        code = self.code or 0
        ended = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
        return next(iter([*told, *printed[-1:], *last]), ended)[:600]

    def says(self, message: str) -> bool:
        """Whether the run showed a message anywhere: as an exception, a warning or in what it printed."""
        shown = [self.output, self.error()]
        for trace in self.traces:
            shown += [trace.error, *trace.exceptions, *trace.warnings]
        wanted = " ".join(message.split())
        return any(wanted in " ".join(text.split()) for text in shown)


@dataclass(frozen=True, slots=True)
class Symptom:
    """One thing that is wrong in one process; `name` is the parameter, the oddity or the message."""

    process: int
    kind: str
    name: str = ""
    share: float = 1.0
    """Of the looks at which it was seen; more is worse."""


def symptoms(run: Run, messages: Sequence[str] = ()) -> Iterator[Symptom]:
    """Everything that is wrong with a run; `messages` are those that the rules document."""
    if not run.well:
        yield Symptom(-1, "failed", run.error())
    error = " ".join(run.error().split())
    for message in messages:
        if run.says(message) and " ".join(message.split()) not in error:
            yield Symptom(-1, "message", message)
    for number, trace in enumerate(run.traces):
        for oddity in trace.oddities:
            if oddity in ODDITIES:
                yield Symptom(number, oddity)
        if any(not math.isfinite(loss) for loss in trace.losses):
            yield Symptom(number, "non-finite-loss")
        for text in trace.exceptions:
            if text != trace.error:
                yield Symptom(number, "exception", text)
        yield from _of_parameters(number, trace)
        for name in unheld(trace):
            yield Symptom(number, "unheld", name)
        yield from _of_layers(number, trace)


def _of_parameters(number: int, trace: Trace) -> Iterator[Symptom]:
    for name, parameter in trace.parameters.items():
        if not parameter.trainable or not parameter.looks:
            continue
        if parameter.present < parameter.looks:
            yield Symptom(number, "no-gradient", name, 1 - parameter.present / parameter.looks)
        if parameter.present and parameter.zero == parameter.present:
            yield Symptom(number, "zero-gradient", name)
        if parameter.non_finite:
            yield Symptom(number, "non-finite-gradient", name, parameter.non_finite / parameter.looks)
        if parameter.moved is False and parameter.present > parameter.zero:
            yield Symptom(number, "unmoved", name)


def unheld(trace: Trace) -> Iterator[str]:
    """The parameters that receive gradients and that no optimizer holds, as by mistake.

    What lies before all that is trained may be frozen on purpose, and so may a whole model in evaluation mode.
    """
    if any(parameter.root < 0 and parameter.present for parameter in trace.parameters.values()):
        return  # an optimizer steps copies of the parameters: flat, or in another precision
    for name, parameter in trace.unheld.items():
        held = [known for known in trace.parameters.values() if known.root == parameter.root and known.trainable]
        if not parameter.present or not parameter.training:
            continue
        if not held or any(known.order is not None and _before(known, parameter) for known in held):
            yield name


def _before(one: Parameter, other: Parameter) -> bool:
    """Whether one parameter of a model is used before the other; what is not used at all comes last."""
    first, second = (math.inf if each.order is None else each.order for each in (one, other))
    return first < second


def _of_layers(number: int, trace: Trace) -> Iterator[Symptom]:
    """Gradients that vanish or explode layer by layer, towards the input."""
    kinds = {(page.root, page.matrix) for page in trace.parameters.values() if page.root >= 0}
    for root, matrix in sorted(kinds):
        pages = [(n, p) for n, p in trace.parameters.items() if (p.root, p.matrix) == (root, matrix)]
        layers = [
            (name, statistics.median(norms), page.size)
            for name, page in sorted(pages, key=lambda pair: math.inf if pair[1].order is None else pair[1].order)
            if (norms := [norm for norm in page.norms if math.isfinite(norm) and norm > 0])
        ]
        if _climbs([norm for _, norm, _ in layers]):
            most = max(norm for _, norm, _ in layers)
            for name, norm, size in layers:
                if norm * SPREAD < most and norm < TINY * math.sqrt(size):
                    yield Symptom(number, "vanishing", name)
        elif _climbs([norm for _, norm, _ in reversed(layers)]):
            for name, norm, _ in layers:
                if norm > SPREAD * layers[-1][1]:
                    yield Symptom(number, "exploding", name)


def _climbs(norms: Sequence[float]) -> bool:
    """Whether the largest so far grows by `SPREAD`, in many steps none of which is large."""
    levels = list(norms[:1])
    for norm in norms[1:]:
        if norm > levels[-1]:
            levels.append(norm)
    if len(levels) < LAYERS or levels[-1] < SPREAD * levels[0]:
        return False
    return all(higher <= STEP * lower for lower, higher in pairwise(levels))


def sentences(found: Sequence[Symptom], run: Run, *, named: int = NAMED) -> tuple[str, ...]:
    """The symptoms as sentences, those of one kind together, with so many parameters by name."""
    told: dict[str, None] = {}
    for symptom in sorted(found, key=lambda symptom: (_ORDER.index(_family(symptom.kind)), symptom.process)):
        alike = [other for other in found if (other.process, other.kind) == (symptom.process, symptom.kind)]
        where = f"rank {rank}: " if len(run.traces) > 1 and (rank := _rank(symptom, run)) else ""
        told[where + _sentence(symptom, alike, run, named)] = None
    return tuple(told)


_ORDER = ("failed", "exception", "parameters", "excess", "oddity", "loss", "message")


def _family(kind: str) -> str:
    if kind in ("failed", "message", "exception", "excess"):
        return kind
    return "oddity" if kind in ODDITIES else "loss" if kind == "non-finite-loss" else "parameters"


def _rank(symptom: Symptom, run: Run) -> str:
    return run.traces[symptom.process].rank if 0 <= symptom.process < len(run.traces) else ""


def _sentence(symptom: Symptom, alike: Sequence[Symptom], run: Run, named: int) -> str:
    if symptom.kind in ("failed", "excess"):
        return symptom.name
    if symptom.kind in ("message", "exception"):
        return f"it says {symptom.name!r}" if symptom.kind == "message" else f"{symptom.name} (caught by the program)"
    if symptom.kind in ODDITIES:
        return ODDITIES[symptom.kind]
    if symptom.kind == "non-finite-loss":
        return "a loss is inf or nan"
    total = run.traces[symptom.process].trainable() if symptom.process < len(run.traces) else 0
    if symptom.kind == "unheld":
        total += len(run.traces[symptom.process].unheld)
    names = [other.name for other in alike]
    listed = ": " + ", ".join(names[:named]) if named else ""
    more = f" and {len(names) - named:,} more" if named and len(names) > named else ""
    always = all(other.share == 1 for other in alike)
    some = {
        "no-gradient": "no gradient reaches" if always else "at some steps no gradient reaches",
        "zero-gradient": "the gradient is zero at every step of",
        "non-finite-gradient": "the gradient is inf or nan of",
        "unmoved": "no step moves",
        "unheld": "a gradient reaches, and no optimizer holds,",
        "vanishing": "layer by layer towards the input, gradients vanish to less than 1e-8 per element in",
        "exploding": "layer by layer towards the input, gradients explode by more than 8e6 in",
        "lost": "no optimizer holds any more",
    }[symptom.kind]
    of = "" if symptom.kind == "lost" else f" of {total:,}"  # those that are left are no measure of the lost
    return f"{some} {len(names):,}{of} parameters{listed}{more}"
