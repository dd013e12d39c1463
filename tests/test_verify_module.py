"""`fixer verify --module`: what is seen of a module, what is said of it, and factories that misbehave."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock
from xml.etree import ElementTree

import pytest
from world import SURROUNDINGS, Result, standing_in, wait_until

from codemods.transforms import load
from codemods.verify.flow import Cut, FlowRun, FlowSide, Layer, Seen, Survey
from codemods.verify.flow_symptoms import FlowSymptom, judge
from codemods.verify.flow_symptoms import symptoms as symptoms_of
from fixer import cli
from fixer.verify.flow_report import Explained, explain

ROOT = Path(__file__).parent.parent
HEAD = "import torch\nfrom torch import nn\n\n"
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 1)

    def forward(self, x):
        h = self.first(x)
        return self.second(h)


def make():
    return Net(), torch.randn(4, 8)
"""
GOOD = HEAD + NET
CUT = GOOD.replace("h = self.first(x)", "with torch.no_grad():\n            h = self.first(x)")
CHECKPOINTED = """
from torch.utils.checkpoint import checkpoint


class Tail(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x)
        return self.head(x)


def make():
    return Tail(), torch.randn(4, 8)
"""


def fixer(here: Path, *arguments: str, **environment: str) -> Result:
    """`fixer verify` in this process, with the real rules."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with ExitStack() as stack:
        stack.enter_context(standing_in(here))
        stack.enter_context(mock.patch.dict(os.environ, {**SURROUNDINGS, "VIRTUAL_ENV": "", **environment}))
        stack.enter_context(mock.patch.object(tempfile, "tempdir", None))
        stack.enter_context(mock.patch.multiple(sys, stdout=out, stderr=err, argv=["fixer", "verify", *arguments]))
        end = stack.enter_context(pytest.raises(SystemExit))
        cli.main()
    out.flush()
    err.flush()
    assert isinstance(out.buffer, io.BytesIO) and isinstance(err.buffer, io.BytesIO)
    return Result(int(end.value.code or 0), out.buffer.getvalue(), err.buffer.getvalue().decode())


def watched(here: Path, text: str, *arguments: str, code: int) -> dict[str, Any]:
    """The JSON report of the factory `make` in `text`."""
    here.joinpath("case.py").write_text(text)
    done = fixer(here, "--module", "case.py:make", "--format", "json", *arguments)
    assert done.code == code, done.err + done.text
    report: dict[str, Any] = json.loads(done.text)
    return report


def symptoms(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(symptom["state"], symptom["kind"], symptom["cause"]) for symptom in report["symptoms"]]


def run(report: dict[str, Any], mode: str, precision: str, side: str = "before") -> dict[str, Any]:
    runs: list[dict[str, Any]] = report[side]["runs"]
    return next(run for run in runs if (run["mode"], run["precision"]) == (mode, precision))


pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_server")]


def test_nothing_wrong(tmp_path: Path) -> None:
    report = watched(tmp_path, GOOD, code=0)
    assert report["verdict"] == "healthy"
    assert report["symptoms"] == [] and report["after"] is None
    titles = [(run["precision"], run["mode"]) for run in report["before"]["runs"]]
    assert titles == [(p, mode) for p in ("32-true", "bf16-mixed", "16-mixed") for mode in ("train", "eval")]
    assert all(run["status"] == "ok" for run in report["before"]["runs"])
    for precision, kind in (("32-true", "float32"), ("bf16-mixed", "bfloat16"), ("16-mixed", "float16")):
        seen = run(report, "train", precision)
        assert seen["layers"]["first"]["outputs"] == [kind]
        assert set(seen["gradients"]) == {"first.weight", "first.bias", "second.weight", "second.bias"}
        assert all(norm > 0 for norm in seen["gradients"].values())


def test_gradients_are_those_of_plain_training(tmp_path: Path) -> None:
    """Watching changes no number; the scale of the scaler is divided out."""
    text = GOOD + (
        "    \n\ndef make():\n    torch.manual_seed(3)\n    x = torch.randn(4, 8)\n"
        "    return Net(), x, lambda net, x: net(x).pow(2).mean()\n"
    )
    report = watched(tmp_path, text, code=0)
    program = text + (
        "\nnet, x, loss = make()\nvalue = loss(net, x)\nvalue.backward()\n"
        "print(value.item(), *(p.grad.double().norm().item() for p in net.parameters()))\n"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    loss, *norms = map(float, printed.split())
    plain, scaled = run(report, "train", "32-true"), run(report, "train", "16-mixed")
    assert (plain["loss"], list(plain["gradients"].values())) == (loss, norms)
    assert list(scaled["gradients"].values()) == pytest.approx(norms, rel=0.05)
    assert scaled["scale"] == 1024


def test_the_layer_that_cuts_is_named(tmp_path: Path) -> None:
    report = watched(tmp_path, CUT, "--precision", "32-true", code=1)
    assert (report["verdict"], report["summary"]) == ("unhealthy", "1 symptom in 1 of 2 runs; no rule has a fix")
    assert symptoms(report) == [("there", "unreached", "the graph ends at torch.no_grad() in case.py:11")]
    assert report["symptoms"][0]["parameters"] == ["first.weight", "first.bias"]


def test_what_attention_uses_by_itself_is_not_unused(tmp_path: Path) -> None:
    text = GOOD.replace("h = self.first(x)", "h = self.first(self.attention(x, x, x)[0]).detach()").replace(
        "        self.first,", "        self.attention = nn.MultiheadAttention(8, 2)\n        self.first,"
    )
    report = watched(tmp_path, text, "--precision", "32-true", code=1)
    assert [symptom["kind"] for symptom in report["symptoms"]] == ["unreached"]
    assert "attention.out_proj.weight" in report["symptoms"][0]["parameters"]


def test_half_that_the_device_lacks_is_no_symptom(tmp_path: Path) -> None:
    text = HEAD + "def make(): return nn.LSTM(4, 8, batch_first=True), torch.randn(2, 5, 4)\n"
    report = watched(tmp_path, text, "--precision", "32-true,16-mixed", code=0)
    assert run(report, "train", "16-mixed")["status"] in ("ok", "unsupported")


def test_detached_inside(tmp_path: Path) -> None:
    text = GOOD.replace("h = self.first(x)", "h = self.inner(x)").replace(
        "        self.first,", "        self.inner = Inner()\n        self.first,"
    )
    inner = "class Inner(nn.Linear):\n    def __init__(self):\n        super().__init__(8, 8)\n\n"
    text = text.replace(
        "class Net", inner + "    def forward(self, x):\n        return super().forward(x).detach()\n\n\nclass Net"
    )
    report = watched(tmp_path, text, "--precision", "32-true", code=1)
    cause = "the graph ends at .detach() in case.py:10 (called in inner)"
    assert symptoms(report) == [("there", "unreached", cause), ("there", "unused", "")]
    assert report["symptoms"][1]["sentence"] == "never called: first"


def test_reentrant_checkpointing_is_repaired(tmp_path: Path) -> None:
    """Only the warning of torch tells; the first block of three loses its gradient, the fix brings it back."""
    report = watched(tmp_path, HEAD + CHECKPOINTED, "--precision", "32-true,bf16-mixed", code=0)
    assert report["verdict"] == "proved"
    assert [(s["state"], s["kind"], s["rules"]) for s in report["symptoms"]] == [("gone", "unreached", ["CKP001"])]
    assert report["symptoms"][0]["parameters"][:1] == ["blocks.0.weight"]
    assert run(report, "train", "bf16-mixed")["gradients"]["blocks.0.weight"] is None
    assert run(report, "train", "bf16-mixed", "after")["gradients"]["blocks.0.weight"] > 0
    assert tmp_path.joinpath("case.py").read_text() == HEAD + CHECKPOINTED


def test_reentrant_checkpointing_that_works_is_left_alone(tmp_path: Path) -> None:
    """Its first pass runs without gradients, which is no symptom where the second has them."""
    text = HEAD + CHECKPOINTED.replace("checkpoint(block, x)", "checkpoint(block, x, use_reentrant=True)").replace(
        "torch.randn(4, 8)", "torch.randn(4, 8, requires_grad=True)"
    )
    report = watched(tmp_path, text, "--precision", "32-true", code=0)
    assert report["verdict"] == "healthy"
    assert run(report, "train", "32-true")["layers"]["blocks.0"]["calls_without_grad"] > 0


def test_what_only_evaluation_shows(tmp_path: Path) -> None:
    """The encoder's fused path: watching must not switch it off."""
    text = HEAD + (
        "class Tagger(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)\n"
        "        self.encoder = nn.TransformerEncoder(layer, 2)\n\n"
        "    def forward(self, x, padding):\n        return self.encoder(x, src_key_padding_mask=padding)\n\n\n"
        "def make():\n    padding = torch.zeros(2, 5, dtype=torch.bool)\n    padding[0, 3:] = True\n"
        "    return Tagger(), {'x': torch.randn(2, 5, 16), 'padding': padding}\n"
    )
    report = watched(tmp_path, text, "--precision", "32-true,bf16-mixed", code=1)
    assert symptoms(report) == [("there", "error", "training in the same precision runs")]
    assert report["symptoms"][0]["runs"] == ["eval, bf16-mixed"]
    assert "encoder.layers.0" in report["symptoms"][0]["sentence"]
    told = "ATT001 knows the message, and finds nothing here; its fix elsewhere: keep the encoder off its fused path"
    assert report["symptoms"][0]["explanation"].startswith(told)
    within = "        with torch.autocast('cpu', dtype=torch.bfloat16):\n            return self.encoder"
    text = text.replace("        return self.encoder", within).replace(
        "def make",
        "def check(net, batch):\n    net.eval()\n    with torch.no_grad():\n        net(**batch)\n\n\ndef make",
    )
    report = watched(tmp_path, text, "--precision", "32-true", code=1)
    assert report["symptoms"][0]["explanation"] == "explained by ATT001 (case.py:8)"
    command = "unsafe fixes of ATT001 were not tried: fixer verify --unsafe-fixes --module case.py:make"
    assert report["summary"] == f"1 symptom in 1 of 2 runs; {command}"
    assert not any("unsafe" in note for note in report["notes"])


def test_a_rule_is_named_where_its_message_was_raised() -> None:
    """A warning of the run is not shown, and may be about something else."""
    message = "element 0 of tensors does not require grad and does not have a grad_fn"
    raised = FlowSymptom("error", f"raises RuntimeError: {message}", ("train, 32-true",), "there", said=(message,))
    told = explain(raised, load(), (), frozenset())
    assert "GRD001" in told.rules and "know the message, and find nothing here" in told.sentence
    beside = replace(raised, kind="unreached", sentence="no gradient reaches 1 parameter: a")
    assert explain(beside, load(), (), frozenset()) == Explained(beside)


def test_two_precisions_have_one_sentence() -> None:
    """Types that differ between them are left out."""
    kinds = {"32-true": "FloatTensor", "bf16-mixed": "CPUBFloat16Type"}
    error = "RuntimeError: changed in place: [torch.{} [6, 11]]"
    runs = [FlowRun("cpu", name, "train", status="error", error=error.format(kind)) for name, kind in kinds.items()]
    (symptom,) = symptoms_of(FlowSide(survey=Survey("Net"), runs=runs), None)
    assert symptom.sentence == "raises RuntimeError: changed in place: […[6, 11]]" and len(symptom.runs) == 2


def test_unregistered_and_non_finite(tmp_path: Path) -> None:
    text = GOOD.replace("self.second(h)", "self.second(self.hidden[0](h) / 0 * 0)").replace(
        "        self.first,", "        self.hidden = [nn.Linear(8, 8)]\n        self.first,"
    )
    report = watched(tmp_path, text, "--precision", "32-true", code=1)
    told = {symptom["kind"]: symptom["sentence"] for symptom in report["symptoms"]}
    assert told["non-finite"] == "nan or inf first appears in the input of second"
    assert told["unregistered"].startswith("Linear (2 parameters) in Net.hidden is called at case.py:13 and is not")
    assert run(report, "train", "32-true")["loss"] == "nan"


def test_a_mask_is_no_symptom(tmp_path: Path) -> None:
    """Logits that are masked with -inf, and rows of nan that a loss leaves out."""
    text = GOOD.replace(
        "return self.second(h)", "return self.second(h).masked_fill(x[:, :1] > 0, float('-inf'))"
    ).replace("torch.randn(4, 8)\n", "torch.randn(4, 8), lambda net, x: net(x)[x[:, :1] <= 0].sum()\n")
    report = watched(tmp_path, text, "--precision", "32-true", code=0)
    assert report["symptoms"] == []
    assert not run(report, "train", "32-true")["layers"][""]["finite"]


def test_a_branch_that_is_drawn_at_random(tmp_path: Path) -> None:
    text = GOOD.replace("h = self.first(x)", "h = self.first(x) if torch.rand(()) < 0.5 else self.first(x).detach()")
    report = watched(tmp_path, text, "--precision", "32-true", code=0)
    (symptom,) = report["symptoms"]
    assert (symptom["kind"], symptom["parameters"]) == ("sometimes", ["first.weight", "first.bias"])
    assert run(report, "train", "32-true")["passes"] == 4


def test_lightning_with_three_optimizers(tmp_path: Path) -> None:
    """The raw backward fails in 16-mixed alone; the fix brings gradients to every parameter in every precision."""
    source = ROOT / "tests" / "before_after" / "demo" / "train_gan.py"
    tmp_path.joinpath("train_gan.py").write_bytes(source.read_bytes())
    text = (
        "import torch\n\n\ndef make():\n    from train_gan import AdversarialAutoencoder\n\n"
        "    return AdversarialAutoencoder(), (torch.rand(2, 1, 28, 28), torch.zeros(2))\n"
    )
    report = watched(tmp_path, text, "--precision", "32-true,16-mixed", "--unsafe-fixes", "--select", "PL001", code=0)
    assert report["verdict"] == "proved"
    (symptom,) = report["symptoms"]
    assert symptom["runs"] == ["train, 16-mixed"] and symptom["rules"] == ["PL001"]
    assert "Attempted unscale_ but _scale is None" in symptom["sentence"]
    for precision in ("32-true", "16-mixed"):
        assert None not in run(report, "train", precision, "after")["gradients"].values()
    assert run(report, "eval", "32-true")["status"] == "absent"


BAD = {
    "raises": (
        "def make():\n    raise KeyError('config')\n",
        "make() of case.py raised KeyError: 'config' at case.py:2",
    ),
    "exits": ("def make():\n    raise SystemExit(0)\n", "make() of case.py raised SystemExit: 0 at case.py:2"),
    "none": (
        "def make(): pass\n",
        "make() must return a module and one batch: `return model, batch`; it returned None",
    ),
    "no batch": (HEAD + "def make(): return nn.Linear(1, 1), 'x'\n", "there is no tensor in the batch, str"),
    "no module": (
        HEAD + "def make(): return torch.ones(1), torch.ones(1)\n",
        "the first is Tensor, no torch.nn.Module",
    ),
    "missing": ("def build(): pass\n", "case.py has no function make; it has build"),
    "import": ("import no_such_package\n", "case.py cannot be imported: ModuleNotFoundError: No module named"),
    "syntax": ("def make(:\n", "case.py cannot be imported: SyntaxError: invalid syntax"),
    "input": ("def make(): return input()\n", "make() of case.py raised EOFError: EOF when reading a line"),
    "hangs": ("import time\ndef make(): time.sleep(60)\n", "ran longer than 4 s"),
    "killed": ("import os\ndef make(): os.kill(os.getpid(), 9)\n", "the child process was ended by signal 9"),
    "quits": ("import os\ndef make(): os._exit(3)\n", "the child process failed"),
    "a loss of text": (
        GOOD + "\ndef make(): return nn.Linear(1, 1), torch.ones(1, 1), lambda net, batch: 'low'\n",
        "the loss that the factory returned must give one number, a tensor; it gave str",
    ),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.few(4)
def test_bad_factories(name: str, tmp_path: Path) -> None:
    text, sentence = BAD[name]
    arguments = ("--timeout", "4") if name == "hangs" else ()
    report = watched(tmp_path, text, "--precision", "32-true", *arguments, code=2)
    assert report["verdict"] == "could-not-run"
    assert sentence in report["summary"]


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forks, daemons and files: the checkout stays as it was, no process lives on, no directory stays."""
    monkeypatch.undo()  # a server of its own
    project, scratch = tmp_path / "project", tmp_path / "tmp"
    project.mkdir()
    scratch.mkdir()
    text = GOOD + (
        "    \n\nimport os, subprocess, sys\n\n\ndef make():\n    os.fork()\n"
        "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(333)'], start_new_session=True)\n"
        "    open('written', 'w').write('x')\n    print('x' * 1000000)\n    return Net(), torch.randn(4, 8)\n"
    )
    project.joinpath("case.py").write_text(text)
    done = fixer(project, "--module", "case.py:make", "--precision", "32-true", TMPDIR=str(scratch))
    assert done.code == 0, done.text + done.err
    assert [path.name for path in project.iterdir()] == ["case.py"]
    assert list(scratch.iterdir()) == []
    assert _sleepers() == []


def test_nothing_is_left_behind_by_a_killed_fixer(tmp_path: Path) -> None:
    project, scratch = tmp_path / "project", tmp_path / "tmp"
    project.mkdir()
    scratch.mkdir()
    project.joinpath("case.py").write_text("import time\ndef make(): time.sleep(333)\n")
    program = "import sys; from fixer.cli import main; main()"
    command = [sys.executable, "-c", program, "verify", "--module", "case.py:make", "--timeout", "5"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch), "VIRTUAL_ENV": ""}
    process = subprocess.Popen(command, cwd=project, env=environment, stderr=subprocess.DEVNULL)
    wait_until(lambda: list(scratch.glob("fixer-flow-*/tmp/*/output.txt")))
    process.kill()
    process.wait()
    wait_until(lambda: not list(scratch.iterdir()))


def _sleepers() -> list[str]:
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    return [command.decode() for command in commands if b"time.sleep(333)" in command]


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        ("case.py", "name a file and a function in it, as in --module case.py:make"),
        ("case.py:", "name a file and a function in it"),
        ("gone.py:make", "there is no file gone.py"),
        ("notes.txt:make", "notes.txt is not a Python file (.py)"),
        ("../outside.py:make", "lies outside of"),
    ],
)
def test_no_such_factory(module: str, sentence: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for path in (project / "case.py", project / "notes.txt", tmp_path / "outside.py"):
        path.write_text("")
    done = fixer(project, "--module", module)
    assert (done.code, done.text) == (2, "")
    assert done.err.startswith(f"fixer: --module {module}: ") and sentence in done.err


def test_bad_options(tmp_path: Path) -> None:
    tmp_path.joinpath("case.py").write_text(GOOD)
    for arguments, sentence in (
        (("--module", "case.py:make", "--run", "true"), "--run and --module are two ways to verify: give one of them"),
        (
            ("--module", "case.py:make", "--precision", "fp8"),
            "--precision fp8: not one of 32-true, bf16-mixed, 16-mixed",
        ),
        (("--run", "true", "--precision", "32-true"), "--precision requires --module"),
    ):
        done = fixer(tmp_path, *arguments)
        assert done.code == 2 and sentence in done.err


def test_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # a server of its own
    venv.create(tmp_path / "empty")
    python = str(tmp_path / "empty" / "bin" / "python")
    tmp_path.joinpath("case.py").write_text(GOOD)
    done = fixer(tmp_path, "--module", "case.py:make", "--python", python)
    assert done.code == 2
    assert f"fixer: {python}: No module named 'torch'; " in done.err
    assert "pip install 'ampfix[verify]'" in done.err


def test_what_people_see(tmp_path: Path) -> None:
    tmp_path.joinpath("case.py").write_text(HEAD + CHECKPOINTED)
    options = ("--module", "case.py:make", "--precision", "32-true")
    shown = fixer(tmp_path, *options).text
    assert "case.py:make → Tail: 6 layers, 8 parameters, 225 numbers; torch" in shown
    assert re.search(r"^train  \d/8 → 8/8 *$", shown, re.MULTILINE)
    assert re.search(r"0–2 Linear ×3 +f32 +none  grad off +\d\.\de[+-]\d\d\b", shown)
    assert len(re.findall("no gradient reaches", shown)) == 1
    told = "proved: 1 symptom gone; with the fixes 2 of 2 runs without an exception, 8 of 8 parameters with a gradient"
    assert shown.splitlines()[-1] == told
    assert "gone with the fixes of CKP001 (case.py:16)" in shown
    text = fixer(tmp_path, *options, "--format", "markdown").text
    assert re.search(r"^\| train, 32-true \| \d/8 \| 8/8 \|$", text, re.MULTILINE)
    done = fixer(tmp_path, *options, "--format", "html", "--output", "report.html")
    page = tmp_path.joinpath("report.html").read_text()
    assert done.text == "" and page.startswith("<!doctype html>")
    assert not re.search(r"<script|https?://|<link|@import|url\(", page)
    (drawing,) = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    titles = [title.text for title in ElementTree.fromstring(drawing).iter("title")]
    assert len(titles) == 4
    assert titles[0] and titles[0].startswith("blocks.0 Linear: before no gradient; after ")


LAYERS = [Layer("", "Net"), Layer("a", "Linear", ["a.w", "a.b"]), Layer("b", "Linear", ["b.w"])]


def side(*runs: FlowRun, **fields: Any) -> FlowSide:
    return FlowSide(survey=Survey("Net", layers=LAYERS), runs=list(runs), **fields)


def trained(norm: float | None = 1.0, **fields: Any) -> FlowRun:
    """A training run in which `a` got a gradient of that norm."""
    seen = {"a": Seen(1), "b": Seen(1), "": Seen(1)}
    return FlowRun(**{"gradients": {"a.w": norm, "a.b": norm, "b.w": 1.0}, "layers": seen, "loss": 0.5, **fields})


FAILED = FlowRun(status="error", error="RuntimeError: boom", place="net.py:3", lines=["net.py:3"])


@pytest.mark.parametrize(
    ("before", "after", "states", "verdict", "summary"),
    [
        (
            side(trained()),
            None,
            [],
            "healthy",
            "1 of 1 run without an exception, 3 of 3 parameters with a gradient",
        ),
        (
            side(trained()),
            side(trained()),
            [],
            "not-reproduced",
            "nothing wrong with or without the fixes of X: 1 of 1",
        ),
        (side(trained()), side(trained()), [], "not-reproduced", "losses and gradients are equal on both sides"),
        (side(trained()), side(trained(2.0)), [], "not-reproduced", "losses or gradients differ in train, 32-true"),
        (side(trained(None)), None, ["there"], "unhealthy", "1 symptom in 1 of 1 run; look there"),
        (
            side(trained(None)),
            side(trained(None)),
            ["there"],
            "unrepaired",
            "1 symptom in 1 of 1 run, as without the fixes of X; look there",
        ),
        (side(trained(None)), side(trained()), ["gone"], "proved", "1 symptom gone; with the fixes 1 of 1 run without"),
        (
            side(trained()),
            side(trained(None)),
            ["new"],
            "refuted",
            "the fixes of X brought 1 symptom",
        ),
        (side(trained()), side(FAILED), ["new"], "refuted", "the fixes of X brought 1 symptom"),
        (
            side(FAILED),
            side(trained()),
            ["gone"],
            "proved",
            "with the fixes 1 of 1 run without an exception, 3 of 3 parameters",
        ),
        (
            side(FAILED),
            side(trained(None)),
            ["gone", "uncovered"],
            "proved",
            "1 of 3 parameters with a gradient; 1 symptom left; look there",
        ),
        (side(FAILED), side(FAILED), ["there"], "unrepaired", "1 symptom in 1 of 1 run, as without"),
        (side(trouble="make() raised"), None, [], "could-not-run", "make() raised"),
        (side(trouble="make() raised"), side(trouble="make() raised"), [], "could-not-run", "make() raised"),
        (side(trouble="make() raised"), side(trained()), [], "proved", "before: make() raised; after: 1 of 1 run"),
        (side(trained()), side(trouble="make() raised"), [], "refuted", "after the fixes of X: make() raised"),
        (
            side(trained(missed={"a.w": 2}, passes=4)),
            None,
            ["there"],
            "healthy",
            "1 of 1 run without an exception, 3 of 3 parameters with a gradient",
        ),
        (
            side(trained(), trained(1 / 1000, precision="16-mixed", scale=1024.0, gradients={"a.w": 1 / 1000})),
            None,
            ["there"],
            "unhealthy",
            "1 symptom in 1 of 2 runs; look there",
        ),
        (
            side(FlowRun(status="unsupported"), FlowRun(status="absent", mode="eval")),
            None,
            [],
            "healthy",
            "0 of 0 runs",
        ),
    ],
)
def test_verdicts(before: FlowSide, after: FlowSide | None, states: list[str], verdict: str, summary: str) -> None:
    found = symptoms_of(before, after)
    assert [symptom.state for symptom in found] == states
    word, sentence = judge(before, after, found, fixes="the fixes of X", advice="look there")
    assert word == verdict
    assert summary in sentence


def test_the_next_cut_after_a_layer_is_its_cause() -> None:
    """Not one that came before it, as that of position tables that nobody differentiates."""
    seen = {"rotary": Seen(1), "a": Seen(1), "c": Seen(1), "b": Seen(1)}
    cuts = [Cut("rotary", "inside", "net.py:1"), Cut("c", "inside", "net.py:9")]
    (symptom,) = symptoms_of(side(trained(None, layers=seen, cuts=cuts)), None)
    assert symptom.cause == "c is the first to return an output without requires_grad (its forward: net.py:9)"
