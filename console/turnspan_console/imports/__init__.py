"""The importers that come with Turnspan: click commands whose function returns a log."""
