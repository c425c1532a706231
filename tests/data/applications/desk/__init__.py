"""A package: the tools lie in another file than the agent."""
