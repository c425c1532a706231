"""Face: the ``turnspan`` command."""
