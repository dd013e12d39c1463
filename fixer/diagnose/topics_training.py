"""Messages of checkpointing, of several processes, and of adapters."""

from __future__ import annotations

from fixer.diagnose.topics import Cause, Topic

TOPICS = (
    Topic(
        "no-input-with-gradient",
        ("None of the inputs have requires_grad=True",),
        "A reentrant checkpoint got no input that requires a gradient: the parameters inside get none, in silence if "
        "others are trained. In an evaluation it means nothing.",
        (
            Cause(
                "data, frozen embeddings or keyword arguments go into the first layer that is checkpointed",
                "`use_reentrant` is True or not given",
                "`use_reentrant=False`",
                ("CKP001", "CKP002"),
                (r"\bcheckpoint(?:_sequential)?\(",),
            ),
            Cause(
                "LoRA with gradient checkpointing of Transformers < 5",
                "`gradient_checkpointing=True` without `gradient_checkpointing_kwargs`",
                '`gradient_checkpointing_kwargs={"use_reentrant": False}`, or `model.enable_input_require_grads()`',
                ("CKP003", "CKP004", "CKP005", "CKP006"),
                (r"gradient_checkpointing",),
            ),
            Cause("it is an evaluation without gradients", "it is said once, at the first evaluation", "nothing"),
        ),
    ),
    Topic(
        "reentrant-not-said",
        (
            "the use_reentrant parameter should be passed explicitly",
            "torch.utils.checkpoint: please pass in use_reentrant=True or use_reentrant=False explicitly",
        ),
        "`checkpoint` was called without `use_reentrant`. Today that means True, the variant that can cut gradients.",
        (
            Cause("your own call", "the warning names your file", "`use_reentrant=False`", ("CKP001",)),
            Cause(
                "Transformers, through `gradient_checkpointing`",
                "the warning names a file of Transformers",
                '`gradient_checkpointing_kwargs={"use_reentrant": False}`',
                ("CKP003", "CKP004"),
            ),
        ),
    ),
    Topic(
        "keywords-not-taken",
        ("Unexpected keyword arguments: ",),
        "A function was given keyword arguments that it does not know. Reentrant checkpointing takes none at all.",
        (
            Cause(
                "`checkpoint(layer, x, mask=mask)` with `use_reentrant=True`",
                "the last frame lies in `torch/utils/checkpoint.py`",
                "`use_reentrant=False`",
                ("CKP002",),
                (r"\bcheckpoint\(",),
            ),
            Cause("a check of another library", "the last frame lies elsewhere", "look at what that function takes"),
        ),
        watch=False,
        step="Look at the last frame of the traceback.",
    ),
    Topic(
        "recomputed-differently",
        (
            "Recomputed values for the following tensors have different metadata",
            "A different number of tensors was saved during the original forward and recomputation",
        ),
        "A checkpointed function did something else when it was run again for the backward pass.",
        (
            Cause(
                "it depends on something that has changed: a key-value cache, a counter, a random choice of layers",
                "`use_cache` is on, or the function reads or writes `self`",
                "`use_cache=False` in training; pass what it depends on as an argument",
            ),
            Cause(
                "autocast, or gradients, were on in one of the two runs only",
                "the types differ in the message",
                "call `backward()` as torch does, outside of `no_grad`, with the same autocast",
            ),
            Cause(
                "DeepSpeed ZeRO-3 or a mixture of experts: shapes are `[0]`, or tokens go elsewhere",
                "a shape in the message is [0]",
                "`use_reentrant=True` there",
            ),
        ),
    ),
    Topic(
        "marked-ready-twice",
        (
            "Expected to mark a variable ready only once",
            "has been marked as ready twice",
        ),
        "DistributedDataParallel saw two gradients of one parameter in one backward pass.",
        (
            Cause(
                "reentrant checkpointing with `find_unused_parameters=True`, or of shared layers",
                "checkpointing is on, and `use_reentrant` is True or not given",
                "`use_reentrant=False`; `ddp_find_unused_parameters=False`",
                ("CKP001", "CKP003", "CKP004"),
            ),
            Cause(
                "a parameter is used in two forward passes, or outside of `forward`",
                "the model is called twice before `backward()`",
                "call it once on both batches, or `static_graph=True`",
            ),
        ),
    ),
    Topic(
        "reduction-not-finished",
        (
            "Expected to have finished reduction in the prior iteration",
            "Parameter indices which did not receive grad for rank",
            "your LightningModule has parameters that were not used in producing the loss",
        ),
        "DistributedDataParallel waits for the gradient of a parameter that the loss does not depend on.",
        (
            Cause(
                "a head, branch or layer is not used in the loss",
                "the command below names the parameters",
                "remove or freeze it (before the model is wrapped), or `find_unused_parameters=True`",
            ),
            Cause(
                "outputs of `forward` that are not part of the loss",
                "it returns more than the loss uses",
                "use them, or do not compute them in training",
            ),
            Cause(
                "a part of the model runs under `no_grad`, or outside of `forward`",
                "methods other than `forward` are called on `model.module`",
                "put it into `forward`, with gradients",
            ),
        ),
        again="TORCH_DISTRIBUTED_DEBUG=INFO",
        watch=False,
    ),
    Topic(
        "nothing-to-train-in-parallel",
        ("DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient",),
        "The wrapped module is frozen entirely.",
        (
            Cause("a teacher or encoder that is meant to be frozen", "", "do not wrap it"),
            Cause("the model that is to be trained was frozen", "an adapter loaded frozen?", "`is_trainable=True`"),
        ),
        watch=False,
        step="Wrap only what is trained; of a PEFT adapter: PeftModel.from_pretrained(model, path, is_trainable=True).",
    ),
    Topic(
        "fsdp-dtypes-differ",
        (
            "Must flatten tensors with uniform dtype",
            "`FlatParameter` requires uniform dtype",
            "FSDP expects uniform original parameter dtype",
        ),
        "FSDP keeps the parameters of one unit together, so that they must have one dtype. `use_orig_params` does not "
        "change that.",
        (
            Cause(
                "adapters, norms or a new head in float32 beside a base in 16 bits",
                "`Counter(p.dtype for p in model.parameters())` before the model is wrapped; PEFT makes adapters of a "
                "base in 16 bits float32",
                "one dtype before the model is wrapped: that of the base (PEFT: `autocast_adapter_dtype=False`, "
                "LLaMA-Factory: `pure_bf16: true`), or float32 for all with FSDP's mixed precision; or units of their "
                "own for those that differ (`auto_wrap_policy`)",
                signs=(r"\.float\(\)", r"torch\.float32", r"prepare_model_for_kbit_training\(", r"get_peft_model\("),
            ),
            Cause(
                "QLoRA: quantized weights are stored in another type than the rest",
                "the model is loaded in 4 bits; the message may say uint8",
                "`bnb_4bit_quant_storage` equal to the dtype of the model",
                signs=(r"load_in_4bit", r"bnb_4bit"),
                said=r"u?int8",
            ),
        ),
        watch=False,
        step="Give all parameters one dtype before the model is wrapped.",
    ),
    Topic(
        "fsdp-partly-trained",
        (
            "Must flatten tensors with uniform `requires_grad`",
            "`FlatParameter` requires uniform `requires_grad`",
        ),
        "FSDP keeps the parameters of one unit together. Without `use_orig_params`, all of them are trained, or none.",
        (
            Cause(
                "LoRA, or a model of which a part is frozen: trained and frozen parameters in one unit",
                "`use_orig_params` is False or not given",
                "`use_orig_params=True` (Accelerate: `fsdp_use_orig_params: true`)",
            ),
            Cause(
                "torch 2.0 or older, which refuses this with `use_orig_params=True` as well",
                "the message begins with `FlatParameter`",
                "torch 2.1 and `use_orig_params=True`; or an `auto_wrap_policy` that makes units of what is trained",
                said=r"FlatParameter",
            ),
        ),
        watch=False,
        step="Set use_orig_params: true in the FSDP settings (torch 2.1 or newer).",
    ),
    Topic(
        "no-sync-with-zero",
        ("no_sync context manager is incompatible with gradient partitioning logic of ZeRO stage",),
        "DeepSpeed 0.16 and newer refuse `no_sync` with ZeRO 2 and 3; older Transformers and Accelerate call it.",
        (
            Cause(
                "versions that do not fit together", "`pip list | grep -i -E 'deepspeed|accelerate|transformers'`", ""
            ),
        ),
        watch=False,
        step="pip install -U accelerate transformers",
    ),
    Topic(
        "cache-with-checkpointing",
        ("`use_cache=True` is incompatible with gradient checkpointing",),
        "The key-value cache is of no use in training. Transformers turns it off by itself: this is harmless.",
        (Cause("`config.use_cache` is True", "", "`model.config.use_cache = False` silences it"),),
        watch=False,
        step="Nothing has to be done.",
    ),
    Topic(
        "quantized-without-adapter",
        ("You cannot perform fine-tuning on purely quantized models",),
        "Quantized weights cannot be trained; the Trainer requires adapters on top of them.",
        (
            Cause("no adapter was added", "`model` is no PeftModel", "`get_peft_model(model, LoraConfig(...))`"),
            Cause("the adapter is there, in another name than the one given to the Trainer", "", "give it that one"),
        ),
        watch=False,
        step="Give the Trainer what get_peft_model returned.",
    ),
    Topic(
        "no-trainable-parameters",
        ("trainable params: 0 || all params",),
        "The adapter is frozen: nothing will be trained.",
        (
            Cause(
                "`PeftModel.from_pretrained` without `is_trainable=True`",
                "it is loaded to be trained further",
                "`PeftModel.from_pretrained(model, path, is_trainable=True)`",
            ),
            Cause(
                "`prepare_model_for_kbit_training` after the adapter was added: it freezes everything",
                "look at the order of the calls",
                "prepare first, then add the adapter",
            ),
        ),
    ),
)
