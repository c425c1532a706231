SELECT quantileExact(0.95)(time_to_first_chunk)
FROM llm_call
WHERE {in_window}
