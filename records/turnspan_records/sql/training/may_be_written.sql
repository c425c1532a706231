OR (turn_id != '' AND turn_id IN wrote) OR span_id IN wrote
    OR (attempt_id != '' AND attempt_id IN wrote)
