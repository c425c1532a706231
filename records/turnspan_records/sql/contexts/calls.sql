-- A call may be in another session than an assembly that is in none; then it is looked for by time.
SELECT span_id, splitByChar(',', attributes['turnspan.context.id']) AS used
FROM llm_call
WHERE project = {project:String} AND attributes['turnspan.context.id'] != ''
    AND (session_id IN {sessions:Array(String)} OR has({sessions:Array(String)}, ''))
    AND start_time >= {since:DateTime64(9, 'UTC')} AND start_time < {until:DateTime64(9, 'UTC')}
    AND hasAny(used, {ids:Array(String)})
ORDER BY start_time, span_id
