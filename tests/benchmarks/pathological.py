"""Programs that grow in one way only: how the time of a check grows with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.corpora import write
from benchmarks.setting import Growth, Setting

GOAL = 1.15
"""Exponent of processor time, less that of a check of nothing."""

_BLOCK = """\
    with torch.autocast("cuda"):
        loss = model(x, {0})
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""


def scaler_blocks(count: int) -> dict[str, str]:
    """Training steps, one after the other in one function."""
    begin = "import torch\n\n\ndef train(model, optimizer, x):\n    scaler = torch.amp.GradScaler('cuda')\n"
    return {"train.py": begin + "".join(_BLOCK.format(number) for number in range(count))}


def layered_calls(count: int) -> dict[str, str]:
    """Three layers of functions, each calling all of the next; nothing is trained in the last, autocast is on top."""
    lines = ["import torch", ""]
    for number in range(count):
        lines += ["", f"def c{number}(model, x):", "    with torch.no_grad():", f"        return model(x, {number})"]
    for layer, below in (("b", "c"), ("a", "b")):
        for number in range(count):
            lines += ["", f"def {layer}{number}(model, x):"]
            lines += [f"    {below}{other}(model, x)" for other in range(count)]
    lines += ["", "def train(model, x):", "    with torch.autocast('cuda'):"]
    lines += [f"        a{number}(model, x)" for number in range(count)] + ["        return model(x)", ""]
    return {"layers.py": "\n".join(lines)}


def findings_in_a_file(count: int) -> dict[str, str]:
    """Functions of one finding each."""
    body = "def f{0}(model, x):\n    with torch.cuda.amp.autocast():\n        return model(x)\n"
    return {"many.py": "import torch\n\n\n" + "\n\n".join(body.format(number) for number in range(count))}


def files_of_one_finding(count: int) -> dict[str, str]:
    """The same in files of their own."""
    return {f"f{number}.py": findings_in_a_file(1)["many.py"] for number in range(count)}


def line_of_descent(count: int) -> dict[str, str]:
    """Classes, each the base of the next, each in a file of its own."""
    first = "import lightning as L\n\n\nclass C0(L.LightningModule):\n    pass\n"
    step = "    def training_step(self, batch):\n        self.loss.backward()\n"
    body = f"from c{{0}} import C{{0}}\n\n\nclass C{{1}}(C{{0}}):\n{step}"
    return {"c0.py": first} | {f"c{n}.py": body.format(n - 1, n) for n in range(1, count)}


def flags_in_a_function(count: int) -> dict[str, str]:
    """Branches, one after the other in one function."""
    lines = [f"    if x.flag_{n}:\n        loss = loss.detach() + {n}" for n in range(count)]
    begin = "def train(model, optimizer, x):\n    loss = model(x)\n"
    return {"flags.py": begin + "\n".join(lines) + "\n    loss.backward()\n    optimizer.step()\n"}


def terms_of_a_loss(count: int) -> dict[str, str]:
    """Branches that add to a loss: each result may be what any later one adds to."""
    lines = [f"    if x.flag_{n}:\n        loss = loss + {n} * loss.detach()" for n in range(count)]
    begin = "def train(model, optimizer, x):\n    loss = model(x)\n"
    return {"terms.py": begin + "\n".join(lines) + "\n    loss.backward()\n    optimizer.step()\n"}


CASES: dict[str, tuple[Callable[[int], dict[str, str]], tuple[int, ...]]] = {
    "blocks with a scaler in one function": (scaler_blocks, (100, 200, 400)),
    "three layers of functions that call all of the next": (layered_calls, (10, 20, 40)),
    "findings in one file": (findings_in_a_file, (1_000, 2_000, 4_000)),
    "files of one finding": (files_of_one_finding, (500, 1_000, 2_000)),
    "classes in one line of descent": (line_of_descent, (100, 200, 400)),
    "branches in one function": (flags_in_a_function, (400, 800, 1_600)),
    "branches that add to a loss": (terms_of_a_loss, (50, 100, 200)),
}
"""What grows, and how often it is there. Layers grow by the square: their lines are counted."""


def growths(setting: Setting) -> dict[str, Growth]:
    """The checks of each case, by what grows."""
    nothing = setting.check(setting.corpora.empty, "--jobs", "1", ".")
    found = {}
    for number, (title, (make, counts)) in enumerate(CASES.items()):
        places, sizes = [], []
        for count in counts:
            files = make(count)
            write(place := Path(setting.cache, "pathological", str(number), str(count)), files)
            places.append(place)
            sizes.append(sum(text.count("\n") for text in files.values()))
        ours = tuple(setting.check(place, "--jobs", "1", ".") for place in places)
        found[title] = Growth(tuple(sizes), ours, nothing, ())
    return found
