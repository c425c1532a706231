"""Lines of provider APIs' own JSON: transcripts, logged calls, batches."""
