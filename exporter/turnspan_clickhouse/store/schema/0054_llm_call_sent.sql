-- The last 16 messages that a call sent, and the digests of what was sent before each of them and in
-- all: whether a call sends what the one before it did is told without its whole history.
ALTER TABLE {table:llm_call} {on_cluster}
    ADD COLUMN IF NOT EXISTS sent_last Array(FixedString(16)) MATERIALIZED
        arraySlice(input_messages, -16) CODEC(ZSTD(3)),
    ADD COLUMN IF NOT EXISTS sent_digests Array(UInt32) MATERIALIZED
        arraySlice(arrayPushFront(
            arrayMap(sum -> toUInt32(bitShiftRight(sum, 32)), arrayCumSum(arrayMap(
                (message, at) -> cityHash64(message, at),
                input_messages, arrayEnumerate(input_messages)))),
            toUInt32(0)), -17) CODEC(ZSTD(3)),
    MATERIALIZE COLUMN sent_last,
    MATERIALIZE COLUMN sent_digests
