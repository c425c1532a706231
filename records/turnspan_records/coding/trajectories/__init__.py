"""Sessions in the formats of others: Agent Trace, ATIF and Inspect logs."""
