"""Logs of other tools, but coding agents', -> records: each kind reads a source in parts, one frame
lands them."""
