"""The child process of a proof: a server that imports torch once and forks for every run.

Started by `codemods.verify.bench` as a script, in isolated mode: `python -I -B child.py FD`. Requests arrive as JSON
lines on standard input; answers leave as JSON lines on the inherited file descriptor FD, never on standard output,
which belongs to the code under test.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import importlib
import importlib.metadata
import importlib.util
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGES = ("torch", "lightning", "pytorch_lightning", "transformers", "accelerate", "peft", "numpy")
"""Imported by the server ahead of the fork when a fixture asks for them; their versions are reported."""
TAIL = 20_000
"""Bytes of a run's output that are kept."""
LARGEST = 1 << 28
"""Bytes that a file written by a run may have, its output included."""


def load(name: str, path: Path, **options: Any) -> ModuleType:
    """Import the file at `path` as the module `name`, whatever `sys.path` says."""
    spec = importlib.util.spec_from_file_location(name, path, **options)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def adopt() -> None:
    """Make `codemods` importable, and nothing else of the environment that it is installed in."""
    package = Path(__file__).resolve().parents[1]
    load("codemods", package / "__init__.py", submodule_search_locations=[str(package)])


def warm(source: str) -> None:
    """Import what `source` imports at its top, as far as it is one of `PACKAGES`, so that every fork has it."""
    with contextlib.suppress(SyntaxError):
        for node in ast.parse(source).body:
            names = [(a.name, "") for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [(node.module, alias.name) for alias in node.names]
            for module, name in names:
                if module.partition(".")[0] in PACKAGES:
                    with contextlib.suppress(Exception), warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        getattr(importlib.import_module(module), name or "__name__")


def versions() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            yield package, importlib.metadata.version(package)


def count_calls(dotted: str, path: Path) -> Callable[[], int]:
    """Count the calls of the function `dotted` that the files at `path` themselves make (torch may make its own)."""
    module, _, name = dotted.rpartition(".")
    owner = importlib.import_module(module)
    original = getattr(owner, name)
    calls = 0

    @functools.wraps(original)
    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += Path(sys._getframe(1).f_code.co_filename).is_relative_to(path)
        return original(*args, **kwargs)

    setattr(owner, name, counted)
    return lambda: calls


def perform(proof_path: Path, side_path: Path, function: str) -> dict[str, Any]:
    """Run one function of the proof on one side, a Python file or a directory, in this (forked) process."""
    from codemods.verify.observe import Observation, settle

    answer: dict[str, Any] = {"versions": dict(versions())}
    try:
        sys.path[:0] = [str(side_path)] if side_path.is_dir() else []
        for shared in sorted(proof_path.parents[1].glob("*.py")):  # the folder itself holds cases called `deepspeed`
            load(shared.stem, shared)
        proof = load("proof", proof_path)
        witness = getattr(proof, "WITNESS", "")
        answer["declared"] = {
            "symptom": getattr(proof, "SYMPTOM", ""),
            "bites": getattr(proof, "BITES", {}),
            "witness": witness,
            "tolerance": getattr(proof, "TOLERANCE", 0.0),
        }
        answer["has_reference"] = hasattr(proof, "reference")
        calls = count_calls(witness, side_path) if witness else None
    except Exception as error:
        return answer | {"trouble": f"{proof_path.name}: {_text(error)}", "trace": traceback.format_exc()}
    random.seed(0)
    settle(seed=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            case = side_path if side_path.is_dir() else load("case", side_path)
            seen = getattr(proof, function)(case)
        except BaseException as error:
            answer |= {"error": _text(error), "trace": traceback.format_exc()}
        else:
            if not isinstance(seen, Observation):
                return answer | {"trouble": f"{proof_path.name}: {function}() gives {seen!r}, not an Observation"}
            if calls is not None:
                seen.witness = calls()
            answer["seen"] = dataclasses.asdict(seen)
    return answer | {"warnings": [f"{item.category.__name__}: {item.message}" for item in caught]}


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def forked(directory: Path, limit: float, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The answer of `work`, done in a forked child with its own session, output file, directory and time limit."""
    result, output = directory / "result.json", directory / "output.txt"
    for stale in (result, output):
        stale.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        signal.alarm(int(limit) + 5)  # should the server itself be killed
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))
        with output.open("wb") as stream, Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
        os.chdir(tempfile.mkdtemp(dir=directory))
        code = 1
        try:
            result.write_text(json.dumps(work()))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    status = wait(pid, limit)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)  # data loader workers and the like
    printed = tail(output)
    if status is None:
        return {"trouble": f"ran longer than {limit:g} s", "output": printed}
    if status or not result.exists():
        how = f"was ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "failed outside the proof"
        return {"trouble": f"the child process {how}", "output": printed}
    answer: dict[str, Any] = json.loads(result.read_text())
    return answer | {"output": printed}


def tail(path: Path) -> str:
    """The end of the file at `path`, if there is one."""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - TAIL))
        return stream.read().decode(errors="replace")
    return ""


def wait(pid: int, limit: float) -> int | None:
    """The exit status of `pid`, or None if it had to be killed at its time limit."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def serve(request: dict[str, Any]) -> dict[str, Any]:
    """Answer one request: run the side, and the proof's reference on it where it has one."""
    proof = Path(request["proof"])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        directory = Path(name).resolve()
        texts = {directory / "side" / path: text for path, text in request["files"].items()}
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        lone = next(iter(texts)) if len(texts) == 1 else None
        side = lone if lone and lone.suffix == ".py" else directory / "side"
        warm(proof.read_text(encoding="utf-8"))
        for path, text in texts.items():
            if path.suffix == ".py":
                warm(text)
        answer = forked(directory, request["limit"], lambda: perform(proof, side, "run"))
        if answer.pop("has_reference", False) and "error" not in answer:
            reference = forked(directory, request["limit"], lambda: perform(proof, side, "reference"))
            if failed := reference.get("trouble") or reference.get("error"):
                return answer | {"trouble": f"{proof.name}: reference: {failed}", "output": reference["output"]}
            answer["reference"] = reference["seen"]
        return answer


def main() -> None:
    """Serve until standard input ends."""
    adopt()
    with os.fdopen(int(sys.argv[1]), "w", encoding="utf-8") as answers:
        os.set_inheritable(answers.fileno(), False)
        try:
            importlib.import_module("codemods.verify.observe")
        except ImportError as error:
            missing = {"trouble": f"{sys.executable}: {error} (`pip install 'ampfix[verify]'`)"}
            for _ in sys.stdin:
                print(json.dumps(missing), file=answers, flush=True)
            return
        with contextlib.suppress(Exception):
            importlib.import_module("torch._dynamo")  # every first optimizer imports it, for a second
        for line in sys.stdin:
            print(json.dumps(serve(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
