"""The comparison of two versions of an agent, for continuous integration."""
