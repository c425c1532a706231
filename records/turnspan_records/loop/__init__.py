"""The improvement loop as it was recorded: lineages, what hangs off them, answers compared."""
