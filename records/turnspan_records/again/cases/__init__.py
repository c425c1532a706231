"""Datasets of cases, experiments over them, and the scorers of what agents answer."""
