import lightning as L
import names  # noqa: F401

trainer = L.Trainer(precision="bf16_mixed")
