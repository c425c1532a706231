-- The users of users.d/turnspan.xml in SQL, for ClickHouse Cloud and for servers where users are
-- made that way. Run it once as an administrator, after `turnspan migrate` or before:
--
--   clickhouse-client --queries-file deploy/clickhouse/users.sql \
--     --param_admin="$TURNSPAN_ADMIN_PASSWORD" --param_writer="$TURNSPAN_WRITER_PASSWORD" \
--     --param_reader="$TURNSPAN_READER_PASSWORD" --param_jaeger="$TURNSPAN_JAEGER_PASSWORD" \
--     --param_reviewer="$TURNSPAN_REVIEWER_PASSWORD"
--
-- A \ in a password is written \\ there.
-- `turnspan` is the database. On a cluster put ON CLUSTER name after each name of a user or profile
-- (CREATE USER turnspan_writer ON CLUSTER main ...; GRANT ON CLUSTER main ...), and run the grants
-- at the end.

CREATE SETTINGS PROFILE OR REPLACE turnspan_writer SETTINGS
    async_insert = 0,
    insert_deduplicate = 1,
    distributed_foreground_insert = 1,
    distributed_product_mode = 'global',
    max_memory_usage = 2000000000;

-- readonly = 2: no write and no DDL, but drivers and dashboards may send settings of their own. A
-- reader may ask for less than a limit, never for more; 0 would mean no limit.
CREATE SETTINGS PROFILE OR REPLACE turnspan_reader SETTINGS
    readonly = 2,
    final = 1,
    do_not_merge_across_partitions_select_final = 1,
    optimize_move_to_prewhere_if_final = 1,
    enable_join_runtime_filters_index_analysis = 1,
    distributed_product_mode = 'global',
    max_execution_time = 60 MIN 1 MAX 60,
    max_memory_usage = 2000000000 MIN 1 MAX 2000000000,
    max_bytes_before_external_group_by = 1000000000,
    max_bytes_before_external_sort = 1000000000,
    max_result_rows = 10000000 MIN 1 MAX 10000000,
    max_concurrent_queries_for_user = 16 CONST;

-- As a reader, and it may write, which takes what a writer's inserts take.
CREATE SETTINGS PROFILE OR REPLACE turnspan_reviewer SETTINGS
    PROFILE 'turnspan_reader',
    readonly = 0,
    async_insert = 0,
    insert_deduplicate = 1,
    distributed_foreground_insert = 1;

CREATE SETTINGS PROFILE OR REPLACE turnspan_admin SETTINGS max_memory_usage = 3000000000;

CREATE USER OR REPLACE turnspan_writer IDENTIFIED WITH sha256_password BY {writer:String}
    SETTINGS PROFILE 'turnspan_writer';
CREATE USER OR REPLACE turnspan_reader IDENTIFIED WITH sha256_password BY {reader:String}
    SETTINGS PROFILE 'turnspan_reader';
CREATE USER OR REPLACE turnspan_reviewer IDENTIFIED WITH sha256_password BY {reviewer:String}
    SETTINGS PROFILE 'turnspan_reviewer';
CREATE USER OR REPLACE turnspan_jaeger IDENTIFIED WITH sha256_password BY {jaeger:String}
    SETTINGS PROFILE 'turnspan_reader';
CREATE USER OR REPLACE turnspan_admin IDENTIFIED WITH sha256_password BY {admin:String}
    SETTINGS PROFILE 'turnspan_admin';

-- Applications, `turnspan ship` and `turnspan import`: append records. Of what others recorded they
-- see the turns, attempts, consortium runs and running calls, of other calls what it takes to close
-- those of a process that died, hashes of what was forgotten, and how far imports have come; no prompts.
GRANT INSERT ON turnspan.* TO turnspan_writer;
REVOKE INSERT ON turnspan.schema_migration FROM turnspan_writer;
REVOKE INSERT ON turnspan.keeping_row FROM turnspan_writer;
GRANT SELECT ON turnspan.schema_migration TO turnspan_writer;
GRANT SELECT ON turnspan.turn_summary TO turnspan_writer;
GRANT SELECT ON turnspan.attempt TO turnspan_writer;
GRANT SELECT ON turnspan.rollout TO turnspan_writer;
GRANT SELECT ON turnspan.consortium TO turnspan_writer;
GRANT SELECT ON turnspan.llm_call_running TO turnspan_writer;
GRANT SELECT ON turnspan.tombstone TO turnspan_writer;
GRANT SELECT ON turnspan.import_position TO turnspan_writer;
GRANT SELECT(project, turn_id, attempt_id, consortium_id, start_time, duration, round,
    request_model, response_model, response_text, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, reasoning_tokens, cost_usd) ON turnspan.llm_call TO turnspan_writer;
GRANT SELECT(project, turn_id, start_time, duration, failed) ON turnspan.tool_call TO turnspan_writer;

-- People, the console and dashboards: read everything, change nothing.
GRANT SELECT ON turnspan.* TO turnspan_reader;
GRANT SHOW TABLES, SHOW COLUMNS ON system.* TO turnspan_reader;
GRANT SELECT ON system.parts TO turnspan_reader;

-- People who judge (`turnspan review`, `annotate`, `steer`, `quality`, a console to judge in): read
-- everything, append judgments and what goes with them.
GRANT SELECT ON turnspan.* TO turnspan_reviewer;
GRANT SHOW TABLES, SHOW COLUMNS ON system.* TO turnspan_reviewer;
GRANT SELECT ON system.parts TO turnspan_reviewer;
GRANT INSERT ON turnspan.annotation TO turnspan_reviewer;
GRANT INSERT ON turnspan.withdrawal TO turnspan_reviewer;
GRANT INSERT ON turnspan.review_queue TO turnspan_reviewer;
GRANT INSERT ON turnspan.dataset_case TO turnspan_reviewer;
GRANT INSERT ON turnspan.lineage_event TO turnspan_reviewer;
GRANT INSERT ON turnspan.artifact TO turnspan_reviewer;
GRANT INSERT ON turnspan.artifact_check TO turnspan_reviewer;
GRANT INSERT ON turnspan.definition TO turnspan_reviewer;

-- Jaeger over the records: spans, no prompts. After `turnspan migrate --jaeger-content` it needs
-- GRANT SELECT ON turnspan.* instead of the last line.
GRANT SELECT ON turnspan_jaeger.* TO turnspan_jaeger;
GRANT SELECT ON turnspan.span TO turnspan_jaeger;

-- `turnspan migrate` and retention: everything inside the databases of Turnspan, nothing outside.
GRANT SHOW, SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE, OPTIMIZE, BACKUP ON turnspan.* TO turnspan_admin;
GRANT SHOW, SELECT, INSERT, CREATE, DROP ON turnspan_jaeger.* TO turnspan_admin;
GRANT SHOW, SELECT, INSERT, CREATE, DROP ON turnspan_beside.* TO turnspan_admin; -- a backup, to look
GRANT TABLE ENGINE ON MergeTree TO turnspan_admin;
GRANT TABLE ENGINE ON ReplacingMergeTree TO turnspan_admin;
GRANT SHOW TABLES, SHOW COLUMNS ON system.* TO turnspan_admin;
GRANT SELECT ON system.parts TO turnspan_admin;

-- On a cluster also:
-- GRANT CLUSTER ON *.* TO turnspan_admin;
-- GRANT TABLE ENGINE ON ReplicatedMergeTree TO turnspan_admin;
-- GRANT TABLE ENGINE ON ReplicatedReplacingMergeTree TO turnspan_admin;
-- GRANT TABLE ENGINE ON Distributed TO turnspan_admin;
-- GRANT REMOTE ON *.* TO turnspan_admin;
-- GRANT SYSTEM SYNC REPLICA ON turnspan.keeping_row TO turnspan_admin;
-- and what a user may do with a table, with the table of each shard (llm_call_local) as well.
