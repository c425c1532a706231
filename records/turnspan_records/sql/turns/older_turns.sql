AND (start_time, turn_id) < {_before}
