-- What Jaeger reads: the spans without what the models saw and said.
CREATE OR REPLACE VIEW {jaeger}.spans {on_cluster} AS
SELECT * FROM {jaeger}.bare_spans
