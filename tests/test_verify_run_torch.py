"""`fixer verify --run` under the real torch: the probe, and the demo project proved and refuted."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from riding import Forks, watched
from world import CHECKOUT, begun, checkout_state, process, repository, write

from codemods.verify.health import examined
from codemods.verify.symptoms import Run

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]
DEMO = Path(__file__).parent / "before_after" / "demo"
TRAINING = """\
import warnings
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(3)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))
unused = nn.Linear(2, 2)
optimizer = torch.optim.AdamW([*model.parameters(), *unused.parameters()], lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for step in range(4):
    x = torch.randn(4, 8, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        loss = checkpoint(model, x, use_reentrant=True).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss * (float("inf") if step == 1 else 1)).backward()
    if step == 3:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    print(float(loss).hex())
try:
    loss.detach().backward()
except RuntimeError:
    print("caught")
warnings.warn("careful")
closures = torch.optim.LBFGS(model.parameters(), max_iter=3)


def closure():
    closures.zero_grad()
    loss = model(torch.ones(4, 8)).pow(2).mean()
    loss.backward()
    return loss


print(float(closures.step(closure)).hex())
print([parameter.sum().item().hex() for parameter in model.parameters()])
raise KeyError("the end")
"""


def test_the_probe_sees_and_changes_nothing(tmp_path: Path) -> None:
    """Losses and weights are equal to the last bit with the probe and without it."""
    plain, nothing = watched(tmp_path, TRAINING, probe=False)
    shown, (trace,) = watched(tmp_path, TRAINING)
    assert shown == plain and not nothing
    assert plain.count("0x") >= 5 and "caught" in plain and "KeyError: 'the end'" in plain
    assert trace.trouble == "" and trace.ended and trace.error == "KeyError: 'the end'"
    assert trace.error_place == f"program.py:{len(TRAINING.splitlines())}"
    assert trace.made == len(trace.optimizers) == 2 and trace.optimizers[1] == "LBFGS of Sequential"
    assert (trace.steps, trace.skipped) == (4, 1), "three by the scaler, one with a closure"
    assert [f"{loss.hex()}\n" in shown for loss in trace.losses[:4]] == [True, False, True, True]
    assert trace.scales == (1024.0, 512.0, 512.0, 512.0)
    assert set(trace.autocast) == {"cpu bfloat16"}
    assert trace.warnings["UserWarning: careful"] == 1
    assert trace.exceptions == ("RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",)
    assert dict(trace.oddities) == {"clip-of-scaled": 1}
    first, idle = trace.parameters["Sequential.0.weight"], trace.parameters["Linear.weight"]
    assert first.moved is True and first.present == first.looks == 5 and not first.non_finite
    assert (idle.present, idle.looks, idle.moved) == (0, 4, False)


@pytest.mark.parametrize(("end", "ended"), [("os._exit(0)", True), ("time.sleep(2); os.kill(os.getpid(), 9)", False)])
@pytest.mark.few(1)
def test_the_last_step_of_a_program_that_ends_at_once(end: str, ended: bool, tmp_path: Path) -> None:
    """Its gradients are too small to be squared in 32 bits, and not zero."""
    program = f"""
        import os, time
        import torch
        weight = torch.nn.Parameter(torch.ones(4))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        for step in range(40):
            optimizer.zero_grad()
            (weight * 1e-27).sum().backward()
            total = torch.nn.utils.get_total_norm([weight.grad])
            torch.nn.utils.clip_grads_with_norm_([weight], 1.0, total)
            optimizer.step()
        {end}
        """
    _, (trace,) = watched(tmp_path, program)
    (page,) = trace.parameters.values()
    assert (trace.ended, trace.steps, trace.backward, len(trace.losses)) == (ended, 40, 40, 40)
    assert dict(trace.clips) == {"clip_grads_with_norm_ at 1": 40}
    assert not page.zero and page.norms[0] == pytest.approx(2e-27)


def test_a_scaler_that_leaves_out_every_step_for_stale_gradients(tmp_path: Path, forks: Forks) -> None:
    program = """
        import torch
        weight = torch.nn.Parameter(torch.zeros(1))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        scaler = torch.amp.GradScaler("cpu")
        for step in range(9):
            scaler.scale(weight.sqrt().sum()).backward()
            scaler.step(optimizer)
            scaler.update()
        """
    _, traces = forks.watched(tmp_path, program)
    assert dict(traces[0].oddities) == {"stale-gradient": 8}
    assert examined(Run("exit", 0, 1.0, "", traces)).wrong == (
        "nothing is trained: the gradient scaler left out all 9 steps, since gradients were inf or nan",
        "an optimizer stepped on gradients added to those of its last step: nothing had zeroed them",
    )


@pytest.mark.few(0)
def test_a_forked_training_and_loader_workers(tmp_path: Path) -> None:
    """A child that trains has a report of its own; one that loads data has none."""
    program = """\
    import multiprocessing, torch
    from torch.utils.data import DataLoader

    def train(rank):
        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        weight.sum().backward()
        optimizer.step()

    if __name__ == "__main__":
        assert len(list(DataLoader(torch.ones(4, 1), num_workers=1))) == 4
        for method in ("fork", "spawn"):
            child = multiprocessing.get_context(method).Process(target=train, args=(0,))
            child.start()
            child.join()
            assert child.exitcode == 0
    """
    shown, traces = watched(tmp_path, program)
    assert shown == ""
    assert [(trace.backward, trace.steps, trace.ended, trace.trouble) for trace in traces] == [(1, 1, True, "")] * 2
    assert list(traces[0].parameters) == ["parameter 0 of optimizer 0"]


def test_what_scalers_and_optimizers_are_seen_to_do_wrong(tmp_path: Path, forks: Forks) -> None:
    program = """\
    import torch

    def parts():
        weight = torch.nn.Parameter(torch.ones(3))
        return weight, torch.optim.SGD([weight], lr=0.1)

    (a, first), (b, second), (c, third) = parts(), parts(), parts()
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(a.sum()).backward()
    first.step()
    scaler.scale(torch.ones(()))
    b.sum().backward()
    scaler.step(second)
    for _ in range(2):
        c.sum().backward()
        third.step()
    """
    shown, (trace,) = forks.watched(tmp_path, program)
    assert (shown, trace.trouble) == ("", "")
    assert dict(trace.oddities) == {"step-beside-scaler": 1, "unscaled-backward": 1, "stale-gradient": 1}


@pytest.mark.parametrize(
    ("zeroing", "odd"),
    [
        ("", True),
        ("w.grad.zero_()", False),
        ("w.grad.mul_(0)", False),
        ("w.grad = None", False),
        ("optimizer.zero_grad()", False),
        ("other.sum().backward()", True),
    ],
)
def test_gradients_that_are_zeroed_by_hand(zeroing: str, odd: bool, tmp_path: Path, forks: Forks) -> None:
    program = f"""\
    import torch
    w, other = (torch.nn.Parameter(torch.ones(3)) for _ in range(2))
    optimizer = torch.optim.SGD([w], lr=0.1)
    for _ in range(3):
        (w * other).sum().backward()
        torch.nn.utils.clip_grad_norm_([w], 0.1)
        optimizer.step()
        {zeroing}
    """
    shown, (trace,) = forks.watched(tmp_path, program)
    assert (shown, trace.trouble) == ("", "")
    assert dict(trace.oddities) == ({"stale-gradient": 2} if odd else {})


def test_modules_regions_and_late_steps(tmp_path: Path, forks: Forks) -> None:
    program = """\
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head, self.idle, self.body = nn.Linear(4, 1), nn.Linear(2, 2), nn.Linear(8, 4)

        def forward(self, x):
            return self.head(self.body(x))

    net = Net()
    optimizer = torch.optim.SGD(net.body.parameters(), lr=0.1)

    def step():
        net(torch.ones(2, 8)).mean().backward()
        optimizer.step()
        net.zero_grad()

    for _ in range(3):  # a region for each step
        with torch.autocast("cpu", torch.bfloat16):
            step()
    with torch.autocast("cpu", torch.bfloat16):
        step()
        step()
    for _ in range(60):
        step()
    """
    shown, (trace,) = forks.watched(tmp_path, program)
    assert (shown, trace.trouble, trace.steps) == ("", "", 65)
    assert dict(trace.oddities) == {"stale-autocast": 1}
    body, head, idle = (
        trace.parameters["Net.body.weight"],
        trace.unheld["Net.head.weight"],
        trace.unheld["Net.idle.bias"],
    )
    assert body.looks == 25 + 2, "32 and 64 too"
    assert body.order is not None and head.order is not None and body.order < head.order and idle.order is None
    assert head.present == head.looks and not idle.present


FLOWS = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, early):
        super().__init__()
        self.one, self.other, self.mix = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
        self.early, self.kept = early, []

    def forward(self, x):
        other = self.beside(x) if self.early else None
        one = self.one(x)
        return self.joined(one, self.beside(x) if other is None else other)

    def beside(self, x):
        return self.other(x)

    def joined(self, one, other):
        return self.mix(one) @ other.detach().t()


class Queue(Net):
    def joined(self, one, other):
        self.kept = [*self.kept, other.data][-2:]
        return one @ self.mix(torch.cat(self.kept)).t()


class Chosen(Net):
    def joined(self, one, other):
        return self.mix(one[other.argmax(1)])


class Written(Net):
    def joined(self, one, other):
        buffer = torch.zeros(3, 8)
        buffer[:, :4], buffer[:, 4:] = one, other.detach()
        return self.mix(buffer.view(6, 4))


class Unused(Net):
    def joined(self, one, other):
        self.mix(other)
        return self.mix(one)


class Teacher(Net):
    def beside(self, x):
        with torch.no_grad():
            return self.other(x)


class Average(Queue):
    def beside(self, x):
        with torch.no_grad():
            self.other.weight.lerp_(self.one.weight, 0.1)
            self.other.bias.lerp_(self.one.bias, 0.1)
        return self.other(x)


class Measured(Net):
    def joined(self, one, other):
        return self.mix(one)[int(other.sum() > 0) :]


nets = [kind(early) for kind in (Queue, Chosen, Written, Unused, Teacher, Average) for early in (False, True)]
nets.append(Measured(False))
optimizer = torch.optim.SGD([weight for net in nets for weight in net.parameters()], lr=0.01)
for step in range(10):
    for net in nets:
        with torch.device("cpu"):
            loss = net(torch.ones(3, 4)).pow(2).mean()
            loss.backward()
            loss.item()
    optimizer.step()
    optimizer.zero_grad()
    assert bool(torch.overrides._len_torch_function_stack()) == (step < 7)
"""


def test_what_depends_on_a_parameter_without_a_gradient(tmp_path: Path, forks: Forks) -> None:
    """Not the order of calls: each net is called with its tower first, and last."""
    shown, (trace,) = forks.watched(tmp_path, FLOWS)
    assert (shown, trace.trouble) == ("", "")
    feeds = {
        name.replace(".other.weight", ""): page.feeds for name, page in trace.parameters.items() if "other.w" in name
    }
    cut, apart = ("Queue", "Chosen", "Written", "Average"), ("Unused", "Teacher")
    assert feeds == {f"{kind}{time}": kind in cut for kind in (*cut, *apart) for time in ("", " (2)")} | {
        "Measured": None
    }
    (wrong,) = examined(Run("exit", 0, 1.0, "", (trace,))).wrong
    assert wrong.startswith("no gradient reaches 12 of 78 parameters") and "and 7 more" in wrong
    assert not any(kind in wrong for kind in ("Average", *apart))


def test_a_backward_pass_that_goes_around_accelerate(tmp_path: Path, forks: Forks) -> None:
    program = """\
    import torch
    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    net = torch.nn.Linear(4, 1)
    net, optimizer = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))
    for backward in (accelerator.backward, torch.Tensor.backward):
        for _ in range(2):
            with accelerator.accumulate(net):
                backward(net(torch.ones(2, 4)).mean())
                optimizer.step()
                optimizer.zero_grad()
    """
    shown, (trace,) = forks.watched(tmp_path, program)
    assert (shown, trace.trouble, trace.steps, dict(trace.oddities)) == ("", "", 2, {"raw-backward": 1})


@pytest.mark.parametrize("divided", ["/ 2", "* 0.5"])
def test_a_program_that_divides_its_loss_itself(divided: str, tmp_path: Path, forks: Forks) -> None:
    program = f"""\
    import torch
    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    net = torch.nn.Linear(4, 1)
    net, optimizer = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))
    for _ in range(2):
        with accelerator.accumulate(net):
            (net(torch.ones(2, 4)).mean() {divided}).backward()
            optimizer.step()
            optimizer.zero_grad()
    """
    shown, (trace,) = forks.watched(tmp_path, program)
    assert (shown, trace.trouble, trace.steps, dict(trace.oddities)) == ("", "", 1, {"raw-alike": 1})


STEPS = """\
import os, sys, torch, torch.distributed as distributed
import torch._dynamo  # the first optimizer of each fork would
from torch.distributed.optim import ZeroRedundancyOptimizer

net = torch.nn.Linear(4, 1)


class Sharpness(torch.optim.Optimizer):
    def __init__(self, weights):
        self.inner = torch.optim.SGD(weights, lr=0.1)
        super().__init__(self.inner.param_groups, {})

    @torch.no_grad()
    def step(self, closure):
        self.inner.step()
        self.zero_grad()
        with torch.enable_grad():
            closure()
        self.inner.step()


class Extended(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)


def backward():
    net.zero_grad()
    loss = net(torch.ones(2, 4)).square().mean()
    loss.backward()
    return loss


def train(kind):
    distributed.init_process_group("gloo", init_method="file://" + os.path.abspath(kind), rank=0, world_size=1)
    torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)  # from now on its steps are told
    optimizer = {
        "zero": lambda: ZeroRedundancyOptimizer(net.parameters(), torch.optim.Adam, lr=0.1),
        "sharpness": lambda: Sharpness(list(net.parameters())),
        "extended": lambda: Extended(net.parameters(), lr=0.1),
        "closure": lambda: torch.optim.LBFGS(net.parameters(), max_iter=2),
    }[kind]()
    try:
        optimizer.step(lambda: 1 / 0)
    except ZeroDivisionError:
        pass
    for _ in range(3):
        backward()
        optimizer.step(backward)


for kind in ("zero", "sharpness", "extended", "closure"):
    if not os.fork():
        train(kind)
        os._exit(0)
    os.wait()
"""


@pytest.mark.few(0)
def test_a_step_within_a_step_is_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, traces = watched(tmp_path, STEPS)
    assert (shown, len(traces)) == ("", 4)
    for trace in traces:
        assert (trace.trouble, trace.steps, len(trace.windows), len(trace.settings)) == ("", 3, 4, 1), trace.optimizers
        assert trace.parameters["Linear.weight"].moved and set(trace.steppers) == {0} and trace.rank == "0"
        assert not trace.oddities
    monkeypatch.setenv("FIXER_STEPS", "2")
    (tmp_path / "short").mkdir()
    _, ended = watched(tmp_path / "short", STEPS)
    assert [trace.steps for trace in ended] == [2, 2, 2, 2]


SHARDED = """\
import os, sys, torch, torch.distributed as distributed
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.device_mesh import init_device_mesh


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.idle, self.table, self.head = torch.nn.Embedding(40, 4), torch.nn.Embedding(40, 4), torch.nn.Linear(4, 1)

    def forward(self, ids):
        return self.head(self.idle(ids) * IDLE + self.table(ids)).mean()


def run(rank, kind):
    distributed.init_process_group("gloo", init_method="file://" + os.path.abspath("store"), rank=rank, world_size=2)
    torch.manual_seed(0)
    net = Net()
    if kind == "fully_shard":
        fully_shard(net, mesh=init_device_mesh("cpu", (2,)))
    elif kind != "whole":
        net = FullyShardedDataParallel(net, use_orig_params=kind == "original", device_id=torch.device("cpu"))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        optimizer.zero_grad()
        net(torch.arange(4)).backward()
        optimizer.step()
    distributed.destroy_process_group()


torch.multiprocessing.start_processes(run, args=(KIND,), nprocs=2, start_method="fork")
"""


@pytest.mark.parametrize("kind", ["fully_shard", "original", "flat", "whole"])
def test_a_part_of_a_parameter_is_no_parameter(kind: str, tmp_path: Path, forks: Forks) -> None:
    """One rank holds the rows of an embedding that no batch touches; of the idle one, both ranks hold such rows."""
    for name, factor in (("right", "1"), ("wrong", "0")):
        place = tmp_path / name
        place.mkdir()
        shown, traces = forks.watched(place, SHARDED.replace("IDLE", factor).replace("KIND", repr(kind)))
        assert (shown, [trace.rank for trace in traces], [t.trouble for t in traces]) == ("", ["0", "1"], ["", ""])
        verdict = examined(Run("exit", 0, 1.0, "", traces))
        if name == "right" or kind == "flat":
            assert verdict.word == "healthy" and not verdict.notes, verdict
        else:
            assert verdict.wrong[0].startswith("each rank: 1 of 4 parameters has a gradient of zero at every step: ")
            assert verdict.wrong[0].endswith("idle.weight")


def test_optimizers_are_numbered_after_others_are_gone(tmp_path: Path, forks: Forks) -> None:
    program = """\
    import torch

    def train(lr):
        net = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=lr)
        for _ in range(2):
            optimizer.zero_grad()
            net(torch.ones(2, 4)).mean().backward()
            optimizer.step()

    train(0.1)
    train(0.2)
    """
    shown, (trace,) = forks.watched(tmp_path, program)
    assert (shown, trace.trouble, trace.steppers) == ("", "", (0, 0, 1, 1))
    assert [groups[0]["lr"] for groups in trace.settings] == [0.1, 0.2]


def test_the_step_at_which_a_gradient_is_first_nan(tmp_path: Path, forks: Forks) -> None:
    program = """\
    import torch
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(5):
        optimizer.zero_grad()
        (net(torch.ones(2, 4)).mean() * (float("nan") if step > 1 else 1)).backward()
        optimizer.step()
    """
    shown, (trace,) = forks.watched(tmp_path, program)
    assert (shown, trace.trouble, trace.parameters["Linear.weight"].non_finite_at) == ("", "", 3)
    wrong = examined(Run("exit", 0, 1.0, "", (trace,))).wrong
    assert wrong[0].startswith("2 of 2 parameters get a gradient that is inf or nan, first at step 3: Linear.weight")
    assert wrong[1] == "3 of 5 losses are inf or nan, the first is loss 3"


TRAINER = """\
import torch, lightning.pytorch as pl
from lightning.pytorch.plugins import MixedPrecision
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
pl.seed_everything(1, verbose=False)
quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)


def fit(module, loader, *more, **options):
    pl.Trainer(max_epochs=1, accelerator="cpu", devices=1, **quiet, **options).fit(module, loader, *more)
"""
RUNS = {
    "decoder": """\
        import torch
        from decoder import Decoder
        model = Decoder(layers=2)
        model.freeze_embeddings()
        optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
        for _ in range(2):
            ids = torch.randint(0, 256, (2, 16))
            optimizer.zero_grad()
            model(ids, ids).backward()
            optimizer.step()
        """,
    "train_gan": f"""\
        {textwrap.indent(TRAINER, " " * 8).strip()}
        from train_gan import AdversarialAutoencoder
        plugin = MixedPrecision("16-mixed", "cpu", scaler=torch.amp.GradScaler("cpu", init_scale=1024.0))
        images = TensorDataset(torch.rand(4, 1, 28, 28), torch.zeros(4))
        fit(AdversarialAutoencoder(), DataLoader(images, batch_size=2), plugins=[plugin])
        """,
    "lion": """\
        import torch
        from lion import Lion
        torch.manual_seed(0)
        model, x = torch.nn.Linear(4, 1), torch.ones(8, 4)
        optimizer = Lion(model.parameters())
        def closure():
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            return loss
        for _ in range(2):
            optimizer.step(closure)
        """,
    "tagger": f"""\
        {textwrap.indent(TRAINER, " " * 8).strip()}
        from tagger import Tagger
        tokens = torch.randint(1, 100, (4, 10))
        tokens[:, 7:] = 0
        loader = DataLoader(TensorDataset(tokens, torch.randint(0, 12, (4, 10))), batch_size=2)
        fit(Tagger(), loader, loader, precision="bf16-mixed")
        """,
    "diffusion": f"""\
        {textwrap.indent(TRAINER, " " * 8).strip()}
        from diffusion import SelfConditionedDiffusion
        loader = DataLoader(TensorDataset(torch.randn(8, 16)), batch_size=2)
        fit(SelfConditionedDiffusion(), loader, precision="bf16-mixed")
        """,
}

QUICK_END = "import os\nos._exit(0)  # torch is not taken apart, which takes a second and more\n"


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Path]:
    """The demo project in a repository of its own, as it is before and after the test."""
    files = {path.name: path.read_bytes() for path in sorted(DEMO.glob("*.*")) if path.is_file()}
    runs = {f"run_{name}.py": textwrap.dedent(program) + QUICK_END for name, program in RUNS.items()}
    root = repository(tmp_path / "demo", {**files, **runs})
    before = checkout_state(root)
    yield root
    shutil.rmtree(root / "__pycache__", ignore_errors=True)
    assert checkout_state(root) == before


def verified(root: Path, command: str, *arguments: str, path: str = str(CHECKOUT)) -> dict[str, Any]:
    """The JSON that the command line answers."""
    environment = {"OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    answer = process("verify", "--run", command, "--format", "json", *arguments, at=root, environment=environment)
    assert answer.out, answer.err
    told: dict[str, Any] = json.loads(answer.out)
    assert answer.code == {"refuted": 1, "numbers-differ": 1, "unhealthy": 1, "could-not-run": 2}.get(
        told["verdict"], 0
    )
    return told


@contextmanager
def changed(file: Path, text: str) -> Iterator[None]:
    """Another text in a file, for a while."""
    before = file.read_bytes()
    file.write_text(textwrap.dedent(text))
    try:
        yield
    finally:
        file.write_bytes(before)


@pytest.mark.parametrize(
    ("name", "rules", "symptom"),
    [
        ("decoder", "CKP", "no gradient reaches 14 of 16 parameters: Decoder.layers.0.input_layernorm.weight"),
        ("train_gan", "PL", "Attempted unscale_ but _scale is None"),
        ("lion", "GRD", "element 0 of tensors does not require grad and does not have a grad_fn"),
        ("tagger", "ATT", "expected scalar type Float but found BFloat16"),
    ],
)
@pytest.mark.few(2)
def test_the_demo_is_proved(name: str, rules: str, symptom: str, demo: Path) -> None:
    told = verified(demo, f'"{sys.executable}" run_{name}.py', "--select", rules, "--unsafe-fixes")
    assert told["verdict"] == "proved", told["summary"]
    assert any(symptom in sentence for sentence in told["gone"]) and not told["new"]
    assert f"before: {told['gone'][0].partition(': Dec')[0].rstrip('.')}" in told["summary"]
    after = told["after"]["processes"][0]
    assert after["steps"] > 0 and all(page["present"] == page["looks"] for page in after["parameters"].values())


def test_where_no_rule_has_a_fix(demo: Path) -> None:
    program = """\
        import torch
        encoder, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            head(encoder(torch.ones(2, 4)).detach()).mean().backward()
            optimizer.step()
        """
    with changed(demo / "run_lion.py", program):
        told = verified(demo, f'"{sys.executable}" run_lion.py', "run_lion.py")
    names = "Linear.weight, Linear.bias"
    assert (told["verdict"], told["after"]) == ("unhealthy", None)
    assert told["wrong"] == [f"no gradient reaches 2 of 4 parameters: {names}"] == [told["summary"]]


STILL = """\
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).to(torch.{dtype})
    for weight in net.parameters():
        torch.nn.init.constant_(weight, 0.5)
        weight.register_hook(lambda gradient: gradient * {factor})
    optimizer = torch.optim.AdamW(net.parameters(), lr={lr}, weight_decay=0.0)
    scaler = torch.amp.GradScaler("cpu", enabled={scaled})
    for _ in range(6):
        optimizer.zero_grad()
        loss = net(torch.randn(4, 8, dtype=torch.{dtype})).float().square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
"""


UNMOVED = "nothing is trained: no step moves any of 4 parameters"


@pytest.mark.parametrize(
    ("dtype", "lr", "factor", "verdict", "said"),
    [
        (
            *("bfloat16", 1e-5, 1, "unhealthy"),
            f"{UNMOVED} (bfloat16) at a learning rate of 1e-05; updates smaller than the spacing of bfloat16 numbers",
        ),
        ("float32", 1e-12, 1, "unhealthy", f"{UNMOVED} (float32) at a learning"),
        ("bfloat16", 1e-2, 1, "healthy", ""),
        (
            *("bfloat16", 0.0, 1, "healthy"),
            "no step moves a parameter: the learning rate was 0 at each step that was looked at",
        ),
        (
            *("float32", 1e-2, 'float("inf")', "healthy"),
            "the gradient scaler left out all 6 steps, since gradients were inf or nan, so that nothing has moved yet",
        ),
    ],
)
@pytest.mark.few(3)
def test_a_run_in_which_nothing_moves(
    dtype: str, lr: float, factor: object, verdict: str, said: str, tmp_path: Path
) -> None:
    program = STILL.format(dtype=dtype, lr=lr, factor=factor, scaled=factor != 1)
    root = write(tmp_path, {"train.py": textwrap.dedent(program)})
    told = verified(root, f'"{sys.executable}" train.py')
    assert told["verdict"] == verdict, told
    assert [each.partition(said)[0] for each in (told["wrong"] or told["notes"])] == ([""] if said else [])


@pytest.mark.few(0)
def test_a_bug_that_is_gone_in_this_torch_is_not_reproduced(demo: Path) -> None:
    """Since torch 2.11 autocast no longer keeps what it cast without gradients."""
    import torch

    told = verified(
        demo, f'"{sys.executable}" run_diffusion.py', "--select", "AMP001", "--target", "torch=2.6", "--unsafe-fixes"
    )
    fixed = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 11)
    assert told["verdict"] == ("not-reproduced" if fixed else "proved")
    assert not fixed or "equal numbers" in told["summary"]


@pytest.mark.parametrize(("limit", "steps"), [("--steps=3", 3), ("--timeout=12", None)])
@pytest.mark.few(1)
def test_an_endless_training_is_compared_as_far_as_it_came(limit: str, steps: int | None, tmp_path: Path) -> None:
    program = """\
        import time, torch
        net = torch.nn.Linear(8, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-6)
        while not time.sleep(0.05):
            with torch.cpu.amp.autocast():
                loss = net(torch.ones(4, 8)).float().square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """
    root = write(tmp_path, {"train.py": textwrap.dedent(program)})
    told = verified(root, f'"{sys.executable}" {root}/train.py', "--select", "AMP002", limit)
    assert told["verdict"] == "warning-gone" and "equal" in told["summary"], told["summary"]
    taken = [told[side]["processes"][0]["steps"] for side in ("before", "after")]
    assert taken == [steps, steps] if steps else min(taken) > 3
    assert told["before"]["processes"][0]["stopped"] is (steps is not None)
    assert steps or any("what was seen until then is compared" in note for note in told["notes"])


def test_each_rank_reports(demo: Path) -> None:
    program = """\
        import torch, torch.distributed as distributed
        from torch.nn.parallel import DistributedDataParallel
        from decoder import Decoder
        distributed.init_process_group("gloo")
        model = Decoder(layers=1)
        model.freeze_embeddings()
        model = DistributedDataParallel(model, find_unused_parameters=True)
        optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
        ids = torch.randint(0, 256, (2, 16))
        model(ids, ids).backward()
        optimizer.step()
        distributed.destroy_process_group()
        """
    launch = f'"{sys.executable}" -m torch.distributed.run --standalone --nproc-per-node 2 run_lion.py'
    with changed(demo / "run_lion.py", program):
        told = verified(demo, launch, "--select", "CKP", "--unsafe-fixes")
    assert told["verdict"] == "proved", told
    assert [process["rank"] for process in told["after"]["processes"]] == ["0", "1"]
    assert told["gone"][0].startswith("each rank: no gradient reaches")


WRONG = """\
import ast

from codemods.model.edits import Safety
from codemods.rules.rule import Rule
from codemods.syntax.verbs import replace

cut = Rule(
    code="BAD001",
    name="cut-graph",
    summary="A deliberately wrong codemod",
    fix_title="Cut the graph",
    safety=Safety.SAFE,
    triggers=(("norm",),),
    module=__name__,
)


@cut.on(ast.Call)
def check(call, ctx):
    match call:
        case ast.Call(func=ast.Attribute(ast.Name("self"), "norm"), args=[ast.Name(given) as value]):
            yield cut.finding(call, fix=[replace(value, f"{given}.detach()")])


"""


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    """A `PYTHONPATH` with a deliberately wrong codemod: `self.norm(x)` becomes `self.norm(x.detach())`."""
    place = tmp_path / "site"
    files = {
        "cut_graph.py": WRONG,
        "cut_graph-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: cut-graph\nVersion: 1.0\n",
        "cut_graph-1.0.dist-info/entry_points.txt": "[fixer.rules]\ncut = cut_graph:cut\n",
    }
    return os.pathsep.join([str(write(place, files)), str(CHECKOUT)])


@pytest.mark.few(1)
def test_a_wrong_codemod_is_refuted(demo: Path, wrong: str) -> None:
    program = RUNS["decoder"].replace("model.freeze_embeddings()", "model.gradient_checkpointing = False")
    with changed(demo / "run_lion.py", program):
        told = verified(demo, f'"{sys.executable}" run_lion.py', "--select", "BAD001", path=wrong)
    assert told["verdict"] == "refuted" and told["rules"] == ["BAD001"]
    names = "Decoder.embed_tokens.weight, Decoder.layers.0.input_layernorm.weight"
    assert told["summary"].startswith(f"after the fixes: no gradient reaches 15 of 17 parameters: {names}")


RANKS = """\
import os, sys, torch, torch.distributed as distributed
from torch.utils.checkpoint import checkpoint

rank = int(os.environ["RANK"])
distributed.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=rank, world_size=2)
first, block, last = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)
first.requires_grad_(False)
net = torch.nn.ModuleList([first, block, last])
optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
for step in range(2):
    loss = last(checkpoint(block, first(torch.randn(4, 8)), use_reentrant=True)).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
distributed.destroy_process_group()
"""


@pytest.mark.few(0)
def test_recordings_of_two_ranks_are_judged_elsewhere(tmp_path: Path) -> None:
    """As on a cluster: each rank is started by itself, the code lies elsewhere on each side and cannot be written."""
    for side, text in (("before", RANKS), ("after", RANKS.replace("=True", "=False"))):
        code = write(tmp_path / f"image-{side}", {"train.py": text})
        (code / "train.py").chmod(0o444)
        code.chmod(0o555)
        where = {"WORLD_SIZE": "2", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(CHECKOUT)}
        words = (
            "probe",
            "--to",
            str(tmp_path / side),
            "--",
            sys.executable,
            str(code / "train.py"),
            str(tmp_path / f"{side}.store"),
        )
        ranks = [begun(*words, at=tmp_path, environment={**where, "RANK": rank}) for rank in "10"]
        assert [rank.wait(60) for rank in ranks] == [0, 0], [rank.communicate() for rank in ranks]
    compared = ("verify", "--before", "before", "--after", "after", "--select", "CKP002", "--format", "json")
    told = json.loads(process(*compared, at=tmp_path).out)
    assert (told["verdict"], told["rules"]) == ("proved", ["CKP002"]), told["summary"]
    assert [process["rank"] for process in told["before"]["processes"]] == ["0", "1"]
    assert told["gone"][0].partition(" of")[0] == "each rank: no gradient reaches 2"
    back = process("verify", "--before", "after", "--after", "before", at=tmp_path)
    assert back.code == 1 and back.text.startswith("refuted: after the fixes: each rank: no gradient reaches 2 of 4")
