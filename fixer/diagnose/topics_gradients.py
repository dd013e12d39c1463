"""Messages about graphs: a loss without one, one used twice, values that were changed, leaves."""

from __future__ import annotations

from fixer.diagnose.topics import Cause, Topic

TOPICS = (
    Topic(
        "no-graph",
        ("element {n} of {tensors|variables} does not require grad and does not have a grad_fn",),
        "The loss has no graph: no trained parameter led to it while gradients were on. `requires_grad = True` on the "
        "loss would only hide this; nothing would be trained.",
        (
            Cause(
                "the loss is made anew from numbers (`torch.tensor(loss)`, `.item()`, `.detach()`, `.data`)",
                "look between the call of the model and `backward()`; there may be a warning `To copy construct …`",
                "call `backward()` on the tensor that the loss function returned",
                ("GRD001", "GRD002", "GRD003"),
                (r"torch\.tensor\(", r"\.detach\(\)", r"\.data\b", r"Variable\("),
            ),
            Cause(
                "the forward pass runs with gradients off: `no_grad`, `inference_mode`, or "
                "`torch.set_grad_enabled(False)` that an evaluation left on",
                "`print(torch.is_grad_enabled())` before the forward pass says False",
                "leave gradients on in the training step; switch them off by `with torch.no_grad():` around the "
                "evaluation, which ends behind it",
                ("GRD004",),
                (r"no_grad\b", r"inference_mode\b", r"set_grad_enabled\("),
            ),
            Cause(
                "an evaluation that needs gradients: the framework runs it with gradients off",
                "`test_step`, `validation_step`, `predict_step` or an `evaluate` stands in the traceback",
                "`with torch.enable_grad():` around the forward pass and `backward()`; Lightning's `test`, `validate` "
                "and `predict` need `Trainer(inference_mode=False)` too: `enable_grad()` does not end `inference_mode`",
                inside=r"^(?:test|validation|predict|prediction)_step$|^evaluat",
            ),
            Cause(
                "every parameter that is used is frozen: an adapter loaded without `is_trainable=True`, or a new head "
                "beside the one that `forward` calls",
                "`[n for n, p in model.named_parameters() if p.requires_grad]` is empty, or names modules that "
                "`forward` does not call",
                "unfreeze what is to be trained, and use it in `forward`",
                signs=(r"requires_grad_\(False", r"requires_grad\s*=\s*False", r"PeftModel\.from_pretrained\("),
            ),
            Cause(
                "the loss is computed from `argmax`, a comparison, `.long()`, or an array of NumPy",
                "these have no derivative: follow the loss back to the logits",
                "compute the loss from the logits, in torch",
                signs=(
                    r"argmax\(",
                    r"\.long\(\)",
                    r"\.numpy\(\)",
                    r"from_numpy\(",
                    r"\.round\(",
                    r"\([^()]*\s[<>]=?\s[^()]*\)\.",
                ),
            ),
            Cause(
                "reentrant checkpointing around layers whose inputs need no gradient (frozen embeddings, LoRA)",
                "the log warns `None of the inputs have requires_grad=True`",
                "pass `use_reentrant=False`",
                ("CKP001", "CKP002", "CKP003", "CKP004", "CKP005", "CKP006"),
                (r"\bcheckpoint\(", r"gradient_checkpointing"),
            ),
            Cause(
                "autocast keeps weights that a forward pass under `no_grad` left in its cache (torch < 2.11)",
                "it happens under autocast only, after a forward pass under `no_grad` in the same region",
                "call `torch.clear_autocast_cache()` after that forward pass",
                ("AMP001", "VER002"),
                (r"autocast\(",),
            ),
            Cause(
                "an optimizer runs the training closure under `no_grad`",
                "`optimizer.step` stands in the traceback below `backward` (Lightning < 2.0.7 with an optimizer of "
                "Transformers, or your own)",
                "wrap `closure()` in `with torch.enable_grad():`, or raise the version",
                ("GRD005", "VER001", "HF004"),
                (r"\bclosure\b",),
            ),
        ),
    ),
    Topic(
        "graph-used-twice",
        ("Trying to backward through the graph a second time",),
        "`backward()` came to a part of the graph that an earlier `backward()` has already freed.",
        (
            Cause(
                "something is kept from one iteration to the next: the state of an RNN, a memory, a running loss",
                "the first iteration passes, the second one fails",
                "detach what is kept: `hidden = hidden.detach()`",
                signs=(
                    r"nn\.(?:RNN|LSTM|GRU)\b",
                    r"\b(?:hidden|state|memory|carry)\b[^=]*=[^=]",
                    r"\w*loss\s*\+=",
                ),
            ),
            Cause(
                "two losses share a forward pass: in a GAN, `fake` serves both networks",
                "the first iteration fails, in the second `backward()`",
                "give the other network `fake.detach()`; or add the losses and call `backward()` once",
                signs=(r"\bfake\b.*=[^=]", r"(?:_loss|loss_)\w*\.backward\("),
            ),
            Cause(
                "a part of the graph is computed once, outside of the loop",
                "a tensor made before the loop from parameters is used in it",
                "compute it in every iteration, or under `no_grad`",
            ),
            Cause(
                "`loss.backward()` in a `training_step` whose loss Lightning takes back through the graph again",
                "the class is optimized automatically, and the step both calls `backward()` and returns the loss",
                "remove the call, or set `self.automatic_optimization = False`",
            ),
        ),
    ),
    Topic(
        "changed-in-place",
        ("one of the variables needed for gradient computation has been modified by an inplace operation",),
        "A value that the backward pass needs was overwritten after the forward pass. The message names its type, its "
        "shape and the operation that made it.",
        (
            Cause(
                "an optimizer steps between the forward pass and a `backward()` that needs the old weights (GAN, actor "
                "and critic)",
                "the shape in the message is that of a weight, and the operation is `TBackward` or `AsStridedBackward`",
                "call every `backward()` before the first `step()`, or compute the second loss after the step",
                said=r"output \d+ of (?:AsStrided|T)(?:Backward|\b)",
                signs=(r"\.step\(\)",),
            ),
            Cause(
                "`x += y`, `x[...] = y`, `mul_()` and the like on a tensor that the operation before needs",
                "the operation in the message is one that keeps its output: relu, sigmoid, exp, softmax, sqrt",
                "write `x = x + y`; for `x[...] = y` use `torch.where`, or clone first",
                said=r"output \d+ of (?:Sigmoid|Tanh|Exp|\w*Softmax|Sqrt|Rsqrt|Relu|Gelu|Silu|Pow|Norm)",
                signs=(
                    r"^\s*[\w.]+(?:\[.*\])?\s*[-+*/]=\s*(?!1\b)",
                    r"^\s*[\w.]+\[.*\]\s*=[^=]",
                    r"\.(?:add|mul|sub|div|clamp|relu)_\(",
                ),
            ),
            Cause(
                "`nn.ReLU(inplace=True)` whose input or output is used again (a residual connection)",
                "the operation in the message is `ReluBackward`",
                "`inplace=False`",
                said=r"output \d+ of Relu",
                signs=(r"inplace=True",),
            ),
            Cause(
                "two forward passes of a DistributedDataParallel model before `backward()`: buffers are overwritten",
                "it happens on several ranks only, and the model has BatchNorm",
                "`broadcast_buffers=False`, or SyncBatchNorm",
                signs=(r"DistributedDataParallel|\bDDP\(",),
            ),
        ),
    ),
    Topic(
        "leaf-in-place",
        (
            "a {leaf|view of a leaf} Variable that requires grad is being used in an in-place operation",
            "a {leaf|view of a leaf} Variable that requires grad has been used in an in-place operation",
        ),
        "A parameter (or a tensor that `requires_grad`) is changed in place while gradients are on.",
        (
            Cause(
                "weights are updated or initialised by hand",
                "the line assigns to, or calls a method ending with `_` on, a parameter",
                "wrap it in `with torch.no_grad():`",
                signs=(r"^\s*[\w.]+(?:\[.*\])?\s*[-+*/]=", r"\.\w+_\("),
            ),
            Cause(
                "embeddings are changed in place after `enable_input_require_grads()`",
                "the line is like `embeds += …` or `embeds[mask] = …`",
                "`embeds = embeds + …`, or clone first",
            ),
            Cause(
                "`torch.set_grad_enabled(True)` in a step leaks into the optimizer",
                "the last frame lies in an optimizer's `step`",
                "use `with torch.enable_grad():` around the part that needs it",
            ),
        ),
    ),
    Topic(
        "non-leaf-parameter",
        ("can't optimize a non-leaf Tensor",),
        "The optimizer was given the result of an operation; gradients arrive at the tensor that it was made from.",
        (
            Cause(
                "`.to(device)`, `.cuda()`, `.half()` or arithmetic after `requires_grad=True`",
                "look where the tensor in the message is made",
                "make it in its final form first: `torch.randn(3, device=device).mul_(0.1).requires_grad_()`",
                signs=(r"requires_grad=True\)\s*[-+*/.]", r"nn\.Parameter\(.*\)\s*[-+*/.]"),
            ),
            Cause(
                "a parameter was replaced by a computed tensor (`w = w - lr * w.grad`)",
                "the name is assigned more than once",
                "change it in place under `torch.no_grad()`",
            ),
        ),
        watch=False,
        step="Change the line that makes the tensor which the line shown hands to the optimizer.",
    ),
    Topic(
        "no-parameters",
        ("optimizer got an empty parameter list",),
        "No parameter reached the optimizer.",
        (
            Cause(
                "modules are kept in a plain list or dict",
                "`list(model.parameters())` is empty although there are layers",
                "`nn.ModuleList`, `nn.ModuleDict`",
                signs=(r"self\.\w+\s*=\s*[\[{]",),
            ),
            Cause(
                "everything is frozen, and the optimizer gets those with `requires_grad`",
                "`[n for n, p in model.named_parameters() if p.requires_grad]` is empty",
                "unfreeze what is to be trained before the optimizer is made",
            ),
            Cause(
                "`model.parameters()` was kept in a name and read twice; it can be read once",
                "something else went through it before",
                "`params = list(model.parameters())`",
            ),
        ),
    ),
    Topic(
        "loss-not-scalar",
        ("grad can be implicitly created only for scalar outputs",),
        "`backward()` without an argument requires a loss of one number; this one has several.",
        (
            Cause(
                "the loss function has `reduction='none'`, or none was taken",
                "print `loss.shape`",
                "`loss.mean()`",
                signs=(r"reduction=",),
            ),
            Cause(
                "nn.DataParallel returns one loss for each GPU",
                "the shape is the number of GPUs; on one GPU it works",
                "`loss.mean().backward()`",
                signs=(r"DataParallel\(",),
            ),
        ),
    ),
    Topic(
        "numpy-with-gradient",
        ("Can't call numpy() on {Tensor|Variable} that requires grad",),
        "An array of NumPy carries no gradient, so torch asks you to say that it may be lost.",
        (
            Cause(
                "logging, plotting or a metric uses a tensor of the graph",
                "the array does not lead back to the loss",
                "`x.detach().cpu().numpy()`",
                signs=(r"\.numpy\(\)",),
            ),
            Cause(
                "a function of NumPy gets a tensor, or a list of them (`np.mean(losses)`)",
                "the frame above is in NumPy",
                "`losses.append(loss.item())`",
                signs=(r"\bnp\.\w+\(",),
            ),
            Cause(
                "a part of the loss is computed by NumPy",
                "the array comes back by `torch.from_numpy` or `torch.tensor`",
                "compute it in torch: `detach()` would silently cut the graph here",
                signs=(r"from_numpy\(",),
            ),
        ),
        watch=False,
        step="Change the line shown, after a look at where the array goes.",
    ),
    Topic(
        "inference-tensor",
        (
            "Inference tensors cannot be saved for backward",
            "Inplace update to inference tensor outside InferenceMode is not allowed",
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
        ),
        "A tensor made under `torch.inference_mode()` is used in code that trains.",
        (
            Cause(
                "features, targets or buffers are computed under `inference_mode` and used in the training step",
                "look for `inference_mode` on the way to the frame shown",
                "`torch.no_grad()` instead of `inference_mode()` there",
                signs=(r"inference_mode\b",),
            ),
            Cause(
                "an evaluation under `inference_mode` fills a cache (rotary embeddings, masks) that training uses",
                "it fails after the first evaluation only",
                "fill it before, or evaluate under `no_grad` (Lightning: `Trainer(inference_mode=False)`)",
            ),
        ),
    ),
    Topic(
        "activation-copied",
        ("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol",),
        "`copy.deepcopy` met a tensor that belongs to a graph.",
        (
            Cause(
                "a module keeps an output on `self` (attention maps, features), and is copied, as for an EMA",
                "look for `self.… = ` in `forward`",
                "keep `….detach()`",
            ),
        ),
    ),
    Topic(
        "not-in-graph",
        ("One of the differentiated Tensors appears to not have been used in the graph",),
        "`torch.autograd.grad` was asked for the gradient of a tensor that the result does not depend on.",
        (
            Cause(
                "a copy is used instead of the tensor (`.to()`, `.detach()`, a slice made before `requires_grad_()`)",
                "compare the tensor given to `grad` with the one in the forward pass",
                "give `grad` the tensor that is used",
            ),
            Cause("the parameter is not used in this loss", "a branch or a head was not run", "`allow_unused=True`"),
        ),
    ),
    Topic(
        "nan-in-backward",
        ("returned nan values in its {n}th output", "'grad_norm': nan", "loss: nan", "Loss is NaN, stopping training"),
        "A loss or gradient is not a number.",
        (
            Cause(
                "fp16 overflows: a model trained in bf16 (T5, Gemma, many newer ones) run in fp16, or fp16 without a "
                "gradient scaler",
                "it is finite in float32 and bf16",
                "bf16, or float32 for the part that overflows",
            ),
            Cause(
                "`sqrt`, `norm`, `log`, division or `acos` at the edge of what it is defined on",
                "`torch.autograd.set_detect_anomaly(True)` names the operation",
                "add an epsilon inside: `(x + 1e-8).sqrt()`; one of 1e-8 is 0 in fp16",
            ),
            Cause(
                "the learning rate is too high, or gradients are clipped while they are still scaled",
                "the norm of the gradients grows over some steps before",
                "`scaler.unscale_(optimizer)` before clipping",
                ("SCL001",),
            ),
            Cause("a batch without a valid label (all -100), or with nan in it", "look at that batch", "skip it"),
        ),
    ),
)
