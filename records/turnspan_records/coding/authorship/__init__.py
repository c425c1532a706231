"""Who wrote each line of a repository: the edits of coding agents, joined with git's history."""
