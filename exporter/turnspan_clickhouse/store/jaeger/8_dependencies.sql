-- Which service calls which, by the hour: a span whose parent belongs to another service.
CREATE OR REPLACE VIEW {jaeger}.dependencies {on_cluster} AS
SELECT
    timestamp,
    concat('[', arrayStringConcat(groupArray(concat(
        '{"parent":', toJSONString(parent_service),
        ',"child":', toJSONString(child_service),
        ',"callCount":', toString(calls), '}')), ','), ']') AS dependencies_json
FROM
(
    SELECT
        toDateTime64(toStartOfHour(child.start_time), 9, 'UTC') AS timestamp,
        if(parent.service = '', 'unknown', toString(parent.service)) AS parent_service,
        if(child.service = '', 'unknown', toString(child.service)) AS child_service,
        uniqExact(child.trace_id, child.span_id) AS calls
    FROM {database}.span AS child
    INNER JOIN {database}.span AS parent
        ON child.trace_id = parent.trace_id AND child.parent_span_id = parent.span_id
    WHERE child.service != parent.service
    GROUP BY timestamp, parent_service, child_service
)
GROUP BY timestamp
