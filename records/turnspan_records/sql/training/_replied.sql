operation NOT IN ('embeddings', 'fetch_response', 'cancel_response')
