INSERT INTO {work} (pass, record, week, reason, key)
SELECT {pass:String}, {record:String}, toDate(0), '', {row_key}
FROM {contents} AS r
WHERE {content} GLOBAL IN ({keys}) AND {content} GLOBAL NOT IN
(
    SELECT {content} FROM
    (
        SELECT project, scope, arrayJoin(hashes) AS hash FROM ({rows})
        WHERE (concat({place:String}, record), row) GLOBAL NOT IN
            (SELECT record, key FROM {work} WHERE pass = {pass:String})
    )
    WHERE {content} GLOBAL IN ({keys})
)
