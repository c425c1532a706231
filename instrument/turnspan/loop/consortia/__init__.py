"""``turnspan.consortium``: several models answer a prompt, and an arbiter decides."""
