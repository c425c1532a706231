"""Keeping: what outlives the records, what is pruned, restored and forgotten."""
