"""Stores: the embedded engine and the server behind one interface, and their schema."""
