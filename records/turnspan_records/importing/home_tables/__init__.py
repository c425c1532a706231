"""Tables that teams log their agents in themselves, in PostgreSQL, MariaDB or MySQL -> records."""
