-- The services that ever had a span.
CREATE OR REPLACE VIEW {jaeger}.services {on_cluster} AS
SELECT DISTINCT if(service = '', 'unknown', toString(service)) AS name
FROM {database}.span
