"""What torch, Lightning, Accelerate, Transformers, PEFT, DeepSpeed and Hydra mean."""
