"""How each provider's API writes messages: to the GenAI conventions' schema, and back."""
