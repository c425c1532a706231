"""Finished spans, and the content beside them, become records: which turn, round and conversation a
call belongs to, what a turn costs; processes share what was answered, in files."""
