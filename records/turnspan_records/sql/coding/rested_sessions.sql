SELECT DISTINCT session_id FROM turn_summary FINAL WHERE {_rested}
