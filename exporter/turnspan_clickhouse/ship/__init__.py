"""Shipping: segments of the spool into a store, each once."""
