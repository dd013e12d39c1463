"""Library code that may run in a checkpointed block: it computes, draws from torch's generators, and keeps nothing."""

from __future__ import annotations

from codemods.model.names import AUTOCAST, NO_GRAD


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})

_CLEAN = ("torch.", "math.", "einops.", "typing.", "timm.layers.", "timm.models.layers.")
_UNCLEAN = (
    *("torch._", "torch.autograd.", "torch.compile", "torch.cuda.", "torch.distributed.", "torch.func.", "torch.fx."),
    *("torch.jit.", "torch.library.", "torch.load", "torch.manual_seed", "torch.ops.", "torch.profiler.", "torch.save"),
    *("torch.is_grad_enabled", "torch.is_inference_mode_enabled", "torch.is_inference"),
    *("torch.seed", "torch.initial_seed", "torch.random.", "torch.set_", "torch.Generator", "torch.utils."),
    *("torch.nn.DataParallel", "torch.nn.Lazy", "torch.nn.attention.flex_attention", "torch.nn.init."),
    *(
        "torch.vmap",
        "torch.cond",
        "torch.while_loop",
        "torch.nn.parallel.",
        "torch.nn.utils.",
        "torch.classes.",
        "torch.hub.",
        "torch.optim.",
    ),
)
_CONTEXTS = AUTOCAST | NO_GRAD | {"torch.enable_grad", "torch.set_grad_enabled"}

BUILTINS = _names(
    """
    abs all any bool dict divmod enumerate float frozenset getattr hasattr int isinstance issubclass len list max
    min pow print range repr reversed round set slice sorted str sum super tuple type zip
    """
)

METHODS = _names(
    """
    abs all amax amin any argmax argmin argsort baddbmm bfloat16 bmm bool broadcast_to cat ceil chunk clamp
    clamp_min clone contiguous copy cos cosh count cpu cuda cumsum cumprod detach diag diagonal diff dim div dot
    double eq endswith erf exp expand expand_as expm1 fill_diagonal flatten flip float floor format fmod gather ge
    get gt half index index_select int is_floating_point isfinite isinf isnan item items join keys kthvalue le lerp
    log log10 log1p log2 log_softmax logical_and logical_not logical_or logsumexp long lower lt masked_fill
    masked_select matmul max maximum mean median min minimum mm movedim mul multinomial mv narrow ndimension ne neg
    new_empty new_full new_ones new_tensor new_zeros nonzero norm numel permute pow prod reciprocal relu remainder
    repeat repeat_interleave reshape reshape_as roll rot90 round rsqrt scatter scatter_add select sigmoid sign sin
    size softmax sort split square squeeze sqrt std startswith sub sum swapaxes swapdims t take take_along_dim tan
    tanh tensor_split tile to tolist topk trace transpose tril triu true_divide type type_as unbind unflatten unfold
    unique unsqueeze upper values var view view_as where zero_point add addmm addcmul stride storage_offset
    is_contiguous get_device element_size __contains__ flatten_parameters
    """
)
"""Methods of tensors, strings and containers that change nothing."""

CHANGERS = _names("append extend insert update pop setdefault add")
"""Methods of containers that change them."""

MAKERS = _names(
    """
    dict list set
    arange cat clone copy empty empty_like eye full full_like linspace new_empty new_full new_ones new_tensor
    new_zeros ones ones_like rand rand_like randint randn randn_like stack tensor zeros zeros_like
    """
)
"""Functions and methods whose result is new: writing into it changes nothing else."""

VIEWS = _names(
    """
    bfloat16 broadcast_to chunk contiguous detach diagonal double expand expand_as flatten float half movedim narrow
    permute rearrange reshape reshape_as select split squeeze swapaxes swapdims t tensor_split to transpose type
    type_as unbind unflatten unfold unsqueeze view view_as
    """
)
"""Functions and methods whose result may be what they were given."""


def is_clean(origin: str) -> bool:
    """Whether a function or class of a library may run in a checkpointed block without a trace."""
    if origin in _CONTEXTS:
        return True
    return origin.startswith(_CLEAN) and not origin.startswith(_UNCLEAN)


def is_idempotent(function: str) -> bool:
    """Whether doing this to its own result changes nothing, so that it may be done in place."""
    return function.rpartition(".")[2].lower() in ("relu", "relu_", "relu6", "hardtanh", "threshold", "clamp")
