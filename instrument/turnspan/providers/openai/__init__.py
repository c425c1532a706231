"""The ``openai`` SDK: chat, responses, completions and embeddings."""
