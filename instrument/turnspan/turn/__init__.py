"""A turn as it happens: its counts, its tools, its loops, and why it stopped."""
