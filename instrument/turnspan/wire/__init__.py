"""Requests to models seen on the wire: recorded from the HTTP exchange, or counted as gaps."""
