"""Run a recorded session again: its replies and tool results come from the records."""
