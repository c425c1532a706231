"""Land: spans become records, records become rows in ClickHouse."""
