SET final = '1';

SET do_not_merge_across_partitions_select_final = '1';

SET optimize_move_to_prewhere_if_final = '1';

SET enable_join_runtime_filters_index_analysis = '1';

SET text_index_like_min_pattern_length = '3';

SET cancel_http_readonly_queries_on_client_close = '1';

SET max_execution_time = '300';

SET http_max_tries = '1';

SET log_comment = '<drawn>';

SET readonly = '1';

SELECT formatQuerySingleLine({sql:String});

EXPLAIN AST
SELECT name
FROM tool_call
ORDER BY span_id ASC;

SELECT name
FROM tool_call
ORDER BY span_id ASC;
