"""`fixer diagnose`: from a log to the place, and by one more command to the fix."""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from unittest import mock

import pytest
from world import CHECKOUT, Result, fixer, repository, write

EXAMPLES = CHECKOUT / "tests/before_after"
NO_GRAPH = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
TORCH = (
    '  File "/opt/conda/lib/python3.11/site-packages/torch/_tensor.py", line 521, in backward\n'
    "    torch.autograd.backward(\n"
)


def example(rule: str) -> dict[str, str]:
    """The code of a rule's example, before the fix."""
    before = EXAMPLES / rule / "example/before"
    if before.is_dir():
        return {path.relative_to(before).as_posix(): path.read_text() for path in before.iterdir()}
    return {"train.py": before.with_suffix(".py").read_text()}


def traceback(frames: Sequence[tuple[str, int, str]], said: str) -> str:
    """A traceback from another machine."""
    lines = [f'  File "/home/ada/work/{path}", line {line}, in {name}\n    …\n' for path, line, name in frames]
    return "Traceback (most recent call last):\n" + "".join(lines) + TORCH + said + "\n"


def commands(result: Result) -> list[str]:
    """The commands that an answer offers."""
    return [line.strip() for line in result.text.splitlines() if line.startswith("  fixer ")]


def line_of(code: str, part: str) -> int:
    """The number of the first line that holds a text."""
    return next(number for number, line in enumerate(code.splitlines(), start=1) if part in line)


SEEDS = [
    ("no-grad-in-autocast", "train.py", "loss.backward()", NO_GRAPH, "fixer apply --select AMP001"),
    (
        "raw-backward",
        "train.py",
        ".backward(",
        "AssertionError: Attempted unscale_ but _scale is None.  This may indicate that",
        "fixer apply --select PL001",
    ),
    ("lightning-closure-floor", "train.py", "import", NO_GRAPH, "fixer apply --select GRD005,VER001 --unsafe-fixes"),
    (
        "reentrant-without-input-grad",
        "train.py",
        "checkpoint(",
        f"UserWarning: None of the inputs have requires_grad=True. Gradients will be None\n{NO_GRAPH}",
        "fixer apply --select CKP002 --unsafe-fixes",
    ),
    (
        "encoder-fastpath-in-autocast",
        "train.py",
        "self.encoder(",
        "RuntimeError: mat1 and mat2 must have the same dtype, but got BFloat16 and Float",
        "fixer apply --select ATT001 --unsafe-fixes",
    ),
]


@pytest.mark.parametrize(("rule", "path", "part", "said", "command"), SEEDS, ids=[seed[0] for seed in SEEDS])
def test_from_a_traceback_to_the_fix_in_two_commands(
    rule: str, path: str, part: str, said: str, command: str, tmp_path: Path
) -> None:
    files = example(rule)
    repository(tmp_path / "repo", files)
    (tmp_path / "train.log").write_text(traceback([(path, line_of(files[path], part), "step")], said))
    told = fixer("diagnose", "../train.log", at=tmp_path / "repo", real=True)
    assert told.code == 0, told.err
    assert f"raised at {path}:{line_of(files[path], part)}, in step" in told.text
    assert "\n+++ b/" in told.text
    assert command in commands(told)
    done = fixer(*shlex.split(commands(told)[0])[1:], at=tmp_path / "repo", real=True)
    assert done.code == 0 and done.out, done.err
    codes = shlex.split(commands(told)[0])[3]
    assert fixer("check", "--select", codes, at=tmp_path / "repo", real=True).code == 0


def test_a_repair_that_must_be_asked_for_is_asked_for(tmp_path: Path) -> None:
    config = (EXAMPLES / "llama-factory-config/built_in_family/report.yaml").read_bytes()
    write(tmp_path, {"lora.yaml": config})
    (tmp_path / "log").write_text("UserWarning: None of the inputs have requires_grad=True. Gradients will be None\n")
    command = "fixer apply --select CKP005 --unsafe-fixes --strategy CKP005=non-reentrant"
    assert commands(fixer("diagnose", "log", at=tmp_path, real=True))[0] == command
    assert fixer(*shlex.split(command)[1:], at=tmp_path, real=True).code == 0
    assert "use_reentrant_gc: false\n" in (tmp_path / "lora.yaml").read_text()


OLD = "from torch.cuda.amp import autocast\nwith autocast():\n    pass\n"


def test_what_lies_in_the_files_of_the_traceback_comes_first(tmp_path: Path) -> None:
    write(tmp_path, {**{f"a{number:02}.py": OLD for number in range(40)}, "z.py": OLD})
    (tmp_path / "log").write_text(
        "/far/away/z.py:2: FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated.\n"
    )
    told = fixer("diagnose", "log", at=tmp_path, real=True)
    places = [line.partition(": AMP002")[0] for line in told.text.splitlines() if ": AMP002 [" in line]
    assert places == ["z.py:2:6", *(f"a{number:02}.py:2:6" for number in range(7))]
    assert "… and 33 more findings: `fixer check --select AMP002` lists all." in told.text
    patched = [line for line in told.text.splitlines() if line.startswith("diff --git")]
    assert patched[0] == "diff --git a/z.py b/z.py" and len(patched) < 41
    assert f"… and {41 - len(patched)} more files: `fixer apply --select AMP002 --dry-run` shows them" in told.text


def test_what_lies_elsewhere_is_said_to(project: Path) -> None:
    write(project, {"src/other.py": OLD})
    (project / "log").write_text(
        "/x/src/train.py:2: FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated.\n"
    )
    told = fixer("diagnose", "log", at=project, real=True)
    assert "Nothing was found in the files of the traceback. In other files:\n\nsrc/other.py:2:6: AMP002" in told.text
    assert commands(told)[0] == "fixer apply --select AMP002"


SCRIPT = """\
import torch


def evaluate(model, x):
    torch.set_grad_enabled(False)
    return model(x)


def main():
    model = torch.nn.Linear(4, 1)
    evaluate(model, torch.ones(2, 4))
    loss = model(torch.ones(2, 4)).mean()
    loss.backward()


main()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", {"src/train.py": SCRIPT, "src/other.py": "import os\n"})


def test_where_no_rule_finds_it_the_causes_and_the_next_command_follow(project: Path) -> None:
    log = traceback([("src/train.py", 16, "<module>"), ("src/train.py", 13, "main")], NO_GRAPH)
    (project / "train.log").write_text(log)
    told = fixer("diagnose", "train.log", at=project, real=True)
    assert told.code == 0
    assert "  line 8 of the log; raised at src/train.py:13, in main" in told.text
    assert "rules know this message and found nothing here: GRD001, GRD002" in told.text
    first = told.text.partition("in the order in which to check them:\n")[2]
    assert first.startswith("1. The forward pass runs with gradients off")
    assert "\n   src/train.py:5: torch.set_grad_enabled(False)\n" in first
    assert commands(told) == ['fixer verify --no-fixes --run "python src/train.py"']


def test_a_warning_without_a_frame_is_looked_for_in_the_script(tmp_path: Path) -> None:
    code = "from torch.utils.checkpoint import checkpoint\n\nh = checkpoint(f, x, use_reentrant=True)\n"
    said = "/x/torch/checkpoint.py:3: UserWarning: None of the inputs have requires_grad=True. Gradients will be None\n"
    write(tmp_path, {"train.py": code, "log": said})
    told = fixer("diagnose", "log", at=tmp_path, real=True)
    assert "\n   train.py:3: h = checkpoint(f, x, use_reentrant=True)\n" in told.text
    assert commands(told) == ['fixer verify --no-fixes --run "python train.py"']


def test_what_makes_the_program_say_more_is_offered(project: Path) -> None:
    said = "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one."
    (project / "log").write_text(traceback([("src/train.py", 16, "<module>"), ("src/train.py", 13, "main")], said))
    told = fixer("diagnose", "log", at=project, real=True)
    assert "\n  TORCH_DISTRIBUTED_DEBUG=INFO python src/train.py\n" in told.text and commands(told) == []


def test_the_message_itself_points_at_a_cause(project: Path) -> None:
    said = "one of the variables needed for gradient computation has been modified by an inplace operation: [torch"
    for operation, first in (("SigmoidBackward0", "1. `x += y`"), ("AsStridedBackward0", "1. An optimizer steps")):
        log = traceback(
            [("src/train.py", 13, "main")], f"RuntimeError: {said} [4]], which is output 0 of {operation}, is"
        )
        (project / "log").write_text(log)
        assert first in fixer("diagnose", "log", at=project, real=True).text


INDEX_PUT = "RuntimeError: Index put requires the source and destination dtypes match, got"
NOT_FUSED = (
    "RuntimeError: The current optimizer, AdamW, does not allow for gradient clipping because it performs unscaling of "
    "gradients internally. HINT: Are you using a 'fused' optimizer?"
)
INTO_FLOAT, INTO_HALF = "the destination is float32", "the destination is in 16 bits"


@pytest.mark.parametrize(
    ("said", "function", "first", "step"),
    [
        (NOT_FUSED, "f", "`fused=True` together with `gradient_clip_val`, in 16-mixed or bf16-mixed", "fused=False"),
        (
            "NotImplementedError: Gradient clipping is not implemented for optimizers handling the unscaling.",
            *("f", "`fabric.clip_gradients` with a fused optimizer in 16-mixed", "fused=False"),
        ),
        (
            "ValueError: Must flatten tensors with uniform dtype but got torch.bfloat16 and torch.float32",
            *("f", "adapters, norms or a new head in float32 beside a base in 16 bits", "one dtype"),
        ),
        (
            "ValueError: Must flatten tensors with uniform dtype but got torch.float32 and torch.uint8",
            *("f", "QLoRA: quantized weights", "one dtype"),
        ),
        (
            "ValueError: Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`",
            *("f", "LoRA, or a model of which a part is frozen", "use_orig_params: true"),
        ),
        (
            "ValueError: `FlatParameter` requires uniform `requires_grad`",
            *("f", "torch 2.0 or older, which refuses this with `use_orig_params=True`", "torch 2.1 or newer"),
        ),
        (f"{INDEX_PUT} Half for the destination and Float for the source.", "f", INTO_HALF, "cast there"),
        (f"{INDEX_PUT} BFloat16 for the destination and Float for the source.", "f", INTO_HALF, "cast there"),
        (f"{INDEX_PUT} Float for the destination and Half for the source.", "f", INTO_FLOAT, "cast there"),
        (
            f"{INDEX_PUT} Float for the destination and Double for the source.",
            "f",
            "one of them is float64",
            "cast there",
        ),
        (
            "RuntimeError: masked_scatter: expected self and source to have same dtypes but gotBFloat16 and Float",
            *("f", INTO_HALF, "cast there"),
        ),
        (
            "RuntimeError: index_add_(): self (Float) and source (BFloat16) must have the same scalar type",
            *("f", INTO_FLOAT, "cast there"),
        ),
        (
            "RuntimeError: expected dtype float for `end` but got dtype c10::Half",
            "f",
            "an average of weights",
            "cast there",
        ),
        (NO_GRAPH, "test_step", "an evaluation that needs gradients", "fixer verify --no-fixes --run"),
        (NO_GRAPH, "validation_step", "an evaluation that needs gradients", "fixer verify --no-fixes --run"),
        (NO_GRAPH, "training_step", "the loss is made anew from numbers", "fixer verify --no-fixes --run"),
        ("RuntimeError: expected scalar type Long but found Float", "f", "the labels are floats", ".long()"),
        (
            "RuntimeError: expected target dtype to be Long or Byte, but got Float",
            "f",
            "the labels are floats",
            ".long()",
        ),
        (
            "RuntimeError: expected target dtype to be Long or Byte, but got Int",
            *("f", "the labels are whole numbers of another type", ".long()"),
        ),
        ("RuntimeError: expected scalar type Half but found Float", "f", "nn.TransformerEncoder", "x.dtype"),
    ],
)
@pytest.mark.parametrize("bare", [False, True], ids=["traceback", "one line"])
def test_the_first_cause_and_the_next_step(
    said: str, function: str, first: str, step: str, bare: bool, tmp_path: Path
) -> None:
    """In an empty repository. Without a traceback, a cause that frames tell of is no likelier than the others."""
    log = said if bare else traceback([("a.py", 3, "<module>"), ("a.py", 9, function)], said)
    (tmp_path / "log").write_text(f"{log}\n")
    told = json.loads(fixer("diagnose", "log", "--format", "json", at=tmp_path, real=True).out)
    found = [cause["what"] for cause in told["causes"]]
    assert any(cause.startswith(first) for cause in (found if bare else found[:1])), found
    assert step in fixer("diagnose", "log", at=tmp_path, real=True).text


def test_gradients_in_an_evaluation_need_more_than_enable_grad(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(traceback([("net.py", 9, "test_step")], NO_GRAPH))
    told = json.loads(fixer("diagnose", "log", "--format", "json", at=tmp_path, real=True).out)
    assert "`Trainer(inference_mode=False)`" in told["causes"][0]["cure"]
    assert "`enable_grad()` does not end `inference_mode`" in told["causes"][0]["cure"]


def test_nothing_of_bf16_mixed_where_clipping_is_refused_in_it_too(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(f"{NOT_FUSED}\n")
    told = fixer("diagnose", "log", at=tmp_path, real=True).text
    assert "bf16-true" in told and told.partition("Next")[2].count("bf16") == 0


@pytest.mark.parametrize(
    ("log", "command"),
    [
        ("$ python src/train.py --lr 0.1 2>&1 | tee log\n", "python src/train.py --lr 0.1"),
        (
            "+ torchrun --nproc-per-node 2 src/train.py --seed 42\n",
            "torchrun --nproc-per-node 2 src/train.py --seed 42",
        ),
        (
            "(env) ada@gpu1:~/x$ CUDA_VISIBLE_DEVICES=0 python3.10 /data/x/src/train.py\n",
            "CUDA_VISIBLE_DEVICES=0 python src/train.py",
        ),
        ("!python src/train.py\n", "python src/train.py"),
        ("$ python missing.py\n", "python src/train.py"),
        (
            'Traceback\n  File "/x/runpy.py", line 8, in f\n  File "/x/src/train.py", line 16, in <module>\n',
            "python -m src.train",
        ),
    ],
)
def test_the_command_that_is_offered_is_that_of_the_log(log: str, command: str, project: Path) -> None:
    (project / "log").write_text(f"{log}{NO_GRAPH}\n")
    (offered,) = commands(fixer("diagnose", "log", at=project, real=True))
    assert offered == f'fixer verify --no-fixes --run "{command}"'


def test_where_nothing_tells_the_command_it_has_to_be_put_in(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "", "b.py": "", "log": NO_GRAPH})
    told = fixer("diagnose", "log", at=tmp_path, real=True)
    assert commands(told) == ['fixer verify --no-fixes --run "python YOUR_SCRIPT.py"']
    assert "the log does not show the command: put yours there" in " ".join(told.text.split())


def test_the_run_takes_no_fix_of_something_else(project: Path) -> None:
    write(project, {"src/other.py": OLD})
    (project / "log").write_text(f"$ python src/train.py --name 'a \"b\"'\n{NO_GRAPH}\n")
    (offered,) = commands(fixer("diagnose", "log", "--target", "torch=2.13", "src", at=project, real=True))
    assert shlex.split(offered) == [
        *("fixer", "verify", "--no-fixes", "--target", "torch=2.13", "src"),
        *("--run", "python src/train.py --name 'a \"b\"'"),
    ]


def test_options_and_paths_are_part_of_the_command(project: Path) -> None:
    write(project, {"src/other.py": OLD})
    (project / "log").write_text("FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated.\n")
    told = fixer("diagnose", "log", "src", "--isolated", "--exclude", "a b", at=project, real=True)
    assert commands(told) == ["fixer apply --select AMP002 --exclude 'a b' --isolated src"]


def test_an_exception_that_is_not_known_is_said_first(project: Path) -> None:
    log = "FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated.\n" + traceback(
        [("src/train.py", 13, "main")], "torch.OutOfMemoryError: CUDA out of memory."
    )
    (project / "log").write_text(log)
    told = fixer("diagnose", "log", at=project, real=True)
    assert told.code == 0
    assert told.text.startswith("Not known: torch.OutOfMemoryError: CUDA out of memory.\n")
    assert "also holds: FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated." in " ".join(told.text.split())


def test_what_other_ranks_raise_afterwards_is_not_the_answer(project: Path) -> None:
    ours = "".join(f"[rank1]: {line}\n" for line in traceback([("src/train.py", 13, "main")], NO_GRAPH).splitlines())
    theirs = "[rank0]: torch.distributed.DistBackendError: NCCL error: remote process exited\n"
    (project / "log").write_text(ours + theirs)
    assert fixer("diagnose", "log", at=project, real=True).text.startswith("RuntimeError: element 0")


def test_what_is_not_known_has_a_next_step(project: Path) -> None:
    (project / "log").write_text(traceback([("src/train.py", 13, "main")], "KeyError: 'x'"))
    told = fixer("diagnose", "log", at=project, real=True)
    assert told.code == 1
    assert told.text.startswith("Not known: KeyError: 'x'\n  line 6 of the log; raised at src/train.py:13, in main\n")
    assert commands(told) == ["fixer check", 'fixer verify --no-fixes --run "python YOUR_SCRIPT.py"']


def test_the_nearest_message_is_called_near(project: Path) -> None:
    (project / "log").write_text("RuntimeError: elment 0 of tensor dos not require grad and have no grad_fn\n")
    told = fixer("diagnose", "log", at=project, real=True)
    assert told.code == 1
    assert "which is not the same: element 0 of tensors" in told.text
    assert commands(told)[0].startswith("fixer explain 'element 0 of")


def test_a_message_that_was_cut_is_known(project: Path) -> None:
    (project / "log").write_text("RuntimeError: element 0 of tensors does not require grad and do…\n")
    assert fixer("diagnose", "log", at=project, real=True).code == 0


def test_json_holds_all_of_it(project: Path) -> None:
    log = "/x/y.py:3: FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated.\n"
    log += traceback([("src/train.py", 16, "<module>"), ("src/train.py", 13, "main")], NO_GRAPH)
    write(
        project,
        {
            "log": log,
            "src/train.py": SCRIPT.replace("loss.backward()", "loss = torch.tensor(loss)\n    loss.backward()"),
        },
    )
    told = fixer("diagnose", "log", "--format", "json", at=project, real=True)
    content = json.loads(told.out)
    message = content["message"]
    assert (told.code, content["known"], content["lines"], message["line"]) == (0, True, 9, 9)
    assert (message["name"], message["count"], message["text"]) == ("no-graph", 1, NO_GRAPH)
    assert [frame["line"] for frame in message["traceback"]] == [16, 13, 521]
    assert [(f["path"], f["line"], f["changed_since"]) for f in content["frames"]] == [
        ("src/train.py", 16, False),
        ("src/train.py", 13, False),
    ]
    assert [(f["code"], f["path"], f["line"]) for f in content["findings"]] == [("GRD001", "src/train.py", 13)]
    assert content["commands"][0]["command"] == "fixer apply --select GRD001 --unsafe-fixes"
    assert [other["line"] for other in content["others"]] == [1]
    assert {"GRD001", "AMP001"} <= {rule["code"] for rule in content["rules"]}


def test_json_says_what_is_not_known(project: Path) -> None:
    (project / "log").write_text("KeyError: 3\n")
    content = json.loads(fixer("diagnose", "log", "--format", "json", at=project, real=True).out)
    assert (content["known"], content["message"], content["findings"]) == (False, None, [])
    assert content["unknown"] == {"text": "KeyError: 3", "line": 1}


class Terminal(io.TextIOWrapper):
    """Standard input at which a person sits."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("arguments", [("diagnose",), ("diagnose", "-")])
def test_a_log_is_read_from_standard_input(arguments: tuple[str, ...], project: Path) -> None:
    with mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(NO_GRAPH.encode()))):
        assert fixer(*arguments, at=project, real=True).text.startswith("RuntimeError: element 0")


def test_on_a_terminal_a_log_is_asked_for(project: Path) -> None:
    with mock.patch.object(sys, "stdin", Terminal(io.BytesIO())):
        told = fixer("diagnose", at=project, real=True)
    assert (told.code, told.out) == (2, b"") and "fixer: diagnose what? name a log" in told.err
    with mock.patch.object(sys, "stdin", Terminal(io.BytesIO(NO_GRAPH.encode()))):
        assert fixer("diagnose", "-", at=project, real=True).code == 0


@pytest.mark.parametrize(
    ("files", "arguments", "said"),
    [
        ({}, ("missing.log",), "missing.log: no such file; name a log"),
        ({}, (NO_GRAPH,), 'grad_fn: no such file; `fixer explain "MESSAGE"`'),
        ({}, (".",), ".: is a directory; name a log"),
        ({}, ("a\0b",), "not a path"),
        ({"log": b""}, ("log",), "log: holds no text; errors go to standard error"),
        ({"log": b"\n\r\n \0\0[[[[\n"}, ("log",), "log: holds no text"),
        ({"log": b"x"}, ("log", "--config", "a", "--isolated"), "--config and --isolated contradict each other"),
        ({"log": NO_GRAPH.encode()}, ("log", "missing"), "missing: no such file or directory"),
        ({"log": NO_GRAPH.encode()}, ("log", "--target", "troch"), "--target"),
    ],
)
def test_bad_input_is_refused(files: Mapping[str, bytes], arguments: tuple[str, ...], said: str, project: Path) -> None:
    write(project, files)
    told = fixer("diagnose", *arguments, at=project, real=True)
    assert told.code == 2 and said in told.err, told.err
    assert "Traceback" not in told.err


@pytest.mark.parametrize(
    ("log", "code"),
    [
        (bytes(range(256)) * 40, 1),
        (bytes(range(256)) * 40 + b"\n" + NO_GRAPH.encode() + b"\n" + bytes(range(256)), 0),
        (NO_GRAPH.encode().replace(b" ", b" \0"), 0),
        (f"\ufeff{NO_GRAPH}\r\n".encode("utf-16"), 0),
        (f"{NO_GRAPH}\r\n".encode("utf-8-sig"), 0),
        (f"50%|###   |\r{NO_GRAPH}\r".encode(), 0),
        (NO_GRAPH.encode() + b"\xff\xfe\x80", 0),
        (b"[x" * 40_000 + b"\n", 1),
    ],
)
def test_noise_does_not_matter(log: bytes, code: int, project: Path) -> None:
    write(project, {"log": log})
    told = fixer("diagnose", "log", at=project, real=True)
    assert (told.code, told.err) == (code, "")


def test_explain_says_what_is_known_of_a_message(tmp_path: Path) -> None:
    told = fixer("explain", "Attempted unscale_ but _scale is None", at=tmp_path, real=True)
    assert told.code == 0
    assert "\nSCL003 unscaled-backward: " in told.text and "\n1. `loss.backward()` beside a GradScaler\n" in told.text
    assert commands(told) == ["fixer diagnose train.log", "fixer explain SCL003"]
    for begin in ("element 0 of tensors does not require grad", "RuntimeError: element 0 of tensors does not require…"):
        told = fixer("explain", begin, at=tmp_path, real=True)
        assert told.code == 0 and told.text.startswith(NO_GRAPH.partition(": ")[2]), told.err
    told = fixer("explain", "index out of range in self", at=tmp_path, real=True)
    assert told.code == 2 and "no rule and no cause is known of this message; `fixer rules` lists" in told.err
