"""Names the field uses: which exports mean the same object, which calls set precision, which classes matter."""

from __future__ import annotations

import re
import sys

LIGHTNING_MODULE = frozenset({"lightning.pytorch.LightningModule"})
LIGHTNING_CALLBACK = frozenset({"lightning.pytorch.Callback"})
CALLBACKS = LIGHTNING_CALLBACK | {"transformers.TrainerCallback"}
OPTIMIZER = frozenset(
    f"torch.optim.{name}"
    for name in (
        *("Optimizer", "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam"),
        *("RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam"),
    )
)
_MODULES = """
AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss AdaptiveMaxPool1d
AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss
BatchNorm1d BatchNorm2d BatchNorm3d Bilinear CELU CTCLoss ChannelShuffle CircularPad1d CircularPad2d
CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d Container Conv1d Conv2d Conv3d ConvTranspose1d
ConvTranspose2d ConvTranspose3d CosineEmbeddingLoss CosineSimilarity CrossEntropyLoss CrossMapLRN2d DataParallel
Dropout Dropout1d Dropout2d Dropout3d ELU Embedding EmbeddingBag FeatureAlphaDropout Flatten Fold
FractionalMaxPool2d FractionalMaxPool3d GELU GLU GRU GRUCell GaussianNLLLoss GroupNorm Hardshrink Hardsigmoid
Hardswish Hardtanh HingeEmbeddingLoss HuberLoss Identity InstanceNorm1d InstanceNorm2d InstanceNorm3d KLDivLoss
L1Loss LPPool1d LPPool2d LPPool3d LSTM LSTMCell LayerNorm LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d
LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d
LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear LeakyReLU Linear LinearCrossEntropyLoss LocalResponseNorm
LogSigmoid LogSoftmax MSELoss MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d
MaxUnpool3d Mish Module ModuleDict ModuleList MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss
MultiheadAttention NLLLoss NLLLoss2d PReLU PairwiseDistance ParameterDict ParameterList PixelShuffle
PixelUnshuffle PoissonNLLLoss RMSNorm RNN RNNBase RNNCell RNNCellBase RReLU ReLU ReLU6 ReflectionPad1d
ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU Sequential SiLU Sigmoid
SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus Softshrink Softsign SyncBatchNorm Tanh Tanhshrink
Threshold Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer
TripletMarginLoss TripletMarginWithDistanceLoss Unflatten Unfold Upsample UpsamplingBilinear2d
UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d
"""
"""The classes of modules of torch 2.13."""
TORCH_MODULE = LIGHTNING_MODULE | {f"torch.nn.{name}" for name in _MODULES.split()}

PARAMETER = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
AUTOGRAD_FUNCTION = frozenset({"torch.autograd.Function"})

AUTOCAST = frozenset({"torch.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast"})
GRAD_SCALER = frozenset({"torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.cpu.amp.GradScaler"})
NO_GRAD = frozenset({"torch.no_grad", "torch.inference_mode"})
"""Context managers and decorators that switch gradients off; `torch.set_grad_enabled(False)` does too."""
LIGHTNING_TRAINER = frozenset({"lightning.pytorch.Trainer"})
FABRIC = frozenset({"lightning.fabric.Fabric"})
ACCELERATOR = frozenset({"accelerate.Accelerator"})
CHECKPOINT_SEQUENTIAL = "torch.utils.checkpoint.checkpoint_sequential"
CHECKPOINT = frozenset({"torch.utils.checkpoint.checkpoint", CHECKPOINT_SEQUENTIAL})
CLIP_GRAD = frozenset({"torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"})
FSDP = frozenset({"torch.distributed.fsdp.FullyShardedDataParallel", "fairscale.nn.FullyShardedDataParallel"})
GRADIENT_READERS = CLIP_GRAD | {
    "torch.nn.utils.clip_grad_norm",
    "torch.nn.utils.clip_grads_with_norm_",
    "torch.nn.utils.get_total_norm",
    "torch.nn.utils.clip_grad.get_total_norm",
    "torch.nn.utils.clip_grad.clip_grad_norm",
    "torch.nn.utils.clip_grad.clip_grads_with_norm_",
    "apex.contrib.clip_grad.clip_grad_norm_",
    "lightning.pytorch.utilities.grad_norm",
    "lightning.pytorch.utilities.grads.grad_norm",
    "timm.utils.dispatch_clip_grad",
    "timm.utils.clip_grad.dispatch_clip_grad",
    "timm.utils.adaptive_clip_grad",
    "timm.utils.agc.adaptive_clip_grad",
}
"""Functions that measure or clip the gradients of the parameters they are given."""

LIGHTNING_SETUP = ("__init__", "configure_optimizers", "configure_model", "setup", "on_fit_start", "on_train_start")
"""Methods that have run before the first `training_step`."""

SETTINGS = frozenset(
    {"Trainer", "Fabric", "Accelerator", "TrainingArguments", "Seq2SeqTrainingArguments", "autocast", "GradScaler"}
    | {"LightningCLI", "SFTConfig", "DPOConfig", "MixedPrecision", "get_peft_model", "LoraConfig"}
    | {"prepare_model_for_kbit_training", "DeepSpeedPlugin"}
)
"""Last names of the calls that become `Facts.settings`."""

NEEDS = {
    "torch.amp.GradScaler": {"torch": ">=2.3"},
    "torch.amp.custom_fwd": {"torch": ">=2.4"},
    "torch.amp.custom_bwd": {"torch": ">=2.4"},
    "torch.get_autocast_dtype": {"torch": ">=2.4"},
    "torch.backends.mha.set_fastpath_enabled": {"torch": ">=2.2"},
}
"""Symbols younger than torch 2.0, and the versions that have them."""

NEWEST = {
    "torch": "2.13",
    "lightning": "2.6",
    "pytorch-lightning": "2.6",
    "transformers": "5.23",
    "accelerate": "1.15",
    "peft": "0.21",
}
"""The newest releases that the rules were held against."""

STARS = {
    "torch.cuda.amp": {"autocast", "GradScaler", "custom_fwd", "custom_bwd"},
    "torch.amp": {"autocast", "GradScaler", "custom_fwd", "custom_bwd"},
    "torch.utils.checkpoint": {"checkpoint", "checkpoint_sequential"},
    "torch.nn": {"Module", "TransformerEncoder", "TransformerEncoderLayer", "Transformer", "Linear", "Parameter"},
    "torch": {"no_grad", "inference_mode", "enable_grad", "set_grad_enabled", "autocast", "tensor", "stack"},
    "torch.autograd": {"Variable", "no_grad", "enable_grad", "set_grad_enabled"},
    "torch.optim": {"Optimizer", "AdamW", "Adam", "SGD"},
    "transformers": {"Trainer", "TrainingArguments", "TrainerCallback", "PreTrainedModel"},
    "transformers.trainer": {"Trainer", "TrainingArguments", "TrainerCallback", "PreTrainedModel"},
}
"""What a star import of a package is known to bring."""

_PREFIXES = (
    ("pytorch_lightning", "lightning.pytorch"),
    ("lightning_fabric", "lightning.fabric"),
    ("torch.nn.modules", "torch.nn"),
)
_EXACT = {
    "lightning.LightningModule": "lightning.pytorch.LightningModule",
    "lightning.LightningDataModule": "lightning.pytorch.LightningDataModule",
    "lightning.Trainer": "lightning.pytorch.Trainer",
    "lightning.Callback": "lightning.pytorch.Callback",
    "lightning.pytorch.callbacks.Callback": "lightning.pytorch.Callback",
    "lightning.pytorch.callbacks.callback.Callback": "lightning.pytorch.Callback",
    "lightning.Fabric": "lightning.fabric.Fabric",
    "lightning.fabric.fabric.Fabric": "lightning.fabric.Fabric",
    "lightning.pytorch.core.LightningModule": "lightning.pytorch.LightningModule",
    "lightning.pytorch.core.module.LightningModule": "lightning.pytorch.LightningModule",
    "lightning.pytorch.core.lightning.LightningModule": "lightning.pytorch.LightningModule",
    "lightning.pytorch.trainer.Trainer": "lightning.pytorch.Trainer",
    "lightning.pytorch.trainer.trainer.Trainer": "lightning.pytorch.Trainer",
    "torch.amp.autocast": "torch.autocast",
    "torch.amp.autocast_mode.autocast": "torch.autocast",
    "torch.cuda.amp.autocast_mode.autocast": "torch.cuda.amp.autocast",
    "torch.cpu.amp.autocast_mode.autocast": "torch.cpu.amp.autocast",
    "torch.cuda.amp.autocast_mode.custom_fwd": "torch.cuda.amp.custom_fwd",
    "torch.cuda.amp.autocast_mode.custom_bwd": "torch.cuda.amp.custom_bwd",
    "torch.cuda.amp.grad_scaler.GradScaler": "torch.cuda.amp.GradScaler",
    "torch.cpu.amp.grad_scaler.GradScaler": "torch.cpu.amp.GradScaler",
    "torch.amp.grad_scaler.GradScaler": "torch.amp.GradScaler",
    "torch.GradScaler": "torch.amp.GradScaler",
    "torch.autograd.no_grad": "torch.no_grad",
    "torch.autograd.enable_grad": "torch.enable_grad",
    "torch.autograd.inference_mode": "torch.inference_mode",
    "torch.autograd.set_grad_enabled": "torch.set_grad_enabled",
    "torch.autograd.grad_mode.no_grad": "torch.no_grad",
    "torch.autograd.grad_mode.enable_grad": "torch.enable_grad",
    "torch.autograd.grad_mode.inference_mode": "torch.inference_mode",
    "torch.autograd.grad_mode.set_grad_enabled": "torch.set_grad_enabled",
    "torch.autograd.variable.Variable": "torch.autograd.Variable",
    "torch.autograd.function.Function": "torch.autograd.Function",
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.nn.utils.clip_grad.clip_grad_norm_": "torch.nn.utils.clip_grad_norm_",
    "torch.nn.utils.clip_grad.clip_grad_value_": "torch.nn.utils.clip_grad_value_",
    "accelerate.accelerator.Accelerator": "accelerate.Accelerator",
    "transformers.optimization.AdamW": "transformers.AdamW",
    "transformers.optimization.Adafactor": "transformers.Adafactor",
    "transformers.training_args.TrainingArguments": "transformers.TrainingArguments",
    "transformers.training_args_seq2seq.Seq2SeqTrainingArguments": "transformers.Seq2SeqTrainingArguments",
    "transformers.trainer.Trainer": "transformers.Trainer",
}
_OPTIM = re.compile(r"torch\.optim\.(?!lr_scheduler\b|swa_utils\b)[a-z_0-9]+\.([A-Z]\w*)")
_NN = re.compile(r"torch\.nn\.(?:module|transformer|activation|linear|container)\.([A-Z]\w*)")
_PACKAGED = re.compile(
    r"(peft|trl|transformers)\.(?:[a-z_0-9]+\.)+(\w*[A-Z]\w*|get_peft_model|prepare_model_for_kbit_training)"
)
_PLAIN = sys.stdlib_module_names | {"builtins", "numpy", "datasets"}
_PLAIN_BASE = re.compile(
    r"torch\.(?:nn|optim|optim\.lr_scheduler|autograd|utils\.data)\.[A-Z]\w*"
    r"|lightning\.pytorch\.(?:LightningModule|LightningDataModule|Trainer|Callback)|lightning\.fabric\.Fabric"
    r"|transformers\.(?:Trainer|Seq2SeqTrainer|TrainerCallback|\w+Config|\w+Arguments)|trl\.\w+Config"
)


def is_a_plain_base(name: str) -> bool:
    """Whether a library's class surely extends none of the classes that rules ask for, unless it is one of them.

    Other classes may: `prodigyopt.Prodigy` is an optimizer, `transformers.PreTrainedModel` a module.
    """
    return name.partition(".")[0] in _PLAIN or _PLAIN_BASE.fullmatch(name) is not None


def canonical(name: str) -> str:
    """The one name by which rules know an object that several modules export."""
    for old, new in _PREFIXES:
        if name == old or name.startswith(old + "."):
            name = new + name[len(old) :]
    if name in _EXACT:
        return _EXACT[name]
    for pattern, form in ((_OPTIM, r"torch.optim.\1"), (_NN, r"torch.nn.\1"), (_PACKAGED, r"\1.\2")):
        if pattern.fullmatch(name):
            return pattern.sub(form, name)
    return name
