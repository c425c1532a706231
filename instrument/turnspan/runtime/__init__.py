"""What everything else stands on: guards, statistics, ids, forks, and pauses for other threads."""
