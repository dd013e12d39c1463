"""Messages of gradient scalers, and of schedulers beside them."""

from __future__ import annotations

from fixer.diagnose.topics import Cause, Topic

TOPICS = (
    Topic(
        "scale-is-none",
        ("Attempted {unscale_|step|update} but _scale is None",),
        "No loss was scaled before the scaler was used: `backward()` was not called on `scaler.scale(loss)`.",
        (
            Cause(
                "`loss.backward()` beside a GradScaler",
                "look at the line of `backward()`",
                "`scaler.scale(loss).backward()`",
                ("SCL003",),
            ),
            Cause(
                "`loss.backward()` where a framework owns the scaler",
                "a Trainer, Fabric or Accelerator was given a precision of 16 bits",
                "`self.manual_backward(loss)`, `fabric.backward(loss)`, `accelerator.backward(loss)`",
                ("PL001", "PL201", "HF001"),
            ),
            Cause(
                "your own GradScaler inside a framework that has one",
                "there is a GradScaler as well as `precision=` or `mixed_precision=`",
                "remove your own",
            ),
        ),
    ),
    Topic(
        "no-inf-checks-of-optimizer",
        ("No inf checks were recorded for this optimizer",),
        "`scaler.step(optimizer)` found no gradient on any parameter of this optimizer.",
        (
            Cause(
                "its parameters are frozen, or not those of the model that was run",
                "`[n for n, p in model.named_parameters() if p.grad is not None]` after `backward()` is empty, or does "
                "not hold what the optimizer has",
                "give the optimizer the parameters that are trained; make it after layers are replaced and frozen",
                signs=(r"requires_grad_\(False", r"requires_grad\s*=\s*False"),
            ),
            Cause(
                "gradients are cleared between `backward()` and `scaler.step()`",
                "look for `zero_grad()` between the two",
                "call `zero_grad()` before `backward()`, or after `scaler.update()`",
                signs=(r"zero_grad\(",),
            ),
            Cause(
                "the loss does not depend on them: the graph is cut, and `requires_grad = True` on the loss hides it",
                "without that line the message is `element 0 of tensors does not require grad`",
                "remove it, and repair the cut",
                ("GRD001", "GRD003"),
                (r"requires_grad_\((?:True)?\)", r"requires_grad\s*=\s*True"),
            ),
            Cause(
                "of several optimizers this one had no part in the loss that was scaled",
                "its networks were run under `no_grad` or not at all in this step",
                "step only the optimizers whose loss was taken back",
            ),
            Cause(
                "an accelerated `optimizer.step` runs where no gradient exists yet (accumulation, an empty batch)",
                "it fails in the first iteration",
                "call `scaler.step` only where `backward()` was called",
            ),
        ),
    ),
    Topic(
        "no-inf-checks-before-update",
        ("No inf checks were recorded prior to update",),
        "`scaler.update()` was called without a `scaler.step()` or `scaler.unscale_()` before it.",
        (
            Cause(
                "`optimizer.step()` instead of `scaler.step(optimizer)`",
                "look at the line of `step`",
                "`scaler.step(optimizer)`",
                ("SCL005",),
            ),
            Cause(
                "`update()` in every micro-step of an accumulation",
                "`step` is under a condition that `update` is not under",
                "put `update()` under the same condition",
                signs=(r"\bif\b.*%",),
            ),
            Cause(
                "`update()` once for each optimizer", "there is more than one `update()` in a step", "once", ("SCL008",)
            ),
        ),
    ),
    Topic(
        "unscaled-twice",
        ("unscale_() has already been called on this optimizer since the last update",),
        "`scaler.unscale_(optimizer)` ran twice without a `scaler.update()` in between.",
        (
            Cause(
                "`unscale_` in every micro-step of an accumulation",
                "`update()` is under a condition that `unscale_` is not under",
                "put `unscale_` and clipping under the condition of `step()` and `update()`",
                signs=(r"\bif\b.*%",),
            ),
            Cause(
                "`update()` is missing, or skipped with `continue`",
                "a branch between `unscale_` and `update()` leaves the step",
                "call `scaler.update()` on every way on which `unscale_` was called",
                ("SCL002",),
            ),
            Cause(
                "a framework unscales too: `clip_gradients`, `accelerator.clip_grad_norm_`, the plugin of Lightning",
                "the other call is in Lightning or Accelerate",
                "clip by the framework's own function only",
                signs=(r"clip_gradients\(", r"accelerator\.clip_grad", r"precision_plugin"),
            ),
        ),
        ("SCL001",),
    ),
    Topic(
        "no-update",
        (
            "unscale_() is being called after step()",
            "step() has already been called since the last update()",
        ),
        "The order of one step is `scale(loss).backward()`, `unscale_`, `step`, `update`; `update()` did not come.",
        (
            Cause("there is no `scaler.update()`", "search for it", "call it once, after the last `step`", ("SCL002",)),
            Cause(
                "clipping (with `unscale_`) stands after `scaler.step()`",
                "look at the order of the lines",
                "unscale and clip before the step",
            ),
            Cause(
                "`update()` is under a narrower condition than `step()`",
                "compare their indentation",
                "put both under the same condition",
            ),
        ),
    ),
    Topic(
        "fp16-gradients",
        ("Attempting to unscale FP16 gradients",),
        "The trained weights are fp16 themselves. A gradient scaler requires float32 weights; autocast makes the fp16.",
        (
            Cause(
                "`model.half()`, or `.to(torch.float16)`",
                "look for it before the optimizer is made",
                "remove it; keep `torch.autocast`",
                signs=(r"\.half\(\)", r"\.to\((?:.*,)?\s*(?:dtype=)?torch\.(?:float16|half)"),
            ),
            Cause(
                "the model was loaded with `torch_dtype=torch.float16` (or `dtype=`) and trained with `fp16=True`",
                "`{p.dtype for p in model.parameters() if p.requires_grad}` holds float16",
                "load in float32, or use bf16 for both",
                signs=(r"dtype=torch\.float16", r"dtype=.auto."),
            ),
            Cause(
                "LoRA: adapters, or `modules_to_save`, were made in the fp16 of the base model",
                "only trained parameters are fp16",
                "`for p in model.parameters(): p.data = p.data.float()` for those with `requires_grad`",
            ),
        ),
    ),
    Topic(
        "scaler-with-bf16",
        ("_amp_foreach_non_finite_check_and_unscale_{cuda|cpu|}{any} not implemented for '{BFloat16}'",),
        "A gradient scaler meets bf16 gradients. bf16 needs no scaler.",
        (
            Cause(
                "the weights are bf16, and a GradScaler is on",
                "`{p.dtype for p in model.parameters()}` holds bfloat16",
                '`GradScaler("cuda", enabled=False)`, or `bf16=True` instead of `fp16=True`',
            ),
        ),
    ),
    Topic(
        "closure-with-scaler",
        ("Closure use is not currently supported if GradScaler is enabled",),
        "An optimizer that calls a closure (LBFGS) cannot be stepped through a gradient scaler.",
        (Cause("`scaler.step(optimizer, closure)`", "", "bf16 or float32 without a scaler for this optimizer"),),
        watch=False,
        step="Turn the scaler off for this optimizer: bf16 needs none.",
    ),
    Topic(
        "scale-at-minimum",
        ("Current loss scale already at minimum",),
        "Every step overflowed until the loss scale could not go lower: gradients are inf or nan at any scale.",
        (
            Cause(
                "the model was trained in bf16, and its activations do not fit fp16",
                "the loss is nan in the first steps",
                "bf16",
            ),
            Cause("the loss itself is nan", "print it", "look for the first nan"),
        ),
    ),
    Topic(
        "scheduler-before-optimizer",
        ("Detected call of `{lr_scheduler|scheduler}.step()` before `optimizer.step()`",),
        "The scheduler stepped before the optimizer had. The first value of the schedule is skipped.",
        (
            Cause(
                "a gradient scaler skipped the first step because of an overflow",
                "there is a scaler, and the lines are in the right order: then it is harmless",
                "step the scheduler only if `scaler.get_scale()` did not fall in `update()`",
            ),
            Cause("`scheduler.step()` stands above `optimizer.step()`", "look at the order", "swap them"),
            Cause(
                "`optimizer.step` was replaced after the scheduler was made",
                "a framework wraps the optimizer",
                "make the scheduler last",
            ),
        ),
    ),
    Topic(
        "schedule-exhausted",
        ("Tried to step {n} times. The specified number of total steps is {n}",),
        "OneCycleLR has been stepped more often than it was told.",
        (
            Cause(
                "it steps once a batch, but `total_steps` counts epochs (or the reverse)", "compare both", "adjust it"
            ),
            Cause(
                "training goes on from a checkpoint with another number of steps", "it starts above 0", "make it anew"
            ),
        ),
        watch=False,
        step="Print len(loader) * epochs beside total_steps.",
    ),
    Topic(
        "cuda-not-available",
        (
            "User provided device_type of 'cuda', but CUDA is not available",
            "GradScaler is enabled, but CUDA is not available",
        ),
        "A device of 'cuda' is written down, and this process sees no GPU: autocast and the scaler are off.",
        (
            Cause("the machine has no GPU, and the code says 'cuda' by name", "", "`torch.autocast(device.type)`"),
            Cause(
                "torch was built without CUDA, or CUDA_VISIBLE_DEVICES is empty",
                "`python -c 'import torch; print(torch.version.cuda, torch.cuda.is_available())'`",
                "install a build for your GPU",
            ),
        ),
        watch=False,
        step="python -c 'import torch; print(torch.version.cuda, torch.cuda.is_available())'",
    ),
    Topic(
        "clip-with-fused-optimizer",
        (
            "does not allow for gradient clipping because it performs unscaling of gradients internally",
            "Gradient clipping is not implemented for optimizers handling the unscaling",
        ),
        "A fused optimizer unscales gradients in its own step. Lightning refuses to clip for it under mixed precision, "
        "also in bf16-mixed, where nothing is scaled.",
        (
            Cause(
                "`fused=True` together with `gradient_clip_val`, in 16-mixed or bf16-mixed",
                "the optimizer is made with `fused=True`",
                '`fused=False`; or `precision="bf16-true"`; or, in bf16-mixed, a `configure_gradient_clipping` of your '
                "own that calls `torch.nn.utils.clip_grad_norm_`",
                signs=(r"fused\s*=\s*True",),
            ),
            Cause(
                "`fabric.clip_gradients` with a fused optimizer in 16-mixed",
                "the message says that clipping is not implemented",
                "`fused=False`; or bf16-mixed, in which Fabric has no scaler",
                said=r"is not implemented for optimizers",
            ),
        ),
        watch=False,
        step="Make the optimizer with fused=False.",
    ),
)
