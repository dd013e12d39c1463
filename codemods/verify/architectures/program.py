"""Which architectures of Transformers lose gradients under checkpointing: the table behind CKP002 to CKP006.

    python -m codemods.verify.architectures                            # with the Transformers installed here
    python -m codemods.verify.architectures --python OTHER/bin/python  # with another one, added to the record
    python -m codemods.verify.architectures --only qwen2 t5            # shows, and records nothing

Every causal and encoder-decoder architecture that a tiny random configuration can build runs one step without
checkpointing, and one in each variant: {full, LoRA, frozen embeddings} × {reentrant, not} × who lets the inputs of the
checkpointed layers require gradients. A gradient that is missing, or differs, is lost. Minutes; writes
`docs/architectures.json` and `docs/architectures.md`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from codemods.verify.places import DOCS

RECORD = DOCS / "architectures.json"
PAGE = DOCS / "architectures.md"
CHILD = Path(__file__).with_name("child.py")
TRAINED = ("full", "lora", "frozen-embeddings")
INPUTS = ("none", "own", "hook", "wrapper")
WORDS = {
    "none": "nobody",
    "own": "this Transformers by itself",
    "hook": "a hook on the embeddings: `enable_input_require_grads()`, as PEFT's preparation and axolotl",
    "wrapper": "a wrapper around each layer: LLaMA-Factory",
}


def answers(python: str, names: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """What the child says: its versions, then each architecture.

    Args:
        python: the interpreter with torch, transformers and peft.
        names: model types; by default every one.

    Raises:
        RuntimeError: if the child cannot start.
    """
    command = [python, "-I", str(CHILD)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        first = child.stdout.readline()
        if not first:
            raise RuntimeError(f"{python} has no torch, transformers and peft: name one that has with --python")
        yield json.loads(first)
        child.stdin.write("list\n")
        child.stdin.flush()
        for line in json.loads(child.stdout.readline())["names"]:
            if not names or line.partition(" ")[2] in names:
                child.stdin.write(f"{line}\n")
                child.stdin.flush()
                yield json.loads(child.stdout.readline())
        child.stdin.close()


def summary(lines: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One run as it is recorded: versions, what was built with its wrong cells, and what was not built and why."""
    found: dict[str, Any] = {"versions": {}, "architectures": {}, "not built": {}, "not checkpointed": {}}
    for line in lines:
        if "versions" in line:
            found["versions"] = line["versions"]
            continue
        name = f"{line['name']} ({line['kind']})"
        if "unbuilt" in line:
            found["not built"][name] = line["unbuilt"]
            continue
        cells = line["cells"]
        errors = [cell["error"] for cell in cells.values() if "error" in cell]
        if len(errors) == len(cells):
            found["not checkpointed"][name] = errors[0]
            continue
        found["architectures"][name] = {
            "class": line["class"],
            "parameters": line["parameters"],
            "layers": line["layers"],
            "wrong": {name: words for name, cell in sorted(cells.items()) if (words := _words(cell))},
            **{key: line[key] for key in ("never", "unbuilt variants") if line.get(key)},
        }
    return found


def _words(cell: Mapping[str, Any]) -> str:
    if "error" in cell:
        return str(cell["error"])
    lost = f"{cell['lost']} parameters get no gradient" if cell["lost"] else ""
    differs = f"gradients differ by {cell['differs']:.0%}" if "differs" in cell else ""
    return "; ".join(filter(None, (lost, differs)))


def loses(run: Mapping[str, Any], cell: str) -> frozenset[str]:
    """The model types that get an error, lose gradients or get others in one variant, such as `lora/reentrant/own`."""
    return frozenset(_type(name) for name, found in run["architectures"].items() if cell in found["wrong"])


def known(run: Mapping[str, Any], trained: str = "full") -> frozenset[str]:
    """The model types of a run that were built and trained in one way."""
    architectures = run["architectures"].items()
    return frozenset(_type(name) for name, found in architectures if trained in found["parameters"])


def _type(name: str) -> str:
    return name.partition(" ")[0]


def read() -> list[dict[str, Any]]:
    """The recorded runs, newest Transformers first."""
    return list(json.loads(RECORD.read_text(encoding="utf-8"))["runs"]) if RECORD.is_file() else []


def record(run: dict[str, Any]) -> None:
    """Put a run into the record, in the place of one with the same versions, and write the page."""
    runs = [run, *(each for each in read() if each["versions"] != run["versions"])]
    runs.sort(key=lambda each: [int(n) for n in each["versions"]["transformers"].split(".")[:3]], reverse=True)
    RECORD.write_text(json.dumps({"runs": runs}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(page(runs), encoding="utf-8")


def page(runs: Sequence[Mapping[str, Any]]) -> str:
    """The table for people."""
    lines = [
        "# Which architectures lose gradients under activation checkpointing",
        "",
        "Made by `python -m codemods.verify.architectures`: every causal and encoder-decoder architecture of",
        "Transformers that a tiny random configuration can build, one training step in each variant against the same",
        "step without checkpointing. A cell counts the architectures in which a trainable parameter got no gradient or",
        "another one, or the step raised. CKP002 to CKP006 speak for what stands here.",
    ]
    for run in runs:
        versions = ", ".join(f"{name} {version}" for name, version in sorted(run["versions"].items()))
        built = len(run["architectures"])
        lines += ["", f"## {versions}", "", f"{built} architectures; {len(run['not checkpointed'])} do not support"]
        lines[-1] += f" checkpointing, {len(run['not built'])} could not be built."
        lines += [
            "",
            "| inputs get gradients by | variant | full | LoRA | frozen embeddings |",
            "|---|---|---:|---:|---:|",
        ]
        for inputs in INPUTS:
            for variant in ("reentrant", "non-reentrant"):
                cells = [f"{trained}/{variant}/{inputs}" for trained in TRAINED]
                counts = [
                    f"{sum(cell in found['wrong'] for found in run['architectures'].values())} of "
                    f"{sum(cell.partition('/')[0] in found['parameters'] for found in run['architectures'].values())}"
                    for cell in cells
                ]
                lines.append(f"| {WORDS[inputs]} | {variant} | {' | '.join(counts)} |")
        lines += ["", *_listed(run)]
    return "\n".join(lines) + "\n"


def _listed(run: Mapping[str, Any]) -> Iterator[str]:
    """The architectures in each variant, the fewer of those that lose and those that do not by name."""
    for inputs in INPUTS:
        for variant in ("reentrant", "non-reentrant"):
            for trained in TRAINED:
                cell = f"{trained}/{variant}/{inputs}"
                wrong, all_of_them = loses(run, cell), known(run, trained)
                if not wrong:
                    continue
                right = all_of_them - wrong
                few, verb = (wrong, "lose") if len(wrong) <= len(right) else (right, "keep all")
                yield f"- `{cell}`: {', '.join(sorted(few)) or 'none'} {verb}"
    for kind in ("not checkpointed", "not built"):
        if run[kind]:
            yield f"- {kind}: {', '.join(sorted(run[kind]))}"


def main(arguments: Sequence[str]) -> int:
    """Run and record."""
    parser = argparse.ArgumentParser(prog="python -m codemods.verify.architectures", description=__doc__)
    parser.add_argument("--python", default=sys.executable, metavar="FILE", help="an interpreter with transformers")
    parser.add_argument("--only", nargs="*", default=(), metavar="TYPE", help="these model types; records nothing")
    options = parser.parse_args(arguments)
    lines = []
    for line in answers(options.python, options.only):
        lines.append(line)
        print(line.get("name") or line, "not built" if "unbuilt" in line else "", flush=True)
    run = summary(lines)
    if options.only:
        print(page([run]))
    else:
        record(run)
    return 0
