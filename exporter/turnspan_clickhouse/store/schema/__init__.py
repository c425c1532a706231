"""The schema: numbered ``.sql`` files, one object a file, applied in the order of their numbers."""
