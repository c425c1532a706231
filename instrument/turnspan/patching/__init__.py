"""Putting wrappers on SDKs, HTTP clients and threads, and taking them off again."""
