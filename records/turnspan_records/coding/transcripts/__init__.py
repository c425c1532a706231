"""Transcripts of coding agents: each tool's lines -> events -> turns, calls and tools."""
