"""How each provider's API writes messages, requests and usage: to GenAI conventions, and back."""
