"""What the probe costs: `python tests/sweep_probe.py [RUNS]`. Small trainings, with and without it in turns."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RIDING = Path(__file__).resolve().parents[1] / "codemods" / "verify" / "riding"
PROGRAM = """
import sys, time
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
width, depth, dead, steps = map(int, sys.argv[1:])
tower = lambda depth: nn.Sequential(*(nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(depth)))
model, aside = tower(depth), tower(dead)
optimizer = torch.optim.AdamW([*model.parameters(), *aside.parameters()])
start = time.perf_counter()
for step in range(steps):
    with torch.autocast("cpu", torch.bfloat16):
        batch = torch.randn(32, width)
        loss = model(batch + aside(batch).detach() if dead else batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
print(time.perf_counter() - start, loss.item().hex())
"""
TRAININGS = {
    "2 steps of 74 layers, 148 parameters": (256, 74, 0, 2),
    "20 steps of 74 layers, 148 parameters": (256, 74, 0, 20),
    "500 steps of 8 layers, 16 parameters": (256, 8, 0, 500),
    "500 steps of 8 layers, 4 of them without a gradient": (256, 4, 4, 500),
}


def timed(arguments: tuple[int, ...], directory: str, probe: bool) -> tuple[float, float, str]:
    """Seconds of the training loop and of the whole process, and the last loss."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if probe:
        environment |= {"FIXER_PROBE": directory, "PYTHONPATH": str(RIDING)}
    program = f"import time; began = time.perf_counter()\n{PROGRAM}\nprint(time.perf_counter() - began)"
    words = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    loop, loss, whole = done.stdout.split()
    return float(loop), float(whole), loss


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        for name, arguments in TRAININGS.items():
            pairs = [(timed(arguments, directory, False), timed(arguments, directory, True)) for _ in range(runs)]
            assert len({loss for pair in pairs for _, _, loss in pair}) == 1, "the losses are bit-equal"
            for part, index in (("training loop", 0), ("whole program", 1)):
                ratio = statistics.median(with_it[index] / without[index] for without, with_it in pairs)
                seconds = statistics.median(without[index] for without, _ in pairs)
                print(f"{name}, {part}: {ratio:.2f} × ({seconds:.2f} s without; losses bit-equal; {runs} pairs)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 7)
