"""The passive quality signal: what became of what agents wrote, by what others wrote later."""
