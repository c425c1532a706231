"""Read: diagnose, replay, judge, curate."""
