-- Models are those that turns count under: an alias finds what answered it, as the filters do.
(
    SELECT '{kind}' AS kind, toString({column}) AS found, project
    FROM {table}
    WHERE positionCaseInsensitiveUTF8({column}, {text:String}) > 0
        AND {of_project}
    GROUP BY found, project
    ORDER BY max(start_time) DESC, found, project
    LIMIT {each:UInt32}
)
