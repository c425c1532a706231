"""The ``google-genai`` SDK: content, embeddings and the functions that it calls."""
