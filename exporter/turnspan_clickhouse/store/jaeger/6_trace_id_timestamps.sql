-- When each trace began and when its last span began.
CREATE OR REPLACE VIEW {jaeger}.trace_id_timestamps {on_cluster} AS
SELECT trace_id, min(start_time) AS start, max(start_time) AS end
FROM {database}.span
GROUP BY trace_id
