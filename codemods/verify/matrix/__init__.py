"""The proofs under several versions of torch: what maintainers run in a checkout. Not part of a wheel."""
