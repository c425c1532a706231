"""Requests to models, recorded from the HTTP exchange itself."""
