"""Rows: one class a table, and their encoding as blocks of ClickHouse's Native format."""
