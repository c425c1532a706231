-- The spans, without content, in the columns of Jaeger's own table: reading it reads ours.
-- Columns that Jaeger's table declares as Nested are arrays of named tuples here, which its queries
-- read in the same words (int_attributes.key, events.str_attributes.value).
CREATE OR REPLACE VIEW {jaeger}.bare_spans {on_cluster} AS
WITH
    (SELECT groupArray(attribute_key) FROM {jaeger}.attribute_type) AS typed_keys,
    (SELECT groupArray(type) FROM {jaeger}.attribute_type) AS types,
    arrayMap(
        (key, value, type) -> (key, value, multiIf(
            type = 'str', 'str',
            type = 'int' AND isNotNull(toInt64OrNull(value)), 'int',
            type = 'double' AND isNotNull(toFloat64OrNull(value)), 'double',
            type = 'bool' AND value IN ('true', 'false'), 'bool',
            'str')),
        CAST(mapKeys(attributes), 'Array(String)') AS keys,
        mapValues(attributes),
        arrayMap(key -> transform(key, typed_keys, types, 'str'), keys)) AS typed,
    arrayMap(
        event -> (
            JSONExtractString(event, 'name'),
            fromUnixTimestamp64Nano(JSONExtractInt(event, 'time'), 'UTC'),
            arrayMap(
                one -> (one.1, if(startsWith(one.2, '"'), JSONExtractString(one.2), one.2)),
                JSONExtractKeysAndValuesRaw(event, 'attributes'))),
        JSONExtractArrayRaw(events)) AS happened
SELECT
    span_id AS id,
    trace_id,
    trace_state,
    parent_span_id,
    toString(name) AS name,
    lower(toString(kind)) AS kind,
    start_time,
    transform(toString(status_code), ['OK', 'ERROR'], ['Ok', 'Error'], 'Unset') AS status_code,
    status_message,
    toInt64(round(duration * 1e9)) AS duration,
    arrayMap(one -> (one.1, one.2 = 'true'), arrayFilter(one -> one.3 = 'bool', typed))
        ::Array(Tuple(key String, value Bool)) AS bool_attributes,
    arrayMap(one -> (one.1, toFloat64OrZero(one.2)), arrayFilter(one -> one.3 = 'double', typed))
        ::Array(Tuple(key String, value Float64)) AS double_attributes,
    arrayMap(one -> (one.1, toInt64OrZero(one.2)), arrayFilter(one -> one.3 = 'int', typed))
        ::Array(Tuple(key String, value Int64)) AS int_attributes,
    arrayMap(one -> (one.1, one.2), arrayFilter(one -> one.3 = 'str', typed))
        ::Array(Tuple(key String, value String)) AS str_attributes,
    []::Array(Tuple(key String, value String)) AS complex_attributes,
    arrayMap(event -> (event.1, event.2, [], [], [], event.3, []), happened)
        ::Array(Tuple(
            name String,
            timestamp DateTime64(9, 'UTC'),
            bool_attributes Array(Tuple(key String, value Bool)),
            double_attributes Array(Tuple(key String, value Float64)),
            int_attributes Array(Tuple(key String, value Int64)),
            str_attributes Array(Tuple(key String, value String)),
            complex_attributes Array(Tuple(key String, value String)))) AS events,
    arrayMap(
        link -> (
            JSONExtractString(link, 'trace_id'), JSONExtractString(link, 'span_id'),
            '', [], [], [], [], []),
        JSONExtractArrayRaw(links))
        ::Array(Tuple(
            trace_id String,
            span_id String,
            trace_state String,
            bool_attributes Array(Tuple(key String, value Bool)),
            double_attributes Array(Tuple(key String, value Float64)),
            int_attributes Array(Tuple(key String, value Int64)),
            str_attributes Array(Tuple(key String, value String)),
            complex_attributes Array(Tuple(key String, value String)))) AS links,
    if(service = '', 'unknown', toString(service)) AS service_name,
    []::Array(Tuple(key String, value Bool)) AS resource_bool_attributes,
    []::Array(Tuple(key String, value Float64)) AS resource_double_attributes,
    []::Array(Tuple(key String, value Int64)) AS resource_int_attributes,
    arrayMap((key, value) -> (key, value), mapKeys(resource), mapValues(resource))
        ::Array(Tuple(key String, value String)) AS resource_str_attributes,
    []::Array(Tuple(key String, value String)) AS resource_complex_attributes,
    toString(scope_name) AS scope_name,
    toString(scope_version) AS scope_version,
    []::Array(Tuple(key String, value Bool)) AS scope_bool_attributes,
    []::Array(Tuple(key String, value Float64)) AS scope_double_attributes,
    []::Array(Tuple(key String, value Int64)) AS scope_int_attributes,
    []::Array(Tuple(key String, value String)) AS scope_str_attributes,
    []::Array(Tuple(key String, value String)) AS scope_complex_attributes
FROM {database}.span FINAL
