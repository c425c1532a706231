"""Finished spans, and the content beside them, become records."""
