"""Running a person's own command on the code before and after the fixes, watched, and saying what changed."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.model.effect import Effect
from codemods.transforms import load
from codemods.verify.comparison import difference, judge
from codemods.verify.effects import CLOSE
from codemods.verify.health import examined
from codemods.verify.symptoms import Run, symptoms
from codemods.verify.trace import paired, read
from codemods.verify.verdict import Verdict, Word
from fixer.errors import Refusal
from fixer.git.command import GitFailed, git, top
from fixer.verify.kept_runs import KeptRuns, key_of
from fixer.verify.sandbox.command import Limits, run
from fixer.verify.sandbox.copies import Origin, copied, shared
from fixer.verify.sandbox.footprints import Footprints
from fixer.verify.sandbox.trackers import offline

if TYPE_CHECKING:
    from codemods.model.edits import Finding
    from codemods.model.plan import FilePlan, Plan
    from fixer.run.request import Outcome

__all__ = ["Limits", "Refuted", "Run", "Verdict", "Verification", "examine", "verify"]

RIDING = Path(__file__).resolve().parents[2] / "codemods" / "verify" / "riding"
"""What has to stand first on the `PYTHONPATH` for the probe to ride along."""

GENEROUS = Limits()


class Refuted(Refusal):
    """The fixes make it worse, so that they are not applied. Exit code 1."""

    code = 1


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of the two runs, or of one where there is no fix."""

    command: str
    judged: Verdict
    before: Run | None = None
    after: Run | None = None
    """The runs; None where there was none."""
    codes: tuple[str, ...] = ()
    """The rules behind the fixes that were tried."""
    touched: tuple[str, ...] = ()
    """Files of the checkout itself that were written meanwhile."""
    effect: Effect | None = None
    """What the fixes may change."""
    repeats: tuple[int, int] = (1, 1)
    """How often each side was run; 0 of recordings."""
    commits: tuple[str, ...] = ()
    """What was run: the commit of the code as it is, and that of the fixes where there is one; or none."""
    files: tuple[FilePlan, ...] = ()
    """The files that the fixes change."""

    @property
    def fixes(self) -> tuple[Finding, ...]:
        """What the fixes that were tried repair."""
        return tuple(finding for file in self.files for finding in file.findings if finding.applied)

    @property
    def verdict(self) -> Word:
        """The verdict as a word."""
        return self.judged.word

    @property
    def summary(self) -> str:
        """The verdict as one sentence."""
        return self.judged.summary


def verify(
    outcome: Outcome,
    command: str,
    limits: Limits = GENEROUS,
    *,
    here: Path | None = None,
    commits: tuple[str, str] | None = None,
    linked: Sequence[str] = (),
    kept: KeptRuns | None = None,
    tell: Callable[[str], None] = lambda sentence: None,
) -> Verification:
    """Run `command` on the code as it is and as `outcome` would leave it, each in a temporary copy.

    A verdict that rests on a difference is checked by running the worse side again.

    Args:
        here: where the person stands; the command is run at the same place of each copy. By default at the root.
        commits: run these two commits of the repository instead: the one planned on, and the one with the fixes.
        linked: paths that git ignores and the command needs (data, checkpoints); the copies get them too.
        kept: where runs of the code as it is are kept; None: it is run anew, and not kept.
        tell: is told, sentence by sentence, what is being done.

    Raises:
        Refusal: if no copy can be made.
    """
    _check(command)
    codes = tuple(sorted({finding.code for finding in outcome.plan.findings if finding.applied}))
    if not outcome.plan.changed:
        return Verification(command, Verdict("not-reproduced", "there is nothing to fix, so nothing was run"))
    root = outcome.root.resolve()
    before, after = (Origin(root, commit, tuple(linked)) for commit in commits or (None, None))
    trial = _Trial(command, limits, _place(root, here))
    footprints = Footprints.of(root, shared(before)) if top(root) == root or commits is None else None

    first: Run | None = None
    counts = Counter[str]()

    def like_the_first(run: Run) -> Run:
        return run if first is None else replace(run, traces=paired(first.traces, run.traces))

    def original(why: str = "") -> Run:
        tell(f"running it on the code as it is{why}")
        counts["before"] += 1
        return like_the_first(trial.run(before, None))

    def repaired(why: str) -> Run:
        tell(f"running it on the code with the fixes{why}")
        counts["after"] += 1
        return like_the_first(trial.run(after, None if commits else outcome.plan))

    key = key_of(before, command, trial.place, limits) if kept else ""
    known = kept.find(key) if kept else None
    if known:
        tell(f"using the run of the code as it is of {_ago(known[1])} ago; --no-cache runs it anew")
    first = known[0] if known else original()
    second = repaired("")
    if known and _installed(first) != _installed(second):
        known, first = None, None
        first = original(" anew, since other versions are installed now")
        second = like_the_first(second)
    effect = widest_effect((f.code, f.strategy or "") for f in outcome.plan.findings if f.applied)
    look = partial(judge, messages=messages_of(codes), effect=effect)
    judged = _checked(look(first, second), first, second, look, original, repaired)
    if known:
        made_before = f"the run of the code as it is was made {_ago(known[1])} earlier, and kept"
        judged = replace(judged, notes=(*judged.notes, made_before))
    made = Verification(
        command,
        judged,
        first,
        second,
        codes,
        effect=effect,
        repeats=(counts["before"] + bool(known), counts["after"]),
        commits=commits or _head(root),
        files=outcome.plan.changed,
    )
    made = _with_footprints(made, footprints)
    if kept and not known and judged.word != "could-not-run" and not made.touched:
        kept.keep(key, first)
    return made


def _ago(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"


def _installed(run: Run) -> list[Mapping[str, str]]:
    """The versions of Python and of the libraries that the processes of a run loaded."""
    return [trace.versions for trace in run.traces if trace.trained]


def _head(root: Path) -> tuple[str, ...]:
    """The commit that is checked out, if there is one."""
    try:
        return (git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", at=root).decode().strip(),)
    except GitFailed:
        return ()


def examine(
    outcome: Outcome,
    command: str,
    limits: Limits = GENEROUS,
    *,
    fix: bool = True,
    here: Path | None = None,
    linked: Sequence[str] = (),
    tell: Callable[[str], None] = lambda sentence: None,
) -> Verification:
    """Run `command` once on the code as it is, in a temporary copy, and say what is wrong with the training run.

    Args:
        fix: whether fixes were asked for; the fixes that the outcome leaves out are only listed if so.
        here, linked, tell: as for `verify`.

    Raises:
        Refusal: if no copy can be made.
    """
    _check(command)
    root = outcome.root.resolve()
    found = {finding.code for finding in outcome.plan.findings}
    origin = Origin(root, None, tuple(linked))
    footprints = Footprints.of(root, shared(origin))
    waiting = [finding for finding in outcome.plan.findings if fix and finding.fix and not finding.applied]
    why = "--no-fixes" if not fix else "no rule has a safe fix" if waiting else "no rule has a fix"
    tell(f"{why}: running it on the code as it is, to see what is wrong with the run")
    only = _Trial(command, limits, _place(root, here)).run(origin, None)
    judged = examined(only, messages_of(found))
    if waiting:
        places = ", ".join(dict.fromkeys(f"{finding.code} ({finding.location})" for finding in waiting[:3]))
        more = f" and {len(waiting) - 3:,} more" if len(waiting) > 3 else ""
        untried = f"not tried: the unsafe fix of {places}{more}; --unsafe-fixes tries it"
        judged = replace(judged, notes=(untried, *judged.notes))
    made = Verification(command, judged, only, repeats=(1, 0), commits=_head(root))
    return _with_footprints(made, footprints)


def _check(command: str) -> None:
    if os.name != "posix":
        raise Refusal("running a command under watch needs Linux or macOS")
    if not command.strip():
        raise Refusal('--run: there is no command; write one such as --run "python train.py --max_steps 2"')


def _with_footprints(verification: Verification, footprints: Footprints | None) -> Verification:
    """The same, with what the command did to the checkout itself."""
    if footprints is None:
        return verification
    touched = footprints.touched()
    judged = replace(verification.judged, notes=(*verification.judged.notes, *footprints.notes(touched)))
    return replace(verification, judged=judged, touched=touched)


def messages_of(codes: Collection[str]) -> tuple[str, ...]:
    """The errors and warnings that some rules document."""
    return tuple(dict.fromkeys(text for rule in load() if rule.code in codes for text in rule.errors))


def widest_effect(applied: Iterable[tuple[str, str]]) -> Effect:
    """What fixes may change, given as codes and strategies: as much as the widest of them."""
    rules = {rule.code: rule for rule in load()}
    known = [(rules[code], strategy) for code, strategy in applied if code in rules]
    return max((rule.effects.get(strategy, rule.effect) for rule, strategy in known), default=Effect.GRADIENTS)


def _checked(
    judged: Verdict,
    before: Run,
    after: Run,
    look: partial[Verdict],
    original: Callable[[str], Run],
    repaired: Callable[[str], Run],
) -> Verdict:
    """The verdict, after another run where it rests on a difference that may be chance."""
    alike = judged.word in ("not-reproduced", "warning-gone") and difference(before, after) <= CLOSE
    messages = look.keywords["messages"]
    documented = judged.word == "proved" and any(before.says(message) for message in messages)  # no accident
    if judged.word == "could-not-run" or alike or documented:
        return judged
    again = original(" once more, to see whether it repeats itself")
    if _kinds(again, messages) != _kinds(before, messages):
        doubt = "the command does not do the same twice on the code as it is, so nothing can be said about the fixes"
        return replace(judged, word="could-not-run", summary=doubt)
    if noise := difference(before, again):
        judged = look(before, after, noise=noise)
        told = f"two runs of the code as it is differ by up to {noise:.1g}"
        judged = replace(judged, notes=(*judged.notes, told))
    if judged.word == "numbers-differ" and noise > CLOSE:
        doubt = "the command gives other numbers each time: fix its seeds, and the two sides can be compared"
        return replace(judged, word="could-not-run", summary=doubt)
    if judged.word == "refuted":
        once_more = repaired(" once more, to see whether it repeats itself")
        if look(before, once_more, noise=noise).word != "refuted":
            doubt = f"with the fixes it was worse once, and not when run again ({judged.summary})"
            return replace(judged, word="could-not-run", summary=doubt)
    return judged


def _kinds(run: Run, messages: Sequence[str]) -> frozenset[tuple[int, str, str]]:
    """The symptoms of a run without the words of exceptions, which may hold addresses and times."""
    worded = ("failed", "exception")
    return frozenset((s.process, s.kind, "" if s.kind in worded else s.name) for s in symptoms(run, messages))


def _place(root: Path, here: Path | None) -> Path:
    """Where the command is run, relative to the root."""
    place = here.resolve() if here else root
    return place.relative_to(root) if place.is_relative_to(root) else Path()


@dataclass(frozen=True, slots=True)
class _Trial:
    """One command, to be run on several copies: always at the same path, so that nothing differs by it."""

    command: str
    limits: Limits
    place: Path

    def run(self, origin: Origin, plan: Plan | None) -> Run:
        with tempfile.TemporaryDirectory(prefix="fixer-verify-", ignore_cleanup_errors=True) as name:
            scratch = Path(name).resolve()
            copy = scratch / "copy" / (origin.root.name or "root")
            for directory in (copy.parent, scratch / "seen", scratch / "tmp"):
                directory.mkdir()
            with copied(origin, copy, plan):
                if not (copy / self.place).is_dir():
                    raise Refusal(f"{self.place}: git ignores this directory, so that the copy does not have it")
                environment = _environment(origin.root, copy, scratch, self.limits)
                command = _of_copy(self.command, origin.root, copy)
                ended = run(command, copy / self.place, environment, self.limits, [scratch])
            traces = tuple(
                replace(trace, error=trace.error.replace(str(copy), str(origin.root)))
                for trace in read(scratch / "seen")
            )
            output = ended.output.replace(str(copy), str(origin.root))
        return Run(ended.how, ended.code, ended.seconds, output, traces, ended.peak)


def _of_copy(command: str, root: Path, copy: Path) -> str:
    """A command that names files of the project by absolute path, with those of the copy."""

    def there(match: re.Match[str]) -> str:
        moved = copy / match[1].lstrip("/")
        return f"{copy}{match[1]}" if moved.exists() else match[0]

    return re.sub(rf"(?<![\w./-]){re.escape(str(root))}((?:/[^\s'\";|&()<>]*)?)(?=[\s'\";|&()<>]|$)", there, command)


def _environment(root: Path, copy: Path, scratch: Path, limits: Limits) -> Mapping[str, str]:
    """The environment of the person, with the probe riding along."""
    ours = {
        "FIXER_PROBE": str(scratch / "seen"),
        "FIXER_ORIGINAL": str(root),
        "FIXER_COPY": str(copy),
        "FIXER_STEPS": str(limits.steps),
        "TMPDIR": str(scratch / "tmp"),
    }
    path = os.pathsep.join([str(RIDING), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**offline(scratch), "PYTHONHASHSEED": "0", **os.environ, **ours, "PYTHONPATH": path, "PWD": str(copy)}
