-- The span names of every service.
CREATE OR REPLACE VIEW {jaeger}.operations {on_cluster} AS
SELECT DISTINCT
    if(service = '', 'unknown', toString(service)) AS service_name,
    toString(name) AS name,
    lower(toString(kind)) AS span_kind
FROM {database}.span
