"""The subcommands: every module here is one, and has it as ``command``."""
