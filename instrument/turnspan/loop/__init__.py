"""What agents wrote, and how they were made better: artifacts, lineages, rollouts, attempts."""
