session_id IN judged OR trace_id IN judged OR turn_id IN judged OR span_id IN judged
    OR (attempt_id != '' AND attempt_id IN judged)
