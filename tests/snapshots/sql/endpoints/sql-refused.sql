SET final = '1';

SET do_not_merge_across_partitions_select_final = '1';

SET optimize_move_to_prewhere_if_final = '1';

SET enable_join_runtime_filters_index_analysis = '1';

SET text_index_like_min_pattern_length = '3';

SET cancel_http_readonly_queries_on_client_close = '1';

SET max_execution_time = '10';

SET max_memory_usage = '1000000000';

SET max_result_rows = '10001';

SET max_result_bytes = '20000000';

SET max_threads = '2';

SET result_overflow_mode = 'break';

SET http_max_tries = '1';

SET log_comment = '<drawn>';

SET readonly = '1';

SELECT formatQuerySingleLine({sql:String});
