"""Coding agents: their transcripts as records, what became of their code, where a week went."""
