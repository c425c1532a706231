"""The commands that this wing adds to ``turnspan``, by entry points: each module is one."""
