"""Turnspan: the flight recorder of LLM agents."""

__version__ = "0.1.0"
