OR (attempt_id != '' AND attempt_id IN tried)
