"""LiteLLM: its functions, whatever provider they call."""
