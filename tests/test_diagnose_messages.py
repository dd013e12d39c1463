"""What a log says: the messages of all rules and topics, whatever was done to the text on its way."""

from __future__ import annotations

import io
import json
import textwrap
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from codemods.engine.prefilter import RuleInfo
from codemods.transforms import load
from fixer.diagnose.messages import Messages
from fixer.diagnose.reading import LONGEST, lines
from fixer.diagnose.scan import LogRecord, Scanner, ordered
from fixer.diagnose.topics import all_topics

RULES = tuple(map(RuleInfo.of, load()))
TEXTS = [(rule.code, text) for rule in RULES for text in rule.errors]
TRACEBACK = """\
Traceback (most recent call last):
  File "/home/ada/project/train.py", line 42, in <module>
    main()
  File "/home/ada/project/model.py", line 7, in training_step
    loss.backward()
  File "/usr/lib/python3.11/site-packages/torch/_tensor.py", line 521, in backward
    torch.autograd.backward(
"""


@cache
def index() -> Messages:
    """All texts of rules and topics."""
    return Messages(RULES, all_topics())


def read(log: str | bytes) -> LogRecord:
    """What a log says."""
    return Scanner(index()).read(lines(io.BytesIO(log if isinstance(log, bytes) else log.encode())))


def codes(log: str) -> set[str]:
    """The rules that know a message of it."""
    return {code for message in read(log).messages.values() for code in message.codes}


def plain(text: str) -> str:
    return f"{TRACEBACK}RuntimeError: {text}\n"


def in_colours(text: str) -> str:
    words = " ".join(f"\x1b[1;35m{word}\x1b[0m" for word in text.split(" "))
    return f"{TRACEBACK}\x1b[1;31mRuntimeError\x1b[0m: {words}\r\n"


def wrapped(text: str) -> str:
    return TRACEBACK + "\n".join(textwrap.wrap(f"RuntimeError: {text}", 60)) + "\n"


def cut_into_pieces(text: str) -> str:
    whole = f"RuntimeError: {text}"
    return TRACEBACK + "\n".join(whole[start : start + 31] for start in range(0, len(whole), 31)) + "\n"


def of_two_ranks(text: str) -> str:
    """Each line of one rank is followed by that of the other."""
    own = wrapped(text).splitlines()
    return "".join(f"1: [rank1]: {line}\n0: [rank0]: {line}\n" for line in own)


def on_one_line(text: str) -> str:
    return " ".join(plain(text).split()) + "\n"


def in_a_box(text: str) -> str:
    frame = "│ /home/ada/project/model.py:7 in training_step                 │\n│ ❱  7 │   loss.backward()     │\n"
    head = "╭───────── Traceback (most recent call last) ─────────╮\n"
    return head + frame + "╰──────────────────────────────────────────╯\n" + wrapped(text).removeprefix(TRACEBACK)


def by_torchrun(text: str) -> str:
    said = {"message": f"RuntimeError: {text}", "extraInfo": {"py_callstack": plain(text), "timestamp": "17"}}
    return f"[rank1]:E0707 10:11:12.123456 99 torch/api.py:882] {json.dumps({'message': said})}\n"


def by_a_logger(text: str) -> str:
    stamp = "2026-11-23 10:11:12,345 - trainer - ERROR - "
    return "".join(f"[Rank 122] {stamp}{line}\n" for line in wrapped(text).splitlines())


def by_ray(text: str) -> str:
    ray = "(WorkerDict pid=1234, ip=10.0.0.1) "
    return "".join(f"{ray}{line} [repeated 7x across cluster]\n" for line in wrapped(text).splitlines())


def by_pytest(text: str) -> str:
    return f"    def test_it():\n>       step()\n\nE   RuntimeError: {text}\n\ntrain.py:7: RuntimeError\n"


def as_markdown_leaves_it(text: str) -> str:
    return f"> RuntimeError: {text.replace('`', '').replace('_', '')}\n"


def beside_a_bar(text: str) -> str:
    bars = "\r  3%|▎         | 1/30 [00:00<00:10]\r  7%|▋         | 2/30 [00:00<00:09]"
    return f"{bars}/x/y.py:3: UserWarning: {text}\n  warnings.warn(\n"


def in_a_notebook(text: str) -> str:
    frames = [f"\x1b[0;31m{line}\x1b[0m" for line in plain(text).splitlines()]
    return json.dumps({"cells": [{"outputs": [{"output_type": "error", "traceback": frames}]}]}, indent=1)


def from_windows(text: str) -> str:
    return plain(text).replace("/home/ada/project", "C:\\Users\\ada").replace("\n", "\r\n")


SHAPES = [
    plain,
    in_colours,
    wrapped,
    cut_into_pieces,
    of_two_ranks,
    on_one_line,
    in_a_box,
    by_torchrun,
    by_a_logger,
    by_ray,
    by_pytest,
    as_markdown_leaves_it,
    beside_a_bar,
    in_a_notebook,
    from_windows,
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_every_text_of_a_rule_is_found_in_every_shape(shape: Callable[[str], str]) -> None:
    assert [(code, text) for code, text in TEXTS if code not in codes(shape(text))] == []


def test_every_topic_names_rules_that_exist() -> None:
    topics = all_topics()
    named = {code for topic in topics for about in (topic, *topic.causes) for code in about.codes}
    assert named - {rule.code for rule in RULES} == set()


def test_no_topic_has_the_name_of_another_one() -> None:
    names = [topic.name for topic in all_topics()]
    assert len(names) == len(set(names))


KNOWN = [
    ("no-graph", "RuntimeError: element 0 of variables does not require grad and does not have a grad_fn"),
    ("graph-used-twice", "RuntimeError: Trying to backward through the graph a second time (or directly access saved"),
    (
        "changed-in-place",
        (
            "RuntimeError: one of the variables needed for gradient computation has been "
            "modified by an inplace operation:"
        ),
    ),
    (
        "leaf-in-place",
        ("RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation."),
    ),
    ("non-leaf-parameter", "ValueError: can't optimize a non-leaf Tensor"),
    ("no-parameters", "ValueError: optimizer got an empty parameter list"),
    ("loss-not-scalar", "RuntimeError: grad can be implicitly created only for scalar outputs"),
    ("numpy-with-gradient", "RuntimeError: Can't call numpy() on Variable that requires grad. Use"),
    ("inference-tensor", "RuntimeError: Inference tensors cannot be saved for backward. To work around you can make a"),
    (
        "activation-copied",
        ("RuntimeError: Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol"),
    ),
    ("not-in-graph", "RuntimeError: One of the differentiated Tensors appears to not have been used in the graph."),
    ("nan-in-backward", "RuntimeError: Function 'PowBackward0' returned nan values in its 0th output."),
    ("nan-in-backward", "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 4e-05, 'epoch': 0.1}"),
    ("scale-is-none", "AssertionError: Attempted unscale_ but _scale is None.  This may indicate your script did not"),
    ("no-inf-checks-of-optimizer", "AssertionError: No inf checks were recorded for this optimizer."),
    ("no-inf-checks-before-update", "AssertionError: No inf checks were recorded prior to update."),
    ("unscaled-twice", "RuntimeError: unscale_() has already been called on this optimizer since the last update()."),
    ("no-update", "RuntimeError: step() has already been called since the last update()."),
    ("fp16-gradients", "ValueError: Attempting to unscale FP16 gradients."),
    (
        "scaler-with-bf16",
        ("RuntimeError: \"_amp_foreach_non_finite_check_and_unscale_cuda\" not implemented for 'BFloat16'"),
    ),
    ("closure-with-scaler", "RuntimeError: Closure use is not currently supported if GradScaler is enabled."),
    ("scale-at-minimum", "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting"),
    ("scheduler-before-optimizer", "UserWarning: Detected call of `lr_scheduler.step()` before `optimizer.step()`. In"),
    ("schedule-exhausted", "ValueError: Tried to step 1002 times. The specified number of total steps is 1000"),
    ("cuda-not-available", "UserWarning: User provided device_type of 'cuda', but CUDA is not available. Disabling"),
    ("dtypes-differ", "RuntimeError: expected m1 and m2 to have the same dtype, but got: float != c10::Half"),
    ("dtypes-differ", "RuntimeError: expected scalar type struct c10::Half but found float"),
    ("dtypes-differ", "RuntimeError: mat1 and mat2 must have the same dtype"),
    ("dtypes-differ", "RuntimeError: expected mat1 and mat2 to have the same dtype, but got: c10::BFloat16 != float"),
    (
        "dtypes-differ",
        (
            "RuntimeError: Input type (torch.cuda.HalfTensor) and weight type "
            "(torch.cuda.FloatTensor) should be the same"
        ),
    ),
    ("dtypes-differ", "RuntimeError: Input type (c10::BFloat16) and bias type (float) should be the same"),
    ("labels-not-integers", "RuntimeError: expected scalar type Long but found Float"),
    ("labels-not-integers", "RuntimeError: expected target dtype to be Long or Byte, but got Float"),
    (
        "labels-not-integers",
        "RuntimeError: Expected object of scalar type Long but got scalar type Float for argument #2 'target' in call",
    ),
    (
        "labels-not-integers",
        (
            "RuntimeError: Expected object of type torch.LongTensor but found type torch.FloatTensor "
            "for argument #2 'target'"
        ),
    ),
    (
        "labels-not-integers",
        "RuntimeError: \"nll_loss_forward_reduce_cuda_kernel_2d_index\" not implemented for 'Float'",
    ),
    (
        "written-into-another-dtype",
        "RuntimeError: index_add_(): self (Float) and source (Half) must have the same scalar type",
    ),
    (
        "written-into-another-dtype",
        "RuntimeError: masked_scatter: expected self and source to have same dtypes but gotHalf",
    ),
    ("written-into-another-dtype", "RuntimeError: Index put requires the source and destination dtypes match, got"),
    ("written-into-another-dtype", "RuntimeError: scatter(): Expected self.dtype to be equal to src.dtype"),
    ("written-into-another-dtype", "RuntimeError: index_add_(): self and source expected to have the same dtype, but"),
    ("written-into-another-dtype", "RuntimeError: expected dtype float for `end` but got dtype c10::Half"),
    ("bf16-to-numpy", "TypeError: Got unsupported ScalarType BFloat16"),
    ("not-implemented-in-16-bits", "RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'"),
    ("fft-in-16-bits", "RuntimeError: cuFFT only supports dimensions whose sizes are powers of two when computing in"),
    ("constant-too-large", "RuntimeError: value cannot be converted to type at::Half without overflow"),
    ("constant-too-large", "RuntimeError: value cannot be converted to type c10::Half without overflow"),
    (
        "bce-under-autocast",
        ("RuntimeError: torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast."),
    ),
    ("flash-attention-in-float32", "RuntimeError: FlashAttention only support fp16 and bf16 data type"),
    ("flash-attention-in-float32", "You are attempting to use Flash Attention 2.0 without specifying a torch dtype."),
    ("bf16-not-supported", "ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10"),
    ("no-input-with-gradient", "UserWarning: None of the inputs have requires_grad=True. Gradients will be None"),
    (
        "recomputed-differently",
        (
            "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: Recomputed "
            "values for the following tensors have different metadata"
        ),
    ),
    ("marked-ready-twice", "RuntimeError: Expected to mark a variable ready only once. This error is caused by one of"),
    ("reduction-not-finished", "RuntimeError: Expected to have finished reduction in the prior iteration before"),
    (
        "reduction-not-finished",
        ("RuntimeError: It looks like your LightningModule has parameters that were not used in producing the loss"),
    ),
    ("fsdp-dtypes-differ", "ValueError: Must flatten tensors with uniform dtype but got torch.float16 and torch.uint8"),
    (
        "fsdp-dtypes-differ",
        "ValueError: `FlatParameter` requires uniform dtype but got torch.float16 and torch.float32",
    ),
    ("fsdp-dtypes-differ", "AssertionError: FSDP expects uniform original parameter dtype but got {torch.bfloat16,"),
    (
        "fsdp-partly-trained",
        "ValueError: Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`",
    ),
    ("fsdp-partly-trained", "ValueError: `FlatParameter` requires uniform `requires_grad`"),
    (
        "no-sync-with-zero",
        ("AssertionError: no_sync context manager is incompatible with gradient partitioning logic of ZeRO stage"),
    ),
    ("cache-with-checkpointing", "`use_cache=True` is incompatible with gradient checkpointing. Setting"),
    ("quantized-without-adapter", "ValueError: You cannot perform fine-tuning on purely quantized models."),
    ("no-trainable-parameters", "trainable params: 0 || all params: 6,742,609,920 || trainable%: 0.0"),
    (
        "hf007-argument-evaluation-strategy",
        ("TypeError: TrainingArguments.__init__() got an unexpected keyword argument 'evaluation_strategy'"),
    ),
    ("hf007-argument-tokenizer", "TypeError: Trainer.__init__() got an unexpected keyword argument 'tokenizer'"),
    (
        "hf015-argument-max-seq-length",
        "TypeError: SFTTrainer.__init__() got an unexpected keyword argument 'max_seq_length'",
    ),
    ("pl103-argument-gpus", "TypeError: Trainer.__init__() got an unexpected keyword argument 'gpus'"),
    (
        "pl104-hook-validation-epoch-end",
        "NotImplementedError: Support for `validation_epoch_end` has been removed in v2.0.0. `Net`",
    ),
    ("kbit-argument-moved", "The `load_in_4bit` and `load_in_8bit` arguments are deprecated and will be removed"),
    ("no-torch-amp-scaler", "ImportError: cannot import name 'GradScaler' from 'torch.amp' (/x/torch/amp/__init__.py)"),
    ("no-torch-amp-scaler", "AttributeError: module 'torch.amp' has no attribute 'GradScaler'"),
    ("sch004-argument-verbose", "TypeError: ReduceLROnPlateau.__init__() got an unexpected keyword argument 'verbose'"),
    ("plateau-without-metric", "TypeError: ReduceLROnPlateau.step() missing 1 required positional argument: 'metrics'"),
]


@pytest.mark.parametrize(("name", "text"), KNOWN)
def test_messages_that_no_rule_knows(name: str, text: str) -> None:
    for log in (text, TRACEBACK + text, TRACEBACK + "\n".join(textwrap.wrap(text, 40)), f"[rank0]: {text}"):
        topics = [message.topic.name for message in ordered(read(log)) if message.topic]
        assert topics[:1] == [name], log


UNKNOWN = [
    "TypeError: Collator.__init__() got an unexpected keyword argument 'tokenizer'",
    "TypeError: Net.__init__() got an unexpected keyword argument 'verbose'",
    "TypeError: load_model() got an unexpected keyword argument 'max_seq_length'",
    "KeyError: 'labels'",
    "IndexError: index out of range in self",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB",
    "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.json'",
    "ImportError: cannot import name 'load_corpus' from 'datasets' (/x/site-packages/datasets/__init__.py)",
    "ImportError: cannot import name 'AdaFactor' from 'transformers' (unknown location)",
    "ModuleNotFoundError: No module named 'flash_attn'",
    "RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for fc.weight: copying a param with shape",
    "RuntimeError: [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1174, OpType=ALLREDUCE,",
    "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1333",
    "RuntimeError: CUDA error: device-side assert triggered",
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x4 and 8x4)",
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    "RuntimeError: The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1",
    "TypeError: forward() got an unexpected keyword argument 'pixel_values'",
    "TypeError: __init__() missing 1 required positional argument: 'hidden_size'",
    "AttributeError: 'NoneType' object has no attribute 'shape'",
    "AttributeError: module 'torch' has no attribute 'compile'",
    "ValueError: too many values to unpack (expected 2)",
    "ValueError: Target size (torch.Size([8])) must be the same as input size (torch.Size([8, 1]))",
    "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed.",
    "_pickle.UnpicklingError: Weights only load failed. This file can still be loaded",
    "OSError: meta-llama/Llama-2-7b-hf is not a local folder and is not a valid model identifier",
    "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    "ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded",
    "NotImplementedError: Could not run 'torchvision::nms' with arguments from the 'CUDA' backend.",
    "TypeError: unsupported operand type(s) for +: 'float' and 'NoneType'",
    "KeyboardInterrupt",
    "UserWarning: The given NumPy array is not writable, and PyTorch does not support non-writable tensors.",
    "FutureWarning: You are using `torch.load` with `weights_only=False`",
]


@pytest.mark.parametrize("text", UNKNOWN, ids=lambda text: text[:30])
def test_other_tracebacks_are_not_taken_for_ours(text: str) -> None:
    for log in (TRACEBACK + text + "\n", on_one_line(text), of_two_ranks(text)):
        assert read(log).messages == {}


def test_a_word_is_not_cut() -> None:
    assert codes("xelement 0 of tensors does not require grad and does not have a grad_fn") == set()
    assert codes("element 0 of tensors does not require grad and does not have a grad_fns") == set()


def test_the_exception_at_the_end_comes_first_and_warnings_last() -> None:
    log = (
        "/x/train.py:3: FutureWarning: `torch.cuda.amp.GradScaler(args...)` is deprecated. Please use `torch.amp`\n"
        "Traceback (most recent call last):\n"
        '  File "a.py", line 3, in f\nRuntimeError: No inf checks were recorded for this optimizer.\n'
        "retrying\nTraceback (most recent call last):\n"
        '  File "b.py", line 4, in g\nValueError: Attempting to unscale FP16 gradients.\n'
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    )
    found = ordered(read(log))
    assert [message.text.partition(":")[0] for message in found] == ["ValueError", "RuntimeError", "FutureWarning"]
    assert [message.number for message in found] == [8, 4, 1]
    assert [(frame.path, frame.line) for message in found for frame in message.frames] == [
        ("b.py", 4),
        ("a.py", 3),
        ("/x/train.py", 3),
    ]


def test_where_the_last_exception_is_not_known_the_first_known_one_counts() -> None:
    log = plain("No inf checks were recorded for this optimizer.") + TRACEBACK + "KeyError: 3\n"
    record = read(log)
    assert record.last is not None and record.last.sentence == "KeyError: 3"
    assert [message.number for message in ordered(record)] == [8]


def test_the_place_of_a_warning_behind_a_bar_is_read() -> None:
    (message,) = read(
        beside_a_bar("None of the inputs have requires_grad=True. Gradients will be None")
    ).messages.values()
    assert [(frame.path, frame.line) for frame in message.frames] == [("/x/y.py", 3)]


@pytest.mark.parametrize("filler", ["a", "/a", "! ", "File ", " ", "[", "a.", "Error: ", "| ", "\\n", "a/.py "])
def test_long_lines_do_not_hide_what_follows(filler: str) -> None:
    line = filler * (30_000 // len(filler))
    logs = "".join(f"│{begin}{line}Warning: x\n" for begin in ("", "Traceback: ", "[rank1]: ", "$ python ", "File "))
    assert read(f"{logs}RuntimeError: No inf checks were recorded for this optimizer.\n").messages


def test_ranks_that_say_the_same_are_counted() -> None:
    record = read(of_two_ranks("No inf checks were recorded for this optimizer."))
    (message,) = record.messages.values()
    assert (message.count, message.sources, message.number) == (2, {"0", "1"}, 15)
    assert [frame.line for frame in message.frames] == [42, 7, 521]


def test_a_message_across_two_blocks_is_found_once() -> None:
    filler = b"step 1 loss 0.5 ................................................................................\n"
    said = b"RuntimeError: No inf checks were\nrecorded for this\noptimizer.\n"
    for count in range(2_640, 2_760, 3):  # a block ends somewhere in the middle of one of them
        (message,) = read(filler * count + said + filler * 50).messages.values()
        assert (message.count, message.number) == (1, count + 1)


class Endless(io.RawIOBase):
    """A log of many megabytes that is never held: it says how much of it was asked for at once."""

    def __init__(self, pieces: int) -> None:
        self.left, self.largest = pieces, 0

    def read(self, size: int = -1) -> bytes:
        self.largest = max(self.largest, size)
        if self.left <= 0 or size < 0:
            return b""
        self.left -= 1
        bars = b"  3%|#         | 1/30 [00:00<00:10, 2.00it/s, loss=0.5]\r"
        if self.left % 3 == 0:
            return (b"x" * size)[:size]  # a line without an end
        return (bars * (size // len(bars)) + b"\n") if self.left % 3 == 1 else bytes(range(256)) * (size // 256)


def test_a_long_log_is_held_in_pieces() -> None:
    stream = Endless(460)
    count = longest = 0
    for _, line in lines(stream):  # type: ignore[arg-type]
        count, longest = count + 1, max(longest, len(line))
    assert count > 1_000 and longest <= LONGEST
    assert stream.left == 0 and 0 < stream.largest <= 1 << 16


def test_what_a_scanner_holds_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    def many() -> Iterator[tuple[int, str]]:
        for number in range(1, 4_000):
            yield number, f"[rank{number % 700}]: Traceback (most recent call last):"
            yield number, f'[rank{number % 700}]:   File "train.py", line {number}, in f{number}'
            yield number, f"[rank{number % 700}]: ValueError: number {number}, and a long tail {'x' * 300}"

    scanner = Scanner(index())
    record = scanner.read(many())
    assert len(record.raised) == 200 and record.last is not None and record.last.text.startswith("number 3999")
    held = (scanner._traces, scanner._carried, scanner._recent)
    assert all(len(each) <= 256 for each in held) and not scanner._pending
