SELECT name, argMax(definition, written_at) FROM review_queue GROUP BY name ORDER BY name
