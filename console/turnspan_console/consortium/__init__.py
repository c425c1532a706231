"""Subcommands of ``turnspan consortium``, each a module."""
