from dataclasses import dataclass, field


@dataclass
class ModelArguments:
    disable_gradient_checkpointing: bool = field(default=False)
    upcast_layernorm: bool = field(default=False)
