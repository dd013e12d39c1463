"""What is wrong with a run, as plain sentences that two runs can be compared by. Standard library only."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from codemods.verify.trace import Parameter, Trace, called

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
WARNINGS = 3
"""Texts of warnings that are quoted; the rest is counted."""
VARYING = re.compile(r"0x[0-9a-f]+|fixer-verify-\w+|\d+")
"""What may differ between two runs that give the same warning."""
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
NOISE = 1e-4
"""Of the largest gradient of the same run, per element: below it, a gradient may be nothing but rounding errors."""
SKIPPED = 8
"""Steps that a gradient scaler may leave out at first, until it has found its scale."""
NAMED = 5
"""Parameters named in a sentence; the rest is counted."""
SPACINGS = {"bfloat16": "1/256 to 1/128", "float16": "1/2,048 to 1/1,024"}
"""How far apart neighbouring numbers are, of their size."""


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
        told = [trace.error for trace in sorted(self.traces, key=lambda trace: trace.written) if trace.error]
        printed = [line for line in ERROR.findall(self.output) if "ChildFailedError" not in line]
        last = [line.strip() for line in self.output.strip().splitlines()[-1:]]
        code = self.code or 0
        ended = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
        return next(iter([*told, *printed[-1:], *last]), ended)[:600]

    def warned(self) -> Mapping[str, str]:
        """Its warnings, by what does not vary in them."""
        return {VARYING.sub("", text): text for trace in self.traces for text in trace.warnings}

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
        if trace.steps and trace.parameters and not trace.trainable():
            yield Symptom(number, "frozen")
        if trace.skipped > SKIPPED and not trace.steps:
            yield Symptom(number, "all-skipped")
        if stands_still(trace):
            yield Symptom(number, "standstill")
        for name in unheld(trace):
            yield Symptom(number, "unheld", name)
        yield from _of_layers(number, trace)


def stands_still(trace: Trace) -> bool:
    """Whether optimizers stepped, on gradients that are not zero, and moved no parameter at all.

    Steps at a learning rate of 0, and those that a gradient scaler left out, do not count.
    """
    trained = [page for page in trace.parameters.values() if page.trainable and page.looks]
    pushed = any(page.moved is False and page.present > page.zero for page in trained)
    return pushed and not any(page.moved for page in trained)


def _per_element(parameter: Parameter) -> float:
    """The root mean square of the largest finite gradient of a parameter; 0 without one."""
    finite = (norm for norm in parameter.norms if math.isfinite(norm))
    return max(finite, default=0.0) / math.sqrt(max(parameter.size, 1))


def _of_parameters(number: int, trace: Trace) -> Iterator[Symptom]:
    # The bias before a normalization has no gradient but for rounding errors, and these move nothing.
    noise = NOISE * max(map(_per_element, trace.parameters.values()), default=0.0)
    for name, parameter in trace.parameters.items():
        if not parameter.trainable or not parameter.looks:
            continue
        if parameter.present < parameter.looks:
            yield Symptom(number, "no-gradient", name, 1 - parameter.present / parameter.looks)
        if parameter.present and parameter.zero == parameter.present:
            yield Symptom(number, "zero-gradient", name)
        if parameter.non_finite:
            yield Symptom(number, "non-finite-gradient", name, parameter.non_finite / parameter.looks)
        if parameter.moved is False and parameter.present > parameter.zero and _per_element(parameter) >= noise:
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
    told: dict[str, list[int]] = {}
    replaced = {symptom.process for symptom in found if symptom.kind == "unheld"}
    orphans = Counter(each.process for each in found if each.process in replaced and _is_orphan(each, run))
    groups: dict[tuple[int, bool, int, str], list[Symptom]] = {}
    still = {symptom.process for symptom in found if symptom.kind == "standstill"}
    for symptom in found:
        said = symptom.kind == "unmoved" and symptom.process in still
        if not said and not (symptom.process in replaced and _is_orphan(symptom, run)):
            groups.setdefault(_group(symptom), []).append(symptom)
    for group in sorted(groups, key=lambda group: group[:3]):
        alike = groups[group]
        processes = told.setdefault(_sentence(alike, run, named, orphans[alike[0].process]), [])
        processes += [alike[0].process] * (alike[0].process not in processes)
    return tuple(_where(processes, run) + text for text, processes in told.items())


def _where(processes: Sequence[int], run: Run) -> str:
    """`rank 1: `, or `each rank: `; nothing of a single process."""
    names = list(filter(None, (called(run.traces, process) for process in processes)))
    if len(names) == len(run.traces) > 1:
        names = [f"each {'rank' if all(name.startswith('rank') for name in names) else 'process'}"]
    return f"{', '.join(names)}: " if names else ""


def _group(symptom: Symptom) -> tuple[int, bool, int, str]:
    """What is told in one sentence; by all but the last, sentences are in order."""
    sometimes = symptom.kind == "no-gradient" and symptom.share < 1
    worded = symptom.name if symptom.kind in ("failed", "excess", "message", "exception") else ""
    return _ORDER.index(symptom.kind), sometimes, symptom.process, worded


_ORDER = (
    *(
        "failed",
        "exception",
        "frozen",
        "all-skipped",
        "no-gradient",
        "unheld",
        "zero-gradient",
        "vanishing",
        "exploding",
        "lost",
        "excess",
    ),
    *(*ODDITIES, "non-finite-gradient", "non-finite-loss", "standstill", "unmoved", "message"),
)
"""Kinds of symptoms, in the order in which they are told: causes before effects."""


def _is_orphan(symptom: Symptom, run: Run) -> bool:
    """Whether no gradient reaches a parameter that an optimizer holds and no module, while modules hold others."""
    if symptom.kind != "no-gradient" or symptom.share < 1:
        return False
    trace = run.traces[symptom.process]
    pages = trace.parameters
    return pages[symptom.name].root < 0 and (any(page.root >= 0 for page in pages.values()) or bool(trace.unheld))


def _sentence(alike: Sequence[Symptom], run: Run, named: int, orphans: int) -> str:
    symptom = alike[0]
    if symptom.kind in ("failed", "excess"):
        return symptom.name
    if symptom.kind == "message":
        return f"it says {_shown(symptom, run)!r}"
    if symptom.kind == "exception":
        return f"{symptom.name} (caught by the program)"
    if symptom.kind in ODDITIES:
        return _odd(symptom, run)
    if symptom.kind == "frozen":
        held = len(run.traces[symptom.process].parameters)
        frozen = f"{held:,} parameters, and all of them are" if held > 1 else "one parameter, and it is"
        return f"nothing is trained: the optimizers hold {frozen} frozen"
    if symptom.kind == "all-skipped":
        skipped = run.traces[symptom.process].skipped
        told = f"the gradient scaler left out all {skipped:,} steps, since gradients were inf or nan"
        return f"nothing is trained: {told}"
    if symptom.kind == "standstill":
        return _standing(run.traces[symptom.process])
    if symptom.kind == "non-finite-loss":
        return _wild_losses(run.traces[symptom.process].losses)
    total = run.traces[symptom.process].trainable() if symptom.process < len(run.traces) else 0
    if symptom.kind == "unheld":
        total += len(run.traces[symptom.process].unheld) - orphans
    names = [other.name for other in alike]
    listed = ": " + ", ".join(names[:named]) if named else ""
    more = f" and {len(names) - named:,} more" if named and len(names) > named else ""
    some = f"{len(names):,} of {total:,} parameters"
    one = len(names) == 1
    told = {
        "no-gradient": f"{'no gradient' if symptom.share == 1 else 'at some steps no gradient'} reaches {some}",
        "zero-gradient": f"{some} {'has' if one else 'have'} a gradient of zero at every step",
        "non-finite-gradient": f"{some} {'gets' if one else 'get'} a gradient that is inf or nan{_since(alike, run)}",
        "unmoved": f"no step moves {some}",
        "unheld": f"{some} {'gets' if one else 'get'} a gradient and {'is' if one else 'are'} in no optimizer",
        "vanishing": f"{some} {'has' if one else 'have'} a gradient that vanishes from layer to layer towards the "
        "input, to less than 1e-8 per element",
        "exploding": f"{some} {'has' if one else 'have'} a gradient that explodes from layer to layer towards the "
        "input, by more than 8 million times",
        # Those that are left are no measure of the lost.
        "lost": f"{len(names):,} parameter{' is' if one else 's are'} in no optimizer any more",
    }[symptom.kind]
    instead = (
        f"; an optimizer holds {orphans:,} others, which are in no module and get none, as when a layer is replaced "
        "after the optimizer was made"
    )
    return told + listed + more + instead * (symptom.kind == "unheld" and orphans > 0)


def _standing(trace: Trace) -> str:
    """That nothing moved: how many parameters of which type, at which learning rate, and why if 16 bits tell it."""
    pages = [page for page in trace.parameters.values() if page.trainable and page.looks]
    kinds = Counter(page.dtype for page in pages)
    listed = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common()) if len(kinds) > 1 else min(kinds)
    some = f"any of {len(pages):,} parameters" if len(pages) > 1 else "the only parameter"
    rates = {group.get("lr") for groups in trace.settings for group in groups} - {None, 0}
    rate = f" at a learning rate of {rates.pop():g}" if len(rates) == 1 else ""
    lost = {page.dtype for page in pages if page.moved is False and page.present > page.zero}
    why = "".join(
        f"; updates smaller than the spacing of {kind} numbers ({SPACINGS[kind]} of a weight) are lost"
        for kind in sorted(lost & SPACINGS.keys())
    )
    return f"nothing is trained: no step moves {some} ({listed}){rate}{why}"


def _shown(symptom: Symptom, run: Run) -> str:
    """The line of a warning that holds a message; of what was printed the message alone."""
    lines = (line for trace in run.traces for text in trace.warnings for line in text.partition(": ")[2].splitlines())
    return next((line.strip() for line in lines if symptom.name in line), symptom.name)


def _odd(symptom: Symptom, run: Run) -> str:
    """What an oddity is, with the library and what it would have done where that was seen."""
    library, _, missing = run.traces[symptom.process].details.get(symptom.kind, "").partition(": ")
    if not missing:
        return ODDITIES[symptom.kind]
    return f"an optimizer of {library} stepped after a backward pass that went around it: {missing} is missing"


def _since(alike: Sequence[Symptom], run: Run) -> str:
    """The step at which one of these gradients was first inf or nan."""
    pages = run.traces[alike[0].process].parameters
    steps = [step for symptom in alike if symptom.name in pages and (step := pages[symptom.name].non_finite_at)]
    return f", first at step {min(steps):,}" if steps else ""


def _wild_losses(losses: Sequence[float]) -> str:
    """`6 of 16 losses are inf or nan, the first is loss 11`."""
    wild = [number for number, loss in enumerate(losses, 1) if not math.isfinite(loss)]
    if len(wild) == 1:
        return f"loss {wild[0]:,} of {len(losses):,} is {losses[wild[0] - 1]}"
    return f"{len(wild):,} of {len(losses):,} losses are inf or nan, the first is loss {wild[0]:,}"


def quoted(opening: str, texts: Sequence[str]) -> Iterator[str]:
    """Warnings as sentences: the first lines of the first few, and how many more there are."""
    for text in texts[:WARNINGS]:
        yield f"{opening}: {text.strip().partition(chr(10))[0]}"
    if len(texts) > WARNINGS:
        yield f"{opening}: {len(texts) - WARNINGS:,} more"
