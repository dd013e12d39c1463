"""What the project's versions do to findings: packaging files as people write them, rules through the engine."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from memory import Memory
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from codemods.engine.rounds import Options, plan
from codemods.model.edits import Finding, Safety
from codemods.project.versions import may, surely, targets
from codemods.transforms import load

RULES = {rule.code: rule for rule in load()}


def findings(code: str, files: Mapping[str, str], **targets: str) -> tuple[Finding, ...]:
    """What one rule finds in the Python files of a project; `targets` are those of the command line."""
    options = Options(rules=(RULES[code],), targets={name.replace("_", "-"): spec for name, spec in targets.items()})
    return plan([path for path in files if path.endswith(".py")], Memory(files), options, fix=False).findings


def lock(**versions: str) -> str:
    """A uv.lock with these packages."""
    packages = (
        f'[[package]]\nname = "{name.replace("_", "-")}"\nversion = "{version}"\n'
        'source = { registry = "https://pypi.org/simple" }\n'
        for name, version in versions.items()
    )
    return 'version = 1\nrequires-python = ">=3.10"\n\n' + "\n".join(packages)


def pyproject(*dependencies: str) -> str:
    return f'[project]\nname = "train"\nversion = "0"\ndependencies = [{", ".join(map(repr, dependencies))}]\n'


PINS: dict[str, dict[str, str]] = {
    version: {
        "requirements.txt": f"numpy==1.26.4\ntorch=={version}  # CUDA 12\n",
        "requirements.txt with build": f"--extra-index-url https://download.pytorch.org/whl/cu124\ntorch=={version}+cu124\n",
        "pyproject.toml": pyproject(f"torch=={version}"),
        "uv.lock": lock(numpy="1.26.4", torch=version),
        "environment.yml": f"dependencies:\n  - python=3.11\n  - pytorch::pytorch={version}=py3.11_cuda12.4_0\n",
    }
    for version in ("2.4.1", "2.8.0", "2.13.0")
}
"""How a project pins torch, by version."""


def pinned(version: str, how: str) -> dict[str, str]:
    return {how.partition(" ")[0]: PINS[version][how]}


HOW = pytest.mark.parametrize("how", list(PINS["2.4.1"]))

# ------------------------------------------------------------------------------------------------------- AMP001

REGION = """\
import torch
import torch.nn.functional as F


def train(model, loader, optimizer):
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            with torch.no_grad():
                target = model(x)
            loss = F.mse_loss(model(x + y), target)
        loss.backward()
        optimizer.step()
"""
STEP = """\
import torch
import torch.nn.functional as F
from lightning.pytorch import LightningModule, Trainer


class Module(LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def training_step(self, batch, batch_idx):
        x, y = batch
        with torch.no_grad():
            target = self.net(x)
        return F.mse_loss(self.net(x + y), target)


def main(net, loader):
    Trainer(accelerator="gpu", precision="bf16-mixed").fit(Module(net), loader)
"""


@HOW
@pytest.mark.parametrize(("version", "found"), [("2.4.1", 1), ("2.8.0", 1), ("2.13.0", 0)])
def test_cached_weights_bite_before_torch_2_11(version: str, found: int, how: str) -> None:
    assert len(findings("AMP001", {"train.py": REGION, **pinned(version, how)})) == found


@pytest.mark.parametrize("package", ["lightning", "pytorch-lightning"])
@pytest.mark.parametrize(
    ("torch", "lightning", "found"),
    [
        ("2.8.0", "2.5.4", 1),
        ("2.8.0", "2.5.5", 0),
        ("2.4.1", "2.4.0", 1),
        ("2.13.0", "2.5.4", 0),
        ("2.13.0", "2.6.6", 0),
    ],
)
def test_a_lightning_step_is_safe_with_either_of_the_two(torch: str, lightning: str, found: int, package: str) -> None:
    requirements = {"requirements.txt": f"torch=={torch}\n{package}=={lightning}\n"}
    assert len(findings("AMP001", {"train.py": STEP, **requirements})) == found
    locked = {"uv.lock": lock(torch=torch, **{package.replace("-", "_"): lightning})}
    assert len(findings("AMP001", {"train.py": STEP, **locked})) == found


NESTED = STEP.replace(
    """\
        with torch.no_grad():
            target = self.net(x)
        return F.mse_loss(self.net(x + y), target)
""",
    """\
        with torch.autocast("cuda", dtype=torch.bfloat16):
            with torch.no_grad():
                target = self.net(x)
            return F.mse_loss(self.net(x + y), target)
""",
)
FOLLOWS = {"torch": "<2.11", "lightning": "<2.5.5"}
OWN = {"torch": "<2.11"}


@pytest.mark.parametrize(
    ("old", "new", "bites"),
    [
        ("", "", FOLLOWS),
        ('"bf16-mixed"', '"32-true"', OWN),
        ('"bf16-mixed"', "chosen()", OWN),
        ("(net, loader):\n", "(net, loader):\n    Trainer().validate(net)\n", OWN),
        ("dtype=torch.bfloat16", "dtype=torch.bfloat16, cache_enabled=True", OWN),
        ("dtype=torch.bfloat16", "**options()", OWN),
        ('torch.autocast("cuda", dtype=torch.bfloat16)', "torch.cuda.amp.autocast()", OWN),
    ],
)
def test_a_region_inside_a_step_keeps_what_lightnings_keeps(old: str, new: str, bites: dict[str, str]) -> None:
    """Run with torch 2.10: Lightning 2.5.5 has the cache off, `torch.autocast` follows, the old names switch it on."""
    assert old in NESTED
    files = {"train.py": NESTED.replace(old, new) if old else NESTED}
    (found,) = findings("AMP001", files)
    assert found.bites == bites
    pins = {"requirements.txt": "torch==2.10.0\nlightning==2.5.5\n"}
    assert len(findings("AMP001", files | pins)) == (bites == OWN)


def test_a_region_of_ones_own_is_not_lightnings() -> None:
    """The cache is on in a `with` of one's own, whatever Lightning does around it."""
    files = {"train.py": REGION, "requirements.txt": "torch==2.8.0\nlightning==2.5.5\n"}
    assert len(findings("AMP001", files)) == 1


@pytest.mark.parametrize("requirements", ["", "torch\nlightning\n", "torch>=2.4\nlightning>=2.0\n", "torch<3\n"])
def test_an_open_range_is_found_and_names_the_versions(requirements: str) -> None:
    (region,) = findings("AMP001", {"train.py": REGION, "requirements.txt": requirements})
    assert region.claim.endswith("(torch <2.11)")
    assert region.safety is Safety.SAFE
    (step,) = findings("AMP001", {"train.py": STEP, "requirements.txt": requirements})
    assert step.claim.endswith("(torch <2.11, lightning <2.5.5)")
    assert step.bites == {"torch": "<2.11", "lightning": "<2.5.5"}


@pytest.mark.parametrize("requirements", ["torch>=2.11\n", "torch>=2.11,<3\n", "torch~=2.13\n", "torch>=2.4,>=2.12\n"])
def test_a_floor_that_is_new_enough_is_silent(requirements: str) -> None:
    assert findings("AMP001", {"train.py": REGION, "requirements.txt": requirements}) == ()


# ------------------------------------------------------------------------------------------------------- ATT001

ENCODER = """\
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, nhead=2, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)

    def forward(self, x, padding):
        return self.encoder(x)

    @torch.no_grad()
    def predict(self, x, padding):
        self.eval()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = self.encoder(x)
        return x
"""
MASKED = ENCODER.replace("self.encoder(x)", "self.encoder(x, src_key_padding_mask=padding)")


@HOW
@pytest.mark.parametrize(
    ("code", "version", "strategies"),
    [
        (MASKED, "2.4.1", ["fastpath-off"]),
        (MASKED, "2.8.0", ["no-nested"]),
        (MASKED, "2.13.0", ["no-nested"]),
        (ENCODER, "2.4.1", ["fastpath-off"]),
        (ENCODER, "2.8.0", []),
        (ENCODER, "2.13.0", []),
    ],
)
def test_the_repair_of_an_encoder_depends_on_torch(code: str, version: str, strategies: list[str], how: str) -> None:
    assert [f.strategy for f in findings("ATT001", {"net.py": code, **pinned(version, how)})] == strategies


@pytest.mark.parametrize("requirements", ["", "torch\n", "torch>=2.4\n"])
def test_an_encoder_of_unknown_torch_is_found_and_the_message_names_the_versions(requirements: str) -> None:
    (without,) = findings("ATT001", {"net.py": ENCODER, "requirements.txt": requirements})
    assert without.claim.endswith("(torch <2.6)")
    (masked,) = findings("ATT001", {"net.py": MASKED, "requirements.txt": requirements})
    assert (without.strategy, masked.strategy) == ("fastpath-off", "fastpath-off")
    assert "torch" in masked.message


TRAINED = """\
import lightning.pytorch as pl
from torch import nn


class Tagger(pl.LightningModule):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, nhead=2, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)

    def validation_step(self, batch, batch_idx):
        x, padding = batch
        self.log("norm", self.encoder(x, src_key_padding_mask=padding).norm())


pl.Trainer(accelerator="cpu", precision="bf16-mixed").validate(Tagger())
"""


@pytest.mark.parametrize(
    ("requirements", "precisions"),
    [
        ("", ["bf16-true", "float32"]),
        ("lightning==2.1.0", ["bf16-true", "float32"]),
        ("lightning>=2.0", ["bf16-true", "float32"]),
        ("lightning==2.0.9", ["float32"]),
        ("pytorch-lightning==1.9.5", []),
    ],
)
def test_a_precision_is_offered_where_lightning_has_it(requirements: str, precisions: list[str]) -> None:
    (found,) = findings("ATT001", {"net.py": TRAINED, "requirements.txt": requirements})
    assert [s for s in found.strategies if s in ("bf16-true", "float32")] == precisions


# ------------------------------------------------------------------------------------- which file's word it is


def test_a_lock_file_outweighs_a_pin_and_a_pin_a_range() -> None:
    ranged = {"train.py": REGION, "pyproject.toml": pyproject("torch>=2.4")}
    assert len(findings("AMP001", ranged)) == 1
    files = ranged | {"requirements.txt": "torch==2.13.0\n"}
    assert len(findings("AMP001", files)) == 0
    files |= {"uv.lock": lock(torch="2.8.0")}
    assert len(findings("AMP001", files)) == 1
    files |= {"uv.lock": lock(torch="2.13.0"), "requirements.txt": "torch==2.4.1\n"}
    assert len(findings("AMP001", files)) == 0


def test_each_project_of_a_monorepo_has_its_own_versions() -> None:
    files = {
        "pyproject.toml": pyproject("torch>=2.0"),
        "svc/a/requirements.txt": "torch==2.4.1\n",
        "svc/a/train.py": REGION,
        "svc/a/deep/er/net.py": MASKED,
        "svc/b/requirements.txt": "torch==2.13.0\n",
        "svc/b/train.py": REGION,
        "svc/b/net.py": MASKED,
        "svc/c/train.py": REGION,
        "svc/c/net.py": MASKED,
    }
    assert [f.path for f in findings("AMP001", files)] == ["svc/a/train.py", "svc/c/train.py"]
    assert {f.path: f.strategy for f in findings("ATT001", files)} == {
        "svc/a/deep/er/net.py": "fastpath-off",
        "svc/b/net.py": "no-nested",
        "svc/c/net.py": "fastpath-off",
    }


def test_the_command_line_outweighs_every_file() -> None:
    for here in (PINS["2.13.0"], {"requirements.txt": "torch==2.13.0\n", "uv.lock": lock(torch="2.13.0")}):
        files = {"train.py": REGION, **{path: text for path, text in here.items() if " " not in path}}
        assert len(findings("AMP001", files)) == 0
        assert len(findings("AMP001", files, torch="==2.4.1")) == 1
    old = {"train.py": STEP, "uv.lock": lock(torch="2.8.0", lightning="2.5.4")}
    assert len(findings("AMP001", old)) == 1
    assert len(findings("AMP001", old, lightning="==2.5.5")) == 0
    assert len(findings("AMP001", old, pytorch_lightning="==2.5.5")) == 0
    assert len(findings("AMP001", old, torch=">=2.11")) == 0


def in_cells(*sources: str) -> str:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
        for source in sources
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.mark.parametrize(
    ("installs", "pinned", "found"),
    [
        ("!pip install -q torch==2.4.1", "torch==2.13.0", 1),
        ("!pip install -q torch==2.13.0", "torch==2.4.1", 0),
        ("%pip install 'torch>=2.11'", "", 0),
        ("!pip install torch==2.8.0 lightning", "torch==2.13.0", 1),
        ("!pip install transformers", "torch==2.13.0", 0),
        ("# !pip install torch==2.13.0", "torch==2.4.1", 1),
        ("import sys\n!{sys.executable} -m pip install torch==2.13.0", "torch==2.4.1", 0),
    ],
)
def test_a_notebook_that_installs_its_own_torch(installs: str, pinned: str, found: int) -> None:
    files = {"a/train.ipynb": in_cells(installs, REGION), "a/train.py": REGION, "requirements.txt": pinned}
    paths = ["a/train.ipynb", "a/train.py"]
    options = Options(rules=(RULES["AMP001"],))
    here = plan(paths, Memory(files), options, fix=False).findings
    assert sum(f.path == "a/train.ipynb" for f in here) == found
    assert sum(f.path == "a/train.py" for f in here) == (pinned != "torch==2.13.0")
    targeted = Options(rules=(RULES["AMP001"],), targets={"torch": "==2.4.1"})
    assert len(plan(paths, Memory(files), targeted, fix=False).findings) == 2


# ----------------------------------------------------------------------------- every boundary, from both sides

MANUAL = """\
import lightning.pytorch as pl


class Module(pl.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.automatic_optimization = False
        self.net = net

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        loss = self.net(batch).mean()
        loss.backward()
        optimizer.step()
        self.log("after", self.net(batch).mean())


pl.Trainer(precision="bf16-mixed").fit(Module(None))
"""
FABRIC = """\
import lightning as L

fabric = L.Fabric(precision="bf16-mixed")


def train(net, optimizer, loader):
    with fabric.autocast():
        for x in loader:
            loss = net(x).mean()
            fabric.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
"""
OPEN = """\
import torch


def train(net, optimizer, loader):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        for x in loader:
            loss = net(x.cuda()).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
"""
CHECKPOINT = """\
import torch
from torch.utils.checkpoint import checkpoint


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = torch.nn.Linear(8, 8)

    def forward(self, x):
        return checkpoint(self.block, x)
"""
SEQUENTIAL = CHECKPOINT.replace("checkpoint(self.block, x)", "checkpoint_sequential([self.block], 1, x)").replace(
    "import checkpoint\n", "import checkpoint_sequential\n"
)
DECORATED = """\
import torch
from torch.utils.checkpoint import checkpoint


@checkpoint()
def attention(q, k, v):
    return torch.softmax(q @ k.mT, dim=-1) @ v
"""
XPU = ENCODER.replace('"cpu"', '"xpu"')
ENABLE = """\
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("base")
model.gradient_checkpointing_enable()


def adapted(model):
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(target_modules="all-linear"))
"""
EMPTY = ENABLE.replace("enable()", "enable({})")
KBIT = """\
from peft import prepare_model_for_kbit_training


def prepared(model):
    return prepare_model_for_kbit_training(model)


def load(name):
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(name, load_in_4bit=True)
"""
ARGUMENTS = """\
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = get_peft_model(AutoModelForCausalLM.from_pretrained("base"), LoraConfig())
args = TrainingArguments("out", gradient_checkpointing=True)
Trainer(model, args).train()
"""
TRL = """\
from trl import SFTConfig

args = SFTConfig("out", gradient_checkpointing=True)


def adapted(model):
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(target_modules="all-linear"))
"""
LORA = """\
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("base")
model = get_peft_model(model, LoraConfig())
args = TrainingArguments("out", gradient_checkpointing=True, gradient_checkpointing_kwargs={"use_reentrant": True})
Trainer(model, args).train()
"""
ADAMW = """\
from transformers import AdamW


def build(params):
    return AdamW(params, lr=1e-3)
"""
UNUSED = """\
from transformers import AdamW
"""

GATES: list[tuple[str, str, str, str]] = [
    # rule, code, requirements, "safety strategy" of each finding
    # torch before 2.11, whatever Lightning is
    ("AMP001", REGION, "torch==2.10.0", "safe clear-cache"),
    ("AMP001", REGION, "torch==2.11.0", ""),
    # a Lightning step: the region has no cache from 2.5.5 on; elsewhere no version helps
    ("AMP010", MANUAL, "", "safe clear-cache"),
    ("AMP010", MANUAL, "lightning==2.5.4", "safe clear-cache"),
    ("AMP010", MANUAL, "lightning==2.5.5", ""),
    ("AMP010", MANUAL, "torch==2.15.0\nlightning==2.5.4", "safe clear-cache"),
    ("AMP010", OPEN, "torch==2.15.0\nlightning==2.6.6", "safe clear-cache"),
    ("AMP010", FABRIC, "torch==2.15.0\nlightning==2.6.6", "safe clear-cache"),
    # the switch is of torch 2.2, the other repair enough from 2.6 on
    ("ATT001", MASKED, "torch==2.1.2", "unsafe fp32-island"),
    ("ATT001", MASKED, "torch==2.2.0", "unsafe fastpath-off"),
    ("ATT001", MASKED, "torch==2.5.1", "unsafe fastpath-off"),
    ("ATT001", MASKED, "torch>=2.5", "unsafe fastpath-off"),
    ("ATT001", MASKED, "torch>=2.6", "unsafe no-nested"),
    ("ATT001", MASKED, "torch==2.15.0", "unsafe no-nested"),
    ("ATT001", ENCODER, "torch==2.5.1", "unsafe fastpath-off"),
    ("ATT001", ENCODER, "torch==2.6.0", ""),
    ("ATT001", XPU, "torch==2.4.1", "unsafe fastpath-off"),
    (
        "ATT001",
        XPU.replace("(x)\n        return", "(x, None, padding)\n        return"),
        "torch==2.13.0",
        "unsafe no-nested",
    ),
    ("ATT001", XPU.replace("(x)\n        return", "(x, None, padding)\n        return"), "torch==2.14.0", ""),
    # `use_reentrant` is of torch 1.11 (sequences: 2.0), the decorator of 2.14; no torch has changed the default
    ("CKP001", CHECKPOINT, "torch==1.10.2", ""),
    ("CKP001", CHECKPOINT, "torch>=1.10", "unsafe non-reentrant"),
    ("CKP001", CHECKPOINT, "torch==1.11.0", "display"),
    ("CKP001", CHECKPOINT, "torch==2.0.1", "display"),
    ("CKP001", CHECKPOINT, "torch==2.1.0", "safe non-reentrant"),
    ("CKP001", CHECKPOINT, "torch", "safe non-reentrant"),
    ("CKP001", CHECKPOINT, "torch==2.15.0", "safe non-reentrant"),
    ("CKP001", SEQUENTIAL, "torch==1.13.1", ""),
    ("CKP001", SEQUENTIAL, "torch==2.0.1", "display"),
    ("CKP001", SEQUENTIAL, "torch==2.4.0", "safe non-reentrant"),
    ("CKP001", DECORATED, "torch==2.13.0", ""),
    ("CKP001", DECORATED, "torch>=2.13", "unsafe non-reentrant"),
    ("CKP001", DECORATED, "", "unsafe non-reentrant"),
    ("CKP001", DECORATED, "torch==2.14.0", "safe non-reentrant"),
    # Transformers 5 has another default; the argument is of 4.35, the other repair of 4.27
    ("CKP003", ENABLE, "transformers==4.26.1", "display"),
    ("CKP003", ENABLE, "transformers==4.27.0", "unsafe input-grads"),
    ("CKP003", ENABLE, "transformers==4.34.1", "unsafe input-grads"),
    ("CKP003", ENABLE, "transformers==4.35.0", "unsafe non-reentrant"),
    ("CKP003", ENABLE, "transformers==4.57.6", "unsafe non-reentrant"),
    ("CKP003", ENABLE, "transformers==5.0.0", ""),
    ("CKP003", ENABLE, "transformers>=4.57", "unsafe non-reentrant"),
    ("CKP003", EMPTY, "transformers==5.23.0", "unsafe non-reentrant"),
    ("CKP003", KBIT, "peft==0.5.0", "display"),
    ("CKP003", KBIT, "peft==0.6.0", "unsafe non-reentrant"),
    ("CKP003", KBIT, "transformers==5.23.0\npeft==0.21.2", "unsafe non-reentrant"),
    ("CKP004", ARGUMENTS, "transformers==4.57.6", "unsafe non-reentrant"),
    ("CKP004", ARGUMENTS, "transformers==5.0.0", ""),
    ("CKP004", ARGUMENTS, "trl==0.27.0", "unsafe non-reentrant"),
    ("CKP004", TRL, "transformers==4.57.6\ntrl==0.26.2", "unsafe non-reentrant"),
    ("CKP004", TRL, "transformers==4.57.6\ntrl==0.27.0", ""),
    ("CKP004", TRL, "transformers==5.0.0\ntrl==0.26.2", ""),
    ("CKP002", LORA, "transformers==4.57.6", "unsafe non-reentrant"),
    ("CKP002", LORA, "transformers==5.0.0", ""),
    # deprecated in 4.16, gone in 4.50
    ("HF004", ADAMW, "transformers==4.15.0", ""),
    ("HF004", ADAMW, "transformers==4.16.0", "unsafe"),
    ("HF004", ADAMW, "transformers==5.23.0", "unsafe"),
    ("HF004", UNUSED, "transformers==4.49.0", ""),
    ("HF004", UNUSED, "transformers==4.50.0", "display"),
    # `manual_backward(loss)`: before 1.4 the optimizer comes first
    ("PL001", MANUAL, "pytorch-lightning==1.3.8", "display"),
    ("PL001", MANUAL, "pytorch-lightning>=1.3", "unsafe"),
    ("PL001", MANUAL, "pytorch-lightning==1.4.0", "safe"),
    ("PL001", MANUAL, "lightning==2.6.6", "safe"),
    ("PL001", MANUAL, "lightning", "safe"),
    ("PL001", MANUAL, "", "safe"),
]


@pytest.mark.parametrize(
    ("code", "text", "requirements", "expected"),
    [pytest.param(*gate, id=f"{gate[0]}-{number}-{gate[2]}") for number, gate in enumerate(GATES)],
)
def test_a_boundary(code: str, text: str, requirements: str, expected: str) -> None:
    found = findings(code, {"train.py": text, "requirements.txt": requirements})
    assert [" ".join(filter(None, (str(f.safety), f.strategy))) for f in found] == expected.splitlines()


# -------------------------------------------------------------------- the verdicts, against releases that exist

RELEASED = [
    "1.9.1", "1.10.0", "1.10.2", "1.11.0", "1.13.1", "2.0.0", "2.0.1", "2.0.9", "2.0.9.post0", "2.1.2", "2.2.0",
    "2.2.0.post0", "2.3.1", "2.4.0", "2.4.1", "2.5.0", "2.5.0.post0", "2.5.1", "2.5.4", "2.5.5", "2.6.0", "2.6.6",
    "2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.0", "2.14.1", "2.15.0",
]  # fmt: skip
"""Of torch and of Lightning."""

BITES = ["<2.11", "<2.5.5", "<2.6", "<2.14", "<5", ">=1.11", ">=1.4", ">=2.0", ">=2.2", ">=2.4", ">=2.6", ">=2.14"]
"""The ranges that rules ask for."""

FULL = st.sampled_from(RELEASED)
SHORT = FULL.map(lambda version: ".".join(version.split(".")[:2]))
ODD = st.one_of(
    FULL,
    SHORT,
    st.sampled_from(["1", "2", "3"]),
    SHORT.map(lambda version: f"{version}.0.dev0"),
    FULL.map(lambda version: f"{version.partition('.post')[0]}rc1"),
    FULL.map(lambda version: f"{version}+cu121"),
    FULL.map(lambda version: f"v{version}"),
)
CLAUSE = st.one_of(
    st.tuples(st.sampled_from(["==", "!=", ">=", "<=", "<", ">", "==="]), ODD).map("".join),
    st.tuples(st.sampled_from(["==", "!="]), SHORT, st.just(".*")).map("".join),
    st.tuples(st.just("~="), st.one_of(SHORT, FULL)).map("".join),
)
LINE = st.lists(CLAUSE, min_size=1, max_size=3).map(",".join)


def without_builds(spec: str) -> SpecifierSet:
    """What packaging makes of a constraint, local versions (`+cu121`) left out."""
    clauses = (clause.partition("+")[0].replace("===", "==") for clause in spec.split(","))
    return SpecifierSet(",".join(clauses))


@settings(max_examples=examples(1000))
@given(st.lists(LINE, min_size=1, max_size=2), st.sampled_from(BITES))
def test_no_release_that_a_file_allows_is_forgotten(lines: list[str], range: str) -> None:
    """Two alternatives by marker: what either allows may be in use. A post-release counts as its release."""
    markers = ["sys_platform == 'linux'", "sys_platform != 'linux'"]
    text = "".join(f"torch{line} ; {marker}\n" for line, marker in zip(lines, markers, strict=False))
    target = targets(Memory({"requirements.txt": text}), "train.py")["torch"]
    asked = SpecifierSet(range)
    for version in map(Version, RELEASED):
        if any(without_builds(line).contains(version) for line in lines):
            inside = asked.contains(Version(version.base_version))
            assert may(target, range) or not inside
            assert inside or not surely(target, range)
    assert may(target, range) or not surely(target, range)


@settings(max_examples=examples(300))
@given(st.lists(FULL, min_size=1, max_size=3), st.sampled_from(["", "+cu121"]), st.sampled_from(BITES))
def test_pins_say_neither_more_nor_less(pins: list[str], build: str, range: str) -> None:
    names = ("requirements-gpu.txt", "requirements-cpu.txt", "requirements.txt")
    target = targets(Memory({name: f"torch=={pin}{build}\n" for name, pin in zip(names, pins, strict=False)}), "x.py")
    inside = [SpecifierSet(range).contains(Version(Version(pin).base_version)) for pin in pins]
    assert (may(target["torch"], range), surely(target["torch"], range)) == (any(inside), all(inside))
