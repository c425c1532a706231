"""Finished spans on their way out: the queue, other backends, and the ways a process ends."""
