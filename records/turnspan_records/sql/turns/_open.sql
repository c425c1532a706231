(project, session_id, span_id) IN
(
    SELECT one.1, one.2, one.3
    FROM
    (
        SELECT arrayJoin(arrayZip({open_projects:Array(String)}, {open_sessions:Array(String)},
            {open_spans:Array(String)})) AS one
    )
)
