"""Messages about types that do not fit together, or that an operation does not know."""

from __future__ import annotations

from fixer.diagnose.topics import Cause, Topic

_INDEX_PUT = "Index put requires the source and destination dtypes match"
_INDEX_COPY = "index_{add|copy}_(): self and source expected to have the same dtype"
_DESTINATION = r"(?:got ?(?:\(self\) )?|self \()"

TOPICS = (
    Topic(
        "dtypes-differ",
        (
            "mat1 and mat2 must have the same dtype",
            "expected {m1|mat1} and {m2|mat2} to have the same dtype",
            "expected scalar type {floating} but found {dtype}",
            "Input type ({any}) and {weight|bias} type ({any}) should be the same",
            "Expected query, key, and value to have the same dtype",
            "mixed dtype (CPU): expect",
        ),
        "One operation got two types. Autocast casts the inputs of most operations; this one ran outside of it, or is "
        "one that autocast does not cast.",
        (
            Cause(
                "nn.TransformerEncoder in evaluation under CPU autocast: its fused path mixes types",
                "the last frames lie in torch's `transformer.py`, and training works",
                "`enable_nested_tensor=False`, or the fast path off",
                ("ATT001", "VER003"),
                (r"TransformerEncoder",),
            ),
            Cause(
                "an output of autocast goes into a layer that is called outside of it",
                "the frame shown lies after the `with torch.autocast` block, or in a hook, a loss or a metric",
                "move the call into the block, or pass `x.float()`",
                signs=(r"autocast\(",),
            ),
            Cause(
                "the model was cast (`.half()`, `.bfloat16()`, loaded with a dtype), and its input was not",
                "compare `next(model.parameters()).dtype` with the dtype of the input",
                "`x.to(next(model.parameters()).dtype)`, or do not cast the model and use autocast",
                signs=(r"\.half\(\)", r"\.bfloat16\(\)", r"\.to\(.*torch\.(?:float16|half|bfloat16)", r"dtype="),
            ),
            Cause(
                "only a part of the model was cast: a new head, a norm, LoRA adapters",
                "`{p.dtype for p in model.parameters()}` holds two types",
                "cast the new part, or train under autocast",
            ),
            Cause(
                "the input is float64, as arrays of NumPy are",
                "the message says Double",
                "`x.float()`",
                said=r"(?i)double|float64",
                signs=(r"\bnp\.", r"from_numpy\(", r"\.double\(\)", r"float64"),
            ),
            Cause(
                "your own `autograd.Function` under autocast",
                "the frame is in its `backward`",
                "`torch.amp.custom_fwd` and `custom_bwd` on its methods",
                signs=(r"autograd\.Function|\(Function\)",),
            ),
            Cause(
                "it is the device: one of the two names has `cuda` in it, the other has not",
                "read the two types again",
                "`.to(device)` for model and input",
                said=r"cuda\.\w+\) and \w+ type \(torch\.(?!cuda)|torch\.(?!cuda)\w+\) and \w+ type \(torch\.cuda",
            ),
        ),
        watch=False,
        step="Print `x.dtype`, and the `weight.dtype` of the layer, in the line above the one shown.",
    ),
    Topic(
        "labels-not-integers",
        (
            "expected target dtype to be Long or Byte, but got {dtype}",
            "expected scalar type Long but found {dtype}",
            "Expected object of scalar type Long but got scalar type {dtype} for argument #2 'target'",
            "Expected object of type torch.{cuda.|}LongTensor but found type {dtype} for argument #2 'target'",
            "nll_loss_forward_{word}_index not implemented for '{dtype}'",
        ),
        "The labels of a loss that picks a class (`cross_entropy`, `nll_loss`, `multi_margin_loss`) must be int64.",
        (
            Cause(
                "the labels are floats: from a float array, a table, or `torch.Tensor([0, 1])`",
                "`y.dtype` is a float, and `y` holds whole numbers",
                "`y.long()`, best where the labels are made",
                signs=(r"torch\.Tensor\(", r"FloatTensor\(", r"\.float\(\)", r"float(?:16|32|64)\b"),
            ),
            Cause(
                "the labels are whole numbers of another type, such as int32",
                "the message names it",
                "`y.long()`",
                said=r"\b(?:Int|Short|Char|Bool|IntTensor)\b",
            ),
            Cause(
                "the labels are no classes: a number, or one probability for each example",
                "`y` holds values such as 0.3, or the model has one output",
                "`BCEWithLogitsLoss` for yes or no, `MSELoss` for numbers; probabilities of all classes go into "
                "`cross_entropy` in the shape of the logits (torch >= 1.10)",
            ),
        ),
        watch=False,
        step="Write .long() behind the labels at the frame shown.",
    ),
    Topic(
        "written-into-another-dtype",
        (
            _INDEX_PUT,
            f"{_INDEX_PUT}, got {{dtype}} for the destination and {{dtype}} for the source",
            "{scatter|scatter_cuda_|scatter_cpu_|scatter_add}(): Expected self.dtype to be equal to src.dtype",
            "masked_scatter: expected self and source",
            "masked_scatter: expected self and source to have same dtypes but got {dtype} and {dtype}",
            _INDEX_COPY,
            f"{_INDEX_COPY}, but got (self) {{dtype}} and (source) {{dtype}}",
            "index_{add|reduce}_(): self ({dtype}) and source ({dtype}) must have the same scalar type",
            "expected dtype {dtype} for {end|`end`|weight} but got dtype {dtype}",
        ),
        "A tensor is written into one of another type. Autocast does not cast such writes; the type of the destination "
        "decides.",
        (
            Cause(
                "the destination is float32 (`torch.zeros(...)`, embeddings), and an output of autocast in 16 bits is "
                "written into it",
                "the first type in the message, that of the destination, is Float",
                "`source.to(destination.dtype)`, or make the destination by `torch.zeros_like(source)`",
                signs=(r"torch\.(?:zeros|ones|full|empty)\(", r"new_(?:zeros|full)\("),
                said=rf"{_DESTINATION}Float\b.*\b(?:Half|BFloat16)\b",
            ),
            Cause(
                "the destination is in 16 bits (an output of autocast, or of a model in 16 bits), and a float32 tensor "
                "is written into it: embeddings, features of a part that was left in float32, a result of softmax",
                "the first type in the message, that of the destination, is Half or BFloat16",
                "`source.to(destination.dtype)`; where the destination collects results, make it float32",
                signs=(r"_like\(", r"\.clone\(\)", r"masked_scatter", r"\[.*\]\s*=[^=]"),
                said=rf"{_DESTINATION}(?:Half|BFloat16)\b.*\bFloat\b",
            ),
            Cause(
                "one of them is float64, as arrays of NumPy are",
                "the message says Double",
                "`source.to(destination.dtype)`",
                said=r"Double",
            ),
            Cause(
                "an average of weights (EMA, `lerp`) of models in two types",
                "the frame is in the update of the average",
                "`.to(average.dtype)`",
                said=r"for `?(?:end|weight)\b",
            ),
        ),
        watch=False,
        step="The line shown writes one type into another: cast there, or where the destination is made.",
    ),
    Topic(
        "bf16-to-numpy",
        ("Got unsupported ScalarType BFloat16",),
        "NumPy has no bf16.",
        (
            Cause(
                "`.numpy()` on an output in bf16: logging, metrics, saving",
                "the frame shown calls `.numpy()`",
                "`x.float().numpy()`",
            ),
        ),
        watch=False,
        step="Write .float() before .numpy() at the frame shown.",
    ),
    Topic(
        "not-implemented-in-16-bits",
        ("not implemented for '{Half|BFloat16}'",),
        "This operation has no kernel for 16 bits on this device.",
        (
            Cause(
                "fp16 on a CPU, where many operations exist in bf16 only",
                "the tensors are on the CPU: the GPU is not used, or the model was offloaded",
                "run on the GPU, or use bf16 or float32",
            ),
            Cause(
                "an operation without such a kernel: linear algebra, `histc`, `cdist` of older versions, an extension",
                "the name in quotes is the operation",
                "`op(x.float())`, in a `torch.autocast(..., enabled=False)` block",
            ),
        ),
    ),
    Topic(
        "fft-in-16-bits",
        (
            "cuFFT only supports dimensions whose sizes are powers of two",
            "cuFFT doesn't support tensor of type",
            "Unsupported dtype {Half|BFloat16}",
        ),
        "Fourier transforms in 16 bits: fp16 requires sizes that are powers of two, bf16 is not supported.",
        (
            Cause(
                "`torch.fft`, `stft` or `istft` of an output of autocast",
                "the frame shown calls it",
                "`torch.fft.rfft(x.float())`",
            ),
        ),
        watch=False,
        step="Write .float() at the input of the transform at the frame shown.",
    ),
    Topic(
        "constant-too-large",
        ("value cannot be converted to type {word} without overflow",),
        "A constant does not fit the type of the tensor: fp16 ends at 65504.",
        (
            Cause(
                "`masked_fill(mask, -1e9)` under fp16",
                "look for a large constant at the frame shown",
                "`torch.finfo(x.dtype).min`",
            ),
        ),
        watch=False,
        step="Write torch.finfo(x.dtype).min instead of the constant at the frame shown.",
    ),
    Topic(
        "bce-under-autocast",
        ("binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast",),
        "Probabilities in fp16 are too coarse for BCELoss, so autocast refuses it.",
        (
            Cause(
                "`sigmoid` and then `BCELoss`",
                "look where the input of the loss comes from",
                "`BCEWithLogitsLoss` on the logits, without the `sigmoid`",
            ),
            Cause(
                "the probabilities are no plain sigmoid (a product, a mixture)",
                "",
                "the loss in float32: `with torch.autocast(device, enabled=False): loss(p.float(), y)`",
            ),
        ),
    ),
    Topic(
        "flash-attention-in-float32",
        (
            "FlashAttention {only support|only supports} fp16 and bf16 data type",
            "Flash Attention 2{|.0} only supports torch.float16 and torch.bfloat16 dtypes",
            "without specifying a torch dtype",
        ),
        "FlashAttention exists in fp16 and bf16 only, and it was given float32.",
        (
            Cause(
                "the model was loaded without a dtype",
                '`from_pretrained(..., attn_implementation="flash_attention_2")` names no dtype',
                "`dtype=torch.bfloat16` (`torch_dtype=` before Transformers 4.56); with float32 weights and autocast "
                "the warning is harmless",
            ),
            Cause(
                "generation or evaluation outside of autocast",
                "training works, `generate` fails",
                '`with torch.autocast("cuda", torch.bfloat16):` around it',
            ),
            Cause(
                "norms were cast to float32 (`prepare_model_for_kbit_training`), so that queries are float32",
                "LoRA or QLoRA",
                "train under autocast (`bf16=True`)",
            ),
        ),
    ),
    Topic(
        "bf16-not-supported",
        (
            "Your setup doesn't support bf16/",
            "{fp16|bf16} mixed precision requires",
            "Current CUDA Device does not support bfloat16",
            "In CPU autocast, but the target dtype is not supported",
        ),
        "The precision that is asked for does not exist on this device.",
        (
            Cause(
                "bf16 on a GPU before Ampere (V100, T4, RTX 20)",
                "`python -c 'import torch; print(torch.cuda.get_device_capability())'` is below (8, 0)",
                "fp16 with a scaler",
            ),
            Cause(
                "no GPU is seen at all",
                "`torch.cuda.is_available()` is False",
                "install torch for your GPU; on a CPU use bf16 autocast or float32",
            ),
        ),
        watch=False,
        step="python -c 'import torch; print(torch.cuda.is_available() and torch.cuda.get_device_capability())'",
    ),
)
