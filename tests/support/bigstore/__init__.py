"""Stores for the benchmarks of size and queries: real runs, and copies made by the engine."""
