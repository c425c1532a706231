"""Logs of other tools -> records: each kind reads a source in parts, one frame lands them."""
