"""Redaction: masks for secrets, the application's own hook, and cutting what is too long."""
