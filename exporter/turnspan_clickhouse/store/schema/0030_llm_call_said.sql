-- What a call says of its turn's intent and mode itself: calls that were imported do, whose turn may
-- have no row. Narrow columns, computed when a row is written: a reader of many calls must not read
-- all their attributes for that.
ALTER TABLE {table:llm_call} {on_cluster}
    ADD COLUMN IF NOT EXISTS said_intent LowCardinality(String)
        MATERIALIZED attributes['turnspan.turn.intent'] CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS said_mode LowCardinality(String)
        MATERIALIZED attributes['turnspan.turn.chat_mode'] CODEC(ZSTD(1))
