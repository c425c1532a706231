"""The subcommands of ``turnspan consortium``, a module each."""
