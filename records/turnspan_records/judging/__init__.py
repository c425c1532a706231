"""Judgments: written from outside the application, read as records, asked for in queues."""
