SELECT (SELECT count() FROM turn_summary) AS turns, (SELECT count() FROM llm_call) AS calls,
    (SELECT count() FROM span) AS spans, (SELECT count() FROM annotation) AS annotations
