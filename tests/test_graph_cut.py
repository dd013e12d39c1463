"""Where `fixer verify --module` finds the end of a graph, and where it finds nothing wrong."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from test_verify_module import watched

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_server")]

MODULE = """\
import copy
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
        self.head = nn.Linear(8, 8)
        {more}

    def forward(self, x):
        {forward}


def make():
    net = Net()
    {made}
    return net, torch.randn(4, 8), {loss}
"""
ENCODER = ("encoder.0.weight", "encoder.0.bias")


@dataclass(frozen=True)
class Case:
    """A module, and what is to be said of it. `PLACE` stands for the line that holds `# here`."""

    forward: str
    cause: str = ""
    """Of the one symptom; nothing is wrong without it."""
    parameters: tuple[str, ...] = ENCODER
    more: str = ""
    made: str = ""
    loss: str = "lambda net, x: net(x).pow(2).mean()"
    top: str = ""
    helper: str = ""
    """What `helpers.py` holds."""
    kind: str = "unreached"

    def texts(self) -> dict[str, str]:
        def inner(text: str, depth: int) -> str:
            return text.strip("\n").replace("\n", "\n" + " " * depth)

        filled = MODULE.format(
            more=inner(self.more, 8), forward=inner(self.forward, 8), made=inner(self.made, 4), loss=self.loss
        )
        top = f"\n\n{self.top}\n\n\nclass Net"
        return {"case.py": filled.replace("\n\nclass Net", top) if self.top else filled, "helpers.py": self.helper}

    def places(self) -> dict[str, str]:
        """The line that holds `# here`, by file."""
        return {
            name: f"{name}:{number}"
            for name, text in self.texts().items()
            for number, line in enumerate(text.splitlines(), 1)
            if "# here" in line
        }


CUTS = {
    "detach": Case("return self.head(self.encoder(x).detach())  # here", "the graph ends at .detach() in PLACE"),
    "detach in a helper": Case(
        "import helpers\nreturn self.head(helpers.stop(self.encoder(x)))",
        "the graph ends at .detach() in PLACE",
        helper="def stop(x):\n    return x.detach()  # here\n",
    ),
    "detach in a layer": Case(
        "return self.head(self.stop(self.encoder(x)))",
        "the graph ends at .detach() in PLACE (called in stop)",
        top="class Stop(nn.Module):\n    def forward(self, x):\n        return x.detach()  # here",
        more="self.stop = Stop()",
    ),
    "argmax": Case(
        "ids = self.encoder(x).argmax(-1)  # here\nreturn self.head(self.table(ids))",
        "the graph ends at .argmax() in PLACE",
        more="self.table = nn.Embedding(8, 8)",
    ),
    "comparison": Case(
        "gate = self.encoder(x) > 0  # here\nreturn self.head(x) * gate", "the graph ends at the comparison > in PLACE"
    ),
    "numpy": Case(
        "h = self.encoder(x).detach().numpy()  # here\nreturn self.head(torch.from_numpy(h))",
        "the graph ends at .detach() in PLACE",
    ),
    "numpy, computed with": Case(
        "h = np.tanh(self.encoder(x).detach().numpy())  # here\nreturn self.head(torch.as_tensor(h))",
        "the graph seems to end at .detach() in PLACE",
    ),
    "item as a factor": Case(
        "scale = self.encoder(x).mean().item()  # here\nreturn self.head(x) * scale",
        "the graph ends at .item() in PLACE",
    ),
    "sum of items": Case(
        "total = 0.0\nfor row in self.encoder(x):\n    total += row.sum().item()  # here\n"
        "return self.head(x) * torch.tensor(total)",
        "the graph seems to end at .item() in PLACE",
    ),
    "list of items": Case(
        "h = torch.tensor([row.sum().item() for row in self.encoder(x)])  # here\nreturn self.head(x) * h[:, None]",
        "the graph ends at .item() in PLACE",
    ),
    "a tensor of a class": Case(
        "h = torch.FloatTensor([row.sum().item() for row in self.encoder(x)])  # here\n"
        "return self.head(x) * h[:, None]",
        "the graph seems to end at .item() in PLACE",
    ),
    "tensor of a tensor": Case(
        "h = torch.tensor(self.encoder(x))  # here\nreturn self.head(h)", "the graph ends at torch.tensor() in PLACE"
    ),
    "a new leaf": Case(
        "h = torch.tensor(self.encoder(x).tolist(), requires_grad=True)  # here\nreturn self.head(h)",
        "the graph ends at .tolist() in PLACE",
    ),
    "data": Case("return self.head(self.encoder(x).data)  # here", "the graph ends at .data in PLACE"),
    "no_grad": Case(
        "with torch.no_grad():  # here\n    h = self.encoder(x)\nreturn self.head(h)",
        "the graph ends at torch.no_grad() in PLACE",
    ),
    "no_grad around enable_grad": Case(
        "with torch.no_grad():  # here\n    with torch.enable_grad():\n        x = x * 2\n    h = self.encoder(x)\n"
        "return self.head(h)",
        "the graph ends at torch.no_grad() in PLACE",
    ),
    "set_grad_enabled": Case(
        "with torch.set_grad_enabled(False):  # here\n    h = self.encoder(x)\nreturn self.head(h)",
        "the graph ends at torch.set_grad_enabled(False) in PLACE",
    ),
    "inference_mode": Case(
        "with torch.inference_mode():  # here\n    h = self.encoder(x)\nreturn self.head(h.clone())",
        "the graph ends at torch.inference_mode() in PLACE",
    ),
    "decorated": Case(
        "return self.head(embed(self, x))",
        "the graph ends at @torch.no_grad() of embed() in PLACE",
        top="@torch.no_grad()  # here\ndef embed(net, x):\n    return net.encoder(x)",
    ),
    "a buffer that is written": Case(
        "h = torch.zeros(4, 8)\nfor i, row in enumerate(self.encoder(x)):\n    h.data[i] = row  # here\n"
        "return self.head(h)",
        "the graph ends at the assignment to elements in PLACE",
    ),
    "the last of two": Case(
        "h = self.encoder(x).detach()\nwith torch.no_grad():  # here\n    h = self.middle(h)\nreturn self.head(h)",
        "the graph ends at torch.no_grad() in PLACE",
        parameters=(*ENCODER, "middle.weight", "middle.bias"),
        more="self.middle = nn.Linear(8, 8)",
    ),
    "logging beside it": Case(
        "h = self.encoder(x)\nself.seen = h.mean().item()\nself.hits = (h.argmax(-1) == 0).float().mean().item()\n"
        "return self.head(h.detach())  # here",
        "the graph ends at .detach() in PLACE",
    ),
    "in the loss": Case(
        "return self.head(self.encoder(x))",
        "the graph ends at .detach() in PLACE",
        loss="lambda net, x: net.second(net(x).detach()).mean()  # here\n",
        more="self.second = nn.Linear(8, 1)",
        parameters=(*ENCODER, "head.weight", "head.bias"),
    ),
    "drawn at random": Case(
        "h = self.encoder(x)\nif torch.rand(()) < 0.5:\n    h = h.detach()  # here\nreturn self.head(h)",
        "the graph ends at .detach() in PLACE",
        kind="sometimes",
    ),
}

NOTES = {
    "an exponential average": Case(
        "with torch.no_grad():\n    target = self.teacher(x)\nreturn self.head(self.encoder(x)) - target",
        "teacher began as a copy of encoder, which is trained",
        parameters=("teacher.0.weight", "teacher.0.bias"),
        more="self.teacher = copy.deepcopy(self.encoder)",
        kind="copied",
    ),
    "a target network": Case(
        "return self.head(self.encoder(x)) - self.target(x).detach()",
        "target began as a copy of head, which is trained",
        parameters=("target.weight", "target.bias"),
        more="self.target = copy.deepcopy(self.head)",
        kind="copied",
    ),
    "an output that the loss leaves out": Case(
        "h = self.encoder(x)\nreturn self.head(h), self.second(h)",
        "nothing that is computed with them goes into the loss",
        parameters=("second.weight", "second.bias"),
        more="self.second = nn.Linear(8, 1)",
        loss="lambda net, x: net(x)[0].mean()",
        kind="unread",
    ),
    "a head that is not called": Case(
        "return self.head(self.encoder(x))", parameters=(), more="self.second = nn.Linear(8, 1)", kind="unused"
    ),
    "stochastic depth": Case(
        "h = self.encoder(x)\nif torch.rand(()) < 0.5:\n    h = h + self.middle(h)\nreturn self.head(h)",
        parameters=("middle.weight", "middle.bias"),
        more="self.middle = nn.Linear(8, 8)",
        kind="sometimes",
    ),
}

FINE = {
    "metrics": "h = self.head(self.encoder(x))\nself.seen = h.mean().item()\n"
    "self.hits = (h.argmax(-1) == 0).float().mean().item()\nreturn h",
    "straight-through": "h = self.encoder(x)\nreturn self.head(h + (h.round() - h).detach())",
    "detached beside": "h = self.encoder(x)\nreturn self.head(h - h.mean().detach())",
    "reparametrized": "h = self.encoder(x)\nreturn self.head(h + torch.randn_like(h) * h.exp())",
}


def looked_at(here: Path, case: Case, code: int) -> list[dict[str, Any]]:
    for name, text in case.texts().items():
        here.joinpath(name).write_text(text)
    report = watched(here, case.texts()["case.py"], "--precision", "32-true", "--select", "SCL001", code=code)
    found: list[dict[str, Any]] = report["symptoms"]
    return found


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.few(8)
def test_where_the_graph_ends(name: str, tmp_path: Path) -> None:
    case = CUTS[name]
    (symptom,) = looked_at(tmp_path, case, code=0 if case.kind == "sometimes" else 1)
    (place,) = case.places().values()
    assert (symptom["kind"], symptom["cause"]) == (case.kind, case.cause.replace("PLACE", place))
    assert sorted(symptom["parameters"]) == sorted(case.parameters)
    assert symptom["places"] == [place]


def test_the_line_of_a_library_and_the_line_that_called_it(tmp_path: Path) -> None:
    tmp_path.joinpath("site-packages", "ema").mkdir(parents=True)
    text = (
        "import torch\n\n\n@torch.no_grad()\ndef still(model, x):\n    return model(x)\n\n\n"
        "def stop(x):\n    return x.detach()\n"
    )
    tmp_path.joinpath("site-packages", "ema", "__init__.py").write_text(text)
    enter = "import sys\nsys.path.append('site-packages')\nimport ema\n"
    (symptom,) = looked_at(tmp_path, Case(f"{enter}return self.head(ema.stop(self.encoder(x)))"), code=1)
    assert symptom["cause"] == "the graph ends at .detach() in ema/__init__.py:10, called at case.py:19"
    (symptom,) = looked_at(tmp_path, Case(f"{enter}return self.head(ema.still(self.encoder, x))"), code=1)
    cause = "the graph ends at @torch.no_grad() of still() in ema/__init__.py:4, called at case.py:19"
    assert symptom["cause"] == cause


@pytest.mark.parametrize("name", NOTES)
def test_what_is_no_failure(name: str, tmp_path: Path) -> None:
    case = NOTES[name]
    (symptom,) = looked_at(tmp_path, case, code=0)
    assert (symptom["kind"], symptom["cause"], symptom["note"]) == (case.kind, case.cause, True)
    assert sorted(symptom["parameters"]) == sorted(case.parameters)


@pytest.mark.parametrize("name", FINE)
@pytest.mark.few(4)
def test_where_it_does_not(name: str, tmp_path: Path) -> None:
    assert looked_at(tmp_path, Case(FINE[name]), code=0) == []


def test_what_cannot_be_followed_is_not_told(tmp_path: Path) -> None:
    (symptom,) = looked_at(tmp_path, Case("return self.head(torch.vmap(self.encoder)(x).detach())"), code=1)
    assert (symptom["kind"], symptom["cause"]) == ("unreached", "")


def test_layers_that_numpy_draws(tmp_path: Path) -> None:
    """The seeds of passes are those of numpy too."""
    case = Case(
        "h = self.encoder(x)\nif np.random.rand() < 0.5:\n    h = h + self.middle(h)\nreturn self.head(h)",
        more="self.middle = nn.Linear(8, 8)",
    )
    (symptom,) = looked_at(tmp_path, case, code=0)
    assert (symptom["kind"], symptom["note"]) == ("sometimes", True)


def test_frozen_on_purpose(tmp_path: Path) -> None:
    case = Case("return self.head(self.encoder(x))", made="net.encoder.requires_grad_(False)")
    assert looked_at(tmp_path, case, code=0) == []


def test_a_second_encoder_is_no_copy(tmp_path: Path) -> None:
    case = Case(
        "with torch.no_grad():\n    other = self.second(x)\nreturn self.head(self.encoder(x) * other)",
        more="self.second = nn.Sequential(nn.Linear(8, 8), nn.Tanh())",
    )
    (symptom,) = looked_at(tmp_path, case, code=1)
    assert symptom["kind"] == "unreached"


@pytest.mark.parametrize("registered", [True, False])
def test_layers_in_a_list(registered: bool, tmp_path: Path) -> None:
    blocks = "[nn.Linear(8, 8) for _ in range(3)]"
    case = Case(
        "h = self.encoder(x)\nfor block in self.blocks:\n    h = block(h)  # here\nreturn self.head(h)",
        more=f"self.blocks = {f'nn.ModuleList({blocks})' if registered else blocks}",
    )
    found = looked_at(tmp_path, case, code=0 if registered else 1)
    text = (
        f"3 modules of class Linear (6 parameters) in Net.blocks are called at {case.places()['case.py']} and are not "
        "registered in the module: nothing optimizes them"
    )
    cause = "Net.blocks is a plain list; torch.nn.ModuleList registers the modules that it holds"
    told = [(symptom["sentence"], symptom["cause"]) for symptom in found]
    assert told == ([] if registered else [(text, cause)])


@pytest.mark.parametrize(
    ("value", "item", "holder", "cause"),
    [
        ("{'en': nn.Linear(8, 8)}", "['en']", "Net.held", "Net.held is a plain dict; torch.nn.ModuleDict registers"),
        ("[{'en': (nn.Linear(8, 8),)}]", "[0]['en'][0]", "Net.held", "Net.held is a plain list; torch.nn.ModuleList"),
        ("lambda: LOOSE", "()", "", ""),
    ],
)
def test_what_holds_a_layer(value: str, item: str, holder: str, cause: str, tmp_path: Path) -> None:
    case = Case(
        f"return self.head(self.held{item}(self.encoder(x)))",
        more=f"self.held = {value}",
        top="LOOSE = nn.Linear(8, 8)",
    )
    (symptom,) = looked_at(tmp_path, case, code=1)
    held = f" in {holder}" if holder else ""
    assert symptom["sentence"].startswith(f"Linear (2 parameters){held} is called at case.py:")
    assert symptom["cause"].startswith(cause) and bool(symptom["cause"]) == bool(cause)


@pytest.mark.parametrize(
    ("value", "better"), [("[nn.Parameter(torch.ones(8))]", "List"), ("{0: nn.Parameter(torch.ones(8))}", "Dict")]
)
def test_a_parameter_in_a_list(value: str, better: str, tmp_path: Path) -> None:
    case = Case("return self.head(self.encoder(x) * self.scales[0])", more=f"self.scales = {value}")
    (symptom,) = looked_at(tmp_path, case, code=1)
    text = "1 parameter in Net.scales is not registered in the module: nothing optimizes it"
    assert (symptom["kind"], symptom["sentence"]) == ("unregistered", text)
    assert symptom["cause"].endswith(f"torch.nn.Parameter{better} registers the parameters that it holds")


def test_every_gradient_is_zero(tmp_path: Path) -> None:
    (symptom,) = looked_at(tmp_path, Case("return torch.relu(self.head(self.encoder(x)) - 100)"), code=1)
    assert (symptom["kind"], symptom["sentence"]) == ("dead", "every gradient is zero")
    one_pass_of_four = "h = self.head(self.encoder(x))\nreturn h if torch.rand(()) < 0.3 else h * 0"
    assert looked_at(tmp_path, Case(one_pass_of_four), code=0) == []


def test_a_loss_without_a_graph(tmp_path: Path) -> None:
    case = Case("return self.head(self.encoder(x))", loss="lambda net, x: torch.tensor([net(x).mean().item()]).sum()")
    (symptom,) = looked_at(tmp_path, case, code=1)
    assert symptom["kind"] == "error" and symptom["cause"] == "the graph ends at .item() in case.py:22"


def test_an_error_in_the_backward_pass(tmp_path: Path) -> None:
    """Told once for all precisions, though torch's text names their types, and without its advice to do as was done."""
    case = Case("h = self.encoder(x)\ng = h.exp()\ng += 1\nreturn self.head(g)")
    report = watched(tmp_path, case.texts()["case.py"], code=1)
    (symptom,) = report["symptoms"]
    assert symptom["runs"] == ["train, 32-true", "train, bf16-mixed", "train, 16-mixed"]
    assert symptom["sentence"].endswith("is at version 1; expected version 0 instead")
    cause = (
        "ExpBackward0, the backward of the operation called at case.py:17, fails; a tensor of that shape is changed in"
    )
    assert symptom["cause"] == f"{cause} place at case.py:18"
    assert {"case.py:17", "case.py:18"} <= set(symptom["places"])


@pytest.mark.parametrize("loss", ["x[:, :1] * 0", "1 + x[:, :1] * 0"], ids=["nan", "inf"])
def test_gradients_that_are_not_finite(loss: str, tmp_path: Path) -> None:
    """The function that makes the first of them: what is inf there becomes nan in the functions behind it."""
    case = Case(
        "h = self.head(self.encoder(x))\nd = (h[:, None] - h[None]).pow(2).sum(-1)\nreturn d.sqrt()  # here",
        loss=f"lambda net, x: (net(x).float().diagonal()[:, None] * ({loss})).sum()",
    )
    report = watched(tmp_path, case.texts()["case.py"], code=1)
    (symptom,) = report["symptoms"]
    assert (symptom["kind"], symptom["sentence"]) == ("non-finite", "the loss is finite, and gradients are nan or inf")
    cause = (
        f"SqrtBackward0, the backward of the operation called at {case.places()['case.py']}, is the first to give nan"
    )
    assert symptom["cause"] == f"{cause} or inf"
    assert len(symptom["runs"]) == 3


def test_gradients_of_a_trainer_that_are_not_finite(tmp_path: Path) -> None:
    case = Case("return self.head(self.encoder(x)) * 0")
    text = (
        case.texts()["case.py"]
        .replace("class Net(nn.Module)", "class Net(lightning.LightningModule)")
        .replace("import copy\n", "import copy\nimport lightning\n")
        .replace("torch.randn(4, 8), lambda net, x: net(x).pow(2).mean()", "torch.randn(4, 8)")
        + """
def step(self, x, number):
    return self(x).pow(2).sum(-1).sqrt().sum()


Net.training_step = step
Net.configure_optimizers = lambda self: torch.optim.SGD(self.parameters(), 0.1)
"""
    )
    (symptom,) = watched(tmp_path, text, "--precision", "32-true", code=1)["symptoms"]
    assert symptom["kind"] == "non-finite" and symptom["cause"].startswith(
        "SqrtBackward0, the backward of the operation"
    )


def test_trackers_are_offline(tmp_path: Path) -> None:
    case = Case("assert __import__('os').environ['WANDB_MODE'] == 'offline'\nreturn self.head(self.encoder(x))")
    assert looked_at(tmp_path, case, code=0) == []
