"""What rides along in a person's training run: it counts, looks at gradients, and writes down what it saw.

Started by `riding/sitecustomize.py`, before the program itself, in the interpreter of the program. It imports nothing
but the standard library; once the program has imported torch, a few of torch's own functions also tell the probe
when they are called. They do what they did: no random number is drawn, no hook is put on a tensor, and nothing
is kept alive but small numbers. A failure of the probe is written down, never raised.

The report is JSON, one file for each process, below the directory that `FIXER_PROBE` names; see `trace.py`.
Python 3.9 and later.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import json
import os
import platform
import random
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

TEXTS = 50
"""Different warnings and exceptions that are kept."""
LENGTH = 600
"""Characters of one of them."""
SECONDS = 1.0
"""Between two writings of the report while the program runs, at most; the last one comes at its end."""
AT_ONCE = 25
"""Writings that do not wait."""
SHARE = 50
"""So many times as long as a writing takes are between two, at least."""


class Record:
    """What one process has shown so far."""

    def __init__(self, directory: str, seed: int) -> None:
        self.directory = directory
        self.seed = seed
        self.most_steps = int(os.environ.get("FIXER_STEPS") or 0)
        """Of one optimizer; 0 means no limit."""
        self.here = str(Path.cwd())
        self.begin(forked=False)

    def begin(self, forked: bool) -> None:
        """Start with a clean page, at first and in a forked child."""
        self.pid = os.getpid()
        self.forked = forked
        self.started = time.time()
        self.written = 0.0
        self.writings = 0
        self.pause = 0.0
        """Seconds between two of them."""
        self.writing = threading.Lock()
        self.waiting: threading.Thread | None = None
        """Writes what is new if the program does nothing more until it is killed."""
        self.called_off = threading.Event()
        self.over = False
        """Whether the last report is written."""
        self.looking = 0
        """Calls that are being looked at."""
        self.torch: Any = sys.modules.get("torch") if forked else None
        self.rank = os.environ.get("RANK") or os.environ.get("LOCAL_RANK") or ""
        self.counts = {"backward": 0, "step": 0, "skipped": 0}
        self.losses: list[float] = []
        self.windows: list[int] = []
        """How many losses had been seen at each step of an optimizer."""
        self.steppers: list[int] = []
        """The numbers of the optimizers that took these steps."""
        self.scales: list[float] = []
        self.first_scale: float | None = None
        self.clips: dict[str, int] = {}
        """Calls that clip gradients, as they are written, and how often."""
        self.clipped = 0
        """Steps on gradients that were clipped after the last backward pass."""
        self.settings: list[list[dict[str, Any]]] = []
        """Of each optimizer, in the order of their first steps, what each of its groups was set to then."""
        self.autocast: dict[str, int] = {}
        self.warnings: dict[str, int] = {}
        self.exceptions: list[str] = []
        self.oddities: dict[str, int] = {}
        self.details: dict[str, str] = {}
        """What is known of some of them."""
        self.made = 0
        """Optimizers."""
        self.optimizers: dict[int, str] = {}
        """What those that step are called, by their numbers."""
        self.stopped = False
        """Whether it was ended for its steps."""
        self.parameters: dict[str, dict[str, Any]] = {}
        self.unheld: dict[str, dict[str, Any]] = {}
        """Parameters of modules that no optimizer holds."""
        self.trouble = ""

    def odd(self, kind: str, detail: str = "") -> None:
        self.oddities[kind] = self.oddities.get(kind, 0) + 1
        if detail:
            self.details[kind] = detail

    def failed(self, error: BaseException) -> None:
        """An exception that passed through something watched; whether the program catches it is its own affair."""
        text = said(error)
        if text not in self.exceptions and len(self.exceptions) < TEXTS:
            self.exceptions.append(text)

    def write(self, last: bool = False) -> None:
        """Write the report; if it was just written, a little later."""
        if not last and time.monotonic() - self.written < self.pause:
            self._write_later()
            return
        if self.pid != os.getpid() or self.torch is None or (self.forked and not any(self.counts.values())):
            return
        if (self.over and not last) or not self.writing.acquire(timeout=SECONDS if last else 0):
            return
        self.over = last
        start = time.monotonic()
        try:
            part = Path(self.directory, f"{platform.node()}-{self.pid}.part")
            part.write_text(json.dumps(self.report(last)), encoding="utf-8")
            part.replace(f"{str(part)[:-5]}.json")
        except (OSError, TypeError, ValueError, RuntimeError):
            return  # the directory is gone, or another thread is at work: the next writing will do
        finally:
            self.written = time.monotonic()
            self.writings += 1
            self.pause = min(SECONDS, SHARE * (self.written - start)) if self.writings >= AT_ONCE else 0.0
            self.writing.release()

    def _write_later(self) -> None:
        """Have a thread write it, unless one is waiting to do so."""
        if self.waiting is None or not self.waiting.is_alive():
            self.called_off.clear()
            self.waiting = threading.Thread(target=self._wait_and_write, name="fixer-probe", daemon=True)
            self.waiting.start()

    def _wait_and_write(self) -> None:
        while not self.called_off.wait(max(self.pause + self.written - time.monotonic(), 0.01)):
            if not self.looking:
                self.write()
                return

    def rest(self) -> None:
        """Before a fork: have no thread, and nothing left to write."""
        if self.waiting is not None and self.waiting.is_alive():
            self.called_off.set()
            self.waiting.join()
            self.pause = 0.0
            self.write()

    def end(self) -> None:
        """End the process here and now, as if the program were done."""
        self.stopped = True
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(0)

    def report(self, last: bool) -> dict[str, Any]:
        uncaught = getattr(sys, "last_value", None)
        return {
            "pid": self.pid,
            "rank": self.rank or os.environ.get("RANK") or os.environ.get("LOCAL_RANK"),
            "started": self.started,
            "ended": last,
            "written": time.time(),
            "program": program(),
            "versions": versions(),
            "backward": self.counts["backward"],
            "steps": self.counts["step"],
            "skipped": self.counts["skipped"],
            "losses": self.losses,
            "windows": self.windows,
            "steppers": self.steppers,
            "scales": self.scales,
            "first_scale": self.first_scale,
            "clips": self.clips,
            "clipped": self.clipped,
            "settings": self.settings,
            "autocast": self.autocast,
            "warnings": self.warnings,
            "exceptions": self.exceptions,
            "error": said(uncaught) if last and uncaught is not None else "",
            "error_place": place(getattr(sys, "last_traceback", None), self.here) if last else "",
            "stopped": self.stopped,
            "oddities": self.oddities,
            "details": self.details,
            "made": self.made,
            "optimizers": self.optimizers,
            "parameters": self.parameters,
            "unheld": self.unheld,
            "strays": strays(),
            "trouble": self.trouble,
        }


record: Record | None = None


def quietly(look: Callable[..., None]) -> Callable[..., None]:
    """A failure of `look` is noted, and the program goes on."""

    @functools.wraps(look)
    def quiet(*args: Any, **kwargs: Any) -> None:
        if record is None:
            return
        record.looking += 1
        try:
            look(*args, **kwargs)
        except Exception as error:
            if not record.trouble:
                record.trouble = f"{look.__name__}: {said(error)}"
        finally:
            record.looking -= 1

    return quiet


def said(error: Any) -> str:
    """An exception as its last line would be in a traceback."""
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:
        text = type(error).__name__
    return text[:LENGTH]


def place(traceback: Any, here: str) -> str:
    """The innermost line of the person's own code in a traceback, as `train.py:12`."""
    found = ""
    root = os.environ.get("FIXER_COPY") or here
    while traceback is not None:
        path = str(Path(here, traceback.tb_frame.f_code.co_filename))
        if inside(path, root) and "site-packages" not in path:
            found = f"{path[len(root) + 1 :]}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return found


def program() -> list[str]:
    """What the process runs: its command line, and the name that `multiprocessing` gave it."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    name = multiprocessing.current_process().name if multiprocessing is not None else "MainProcess"
    original, copy = os.environ.get("FIXER_ORIGINAL", ""), os.environ.get("FIXER_COPY", "")
    return [name, *(word.replace(copy, original) if copy else word for word in map(str, sys.argv))]


def versions() -> dict[str, str]:
    """The versions of what the process has imported."""
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in ("torch", "lightning", "pytorch_lightning", "transformers", "accelerate", "peft"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            found[name] = str(version)
    return found


def strays() -> list[str]:
    """Files of the person's own checkout that were imported although the copy has them too."""
    original, copy = os.environ.get("FIXER_ORIGINAL", ""), os.environ.get("FIXER_COPY", "")
    found = []
    for module in list(sys.modules.values()) if original and copy else ():
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and inside(path, original) and not inside(path, copy):
            if Path(moved(path, original, copy)).exists():
                found.append(path[len(original) + 1 :])
    return sorted(found)[:TEXTS]


def inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory + os.sep)


def moved(path: str, original: str, copy: str) -> str:
    return copy + path[len(original) :]


def redirect(original: str, copy: str) -> None:
    """Let an editable install of the checkout mean the copy."""

    def there(path: Any) -> Any:
        if not isinstance(path, str) or not inside(path, original):
            return path
        place = moved(path, original, copy)
        return place if Path(place).exists() else path

    sys.path[:] = [there(place) for place in sys.path]
    for name, module in list(sys.modules.items()):
        mapping = getattr(module, "MAPPING", None)
        if name.startswith("__editable__") and isinstance(mapping, dict):
            mapping.update({key: there(value) for key, value in mapping.items()})


class Arrival:
    """Calls back when one of `modules` has been imported."""

    def __init__(self, modules: Mapping[str, Callable[[Any], None]]) -> None:
        self.modules = modules

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self.modules:
            return None
        for finder in sys.meta_path:
            ask = getattr(finder, "find_spec", None)
            spec = None if finder is self or ask is None else ask(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    self.follow(spec.loader, self.modules[name])
                return spec
        return None

    def follow(self, loader: Any, then: Callable[[Any], None]) -> None:
        def exec_module(module: Any) -> None:
            del loader.exec_module
            loader.exec_module(module)
            then(module)

        loader.exec_module = exec_module


def start(environment: Mapping[str, str]) -> None:
    """Begin to watch this process."""
    global record
    seed = int(environment.get("FIXER_SEED", "0")) + int(environment.get("RANK") or 0)
    record = mine = Record(environment["FIXER_PROBE"], seed)
    if environment.get("FIXER_ORIGINAL") and environment.get("FIXER_COPY"):
        redirect(environment["FIXER_ORIGINAL"], environment["FIXER_COPY"])
    random.seed(seed)
    sys.meta_path.insert(0, Arrival({"torch": arrived, "numpy": seed_numpy}))
    atexit.register(mine.write, last=True)
    os.register_at_fork(before=mine.rest, after_in_child=functools.partial(mine.begin, forked=True))
    leave = os._exit

    @functools.wraps(leave)
    def leaving(status: int) -> Any:
        mine.write(last=True)
        leave(status)

    os._exit = leaving
    shown = warnings.showwarning

    def showwarning(message: Any, category: Any, filename: str, lineno: int, *args: Any, **kwargs: Any) -> None:
        text = f"{category.__name__}: {message}"[:LENGTH]
        if text in mine.warnings or len(mine.warnings) < TEXTS:
            mine.warnings[text] = mine.warnings.get(text, 0) + 1
        if filename.startswith(str(Path(__file__).with_name("probe_"))):
            filename, lineno = caller(filename, lineno)
        shown(message, category, filename, lineno, *args, **kwargs)

    warnings.showwarning = showwarning


def caller(filename: str, lineno: int) -> tuple[str, int]:
    """The line of the program that called what a part of the probe stands around."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename != filename:
        frame = frame.f_back
    while frame.f_back is not None and frame.f_code.co_filename == filename:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


@quietly
def seed_numpy(numpy: Any) -> None:
    if record is not None:
        numpy.random.seed(record.seed)


def load(name: str) -> Any:
    """Another part of the probe, which lies beside this one."""
    spec = importlib.util.spec_from_file_location(f"_fixer_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@quietly
def arrived(torch: Any) -> None:
    """Torch has been imported: seed it, and look over its shoulder."""
    if record is None:
        return
    record.torch = torch
    torch.manual_seed(record.seed)
    names = load("probe_names").Names(torch)
    calls = load("probe_calls").Calls(torch, record, quietly)
    load("probe_torch").watch(torch, record, names, calls, load, quietly)
    # Children that multiprocessing starts end without `atexit`.
    from multiprocessing import parent_process, util

    def at_end(mine: Record) -> None:
        util.Finalize(None, mine.write, kwargs={"last": True}, exitpriority=0)

    util.register_after_fork(record, at_end)
    if parent_process() is not None:
        at_end(record)
