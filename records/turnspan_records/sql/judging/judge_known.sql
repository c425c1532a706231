-- What a judge said of requests, and of which records.
SELECT annotation_id, argMax((score, toString(outcome), comment), created_at) AS said,
    groupArray((toString(project), subject_id)) AS subjects
FROM annotation
WHERE kind = {kind:String} AND source = {source:String} AND annotation_id IN {keys:Array(String)}
GROUP BY annotation_id
