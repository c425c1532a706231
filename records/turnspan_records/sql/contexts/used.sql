SELECT DISTINCT arrayJoin(splitByChar(',', attributes['turnspan.context.id'])) AS id
FROM llm_call
WHERE {_place}
    AND ({call:String} = '' OR span_id = {call:String})
    AND attributes['turnspan.context.id'] != ''
