"""The kinds of ``turnspan import``: each module is one, but those whose names begin with ``_``."""
