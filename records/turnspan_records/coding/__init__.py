"""Coding agents: their transcripts and hooks, read as records; what became of their code, where a
week went."""
