-- How long the records are kept, and when they move to the cold disk. Set the days, then run it as
-- turnspan_admin: clickhouse-client --user turnspan_admin --queries-file deploy/clickhouse/ttl.sql
-- Without a second disk leave out the TO VOLUME lines and the storage policy (docs/scale.md).
-- On a cluster the tables are the shards' own: turnspan.llm_call_local ON CLUSTER main, and so on.
--
-- Whole parts move; rows are deleted when their part is merged, parts of which all is old at once.

ALTER TABLE turnspan.llm_call MODIFY SETTING storage_policy = 'tiered';
ALTER TABLE turnspan.llm_call MODIFY TTL
    toDateTime(start_time) + INTERVAL 30 DAY TO VOLUME 'cold',
    toDateTime(start_time) + INTERVAL 365 DAY DELETE;

ALTER TABLE turnspan.turn_summary MODIFY SETTING storage_policy = 'tiered';
ALTER TABLE turnspan.turn_summary MODIFY TTL
    toDateTime(start_time) + INTERVAL 30 DAY TO VOLUME 'cold',
    toDateTime(start_time) + INTERVAL 365 DAY DELETE;

ALTER TABLE turnspan.tool_call MODIFY SETTING storage_policy = 'tiered';
ALTER TABLE turnspan.tool_call MODIFY TTL
    toDateTime(start_time) + INTERVAL 30 DAY TO VOLUME 'cold',
    toDateTime(start_time) + INTERVAL 365 DAY DELETE;

ALTER TABLE turnspan.context_assembly MODIFY SETTING storage_policy = 'tiered';
ALTER TABLE turnspan.context_assembly MODIFY TTL
    toDateTime(start_time) + INTERVAL 30 DAY TO VOLUME 'cold',
    toDateTime(start_time) + INTERVAL 365 DAY DELETE;

ALTER TABLE turnspan.context_item MODIFY SETTING storage_policy = 'tiered';
ALTER TABLE turnspan.context_item MODIFY TTL
    toDateTime(start_time) + INTERVAL 30 DAY TO VOLUME 'cold',
    toDateTime(start_time) + INTERVAL 365 DAY DELETE;

ALTER TABLE turnspan.span MODIFY SETTING storage_policy = 'tiered';
ALTER TABLE turnspan.span MODIFY TTL
    toDateTime(start_time) + INTERVAL 30 DAY TO VOLUME 'cold',
    toDateTime(start_time) + INTERVAL 90 DAY DELETE;

ALTER TABLE turnspan.llm_call_running MODIFY TTL toDateTime(start_time) + INTERVAL 365 DAY DELETE;
ALTER TABLE turnspan.consortium MODIFY TTL toDateTime(started_at) + INTERVAL 365 DAY DELETE;
ALTER TABLE turnspan.consortium_iteration MODIFY TTL toDateTime(started_at) + INTERVAL 365 DAY DELETE;
ALTER TABLE turnspan.consortium_member MODIFY TTL toDateTime(started_at) + INTERVAL 365 DAY DELETE;

-- A message is stored once, when its session says it first, and read by every later call of that
-- session: give it as many days more as a session may last (30 here).
ALTER TABLE turnspan.message MODIFY SETTING storage_policy = 'tiered';
ALTER TABLE turnspan.message MODIFY TTL
    toDateTime(first_seen) + INTERVAL 60 DAY TO VOLUME 'cold',
    toDateTime(first_seen) + INTERVAL 395 DAY DELETE;

-- definition has no time to live: prompts and tool catalogues are few, and any call may name them.
-- annotation, withdrawal, review_queue, dataset_case and artifact_check have none either: what people judged is kept,
-- and what was found of what agents wrote; nor have tombstone (what was forgotten
-- must not come back) and import_position (an import must not begin anew). Nor have the
-- tables of the improvement loop and its artifacts: they are few, and later versions are measured by them.
-- `turnspan retain` puts times to live from its policy, and deletes by what was judged (docs/keeping.md).
