SELECT project, artifact_id FROM artifact_check
WHERE source = {source:String}
    AND checked_at >= addNanoseconds(revised_at, {window:Int64})
