"""Is it right? Proofs run *before* and *after* of a repair in child processes, under the real torch.

`proof` (the API, and how to write a proof), `bench`, `server` and `observation` belong to the parent and know no torch;
`child` and `observe` are loaded in the child process only.
"""
