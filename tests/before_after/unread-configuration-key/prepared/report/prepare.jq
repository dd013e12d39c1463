.sequence_len = (.sequence_length // 2048)
| .gradient_accumulation_steps = (.gradient_accumulation_step // 1)
| del(.sequence_length, .gradient_accumulation_step)
