"""Consortium runs: several models answer, an arbiter decides; what each cost."""
