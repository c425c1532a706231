"""What agents wrote, how they were made better, and how several models answered together."""
