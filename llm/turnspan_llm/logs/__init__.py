"""Reads the logs of simonw/llm: SQLite databases of three generations, never written here."""
