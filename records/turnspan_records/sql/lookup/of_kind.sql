-- The most matches of a kind that are told apart are 20.
(
    SELECT DISTINCT '{kind}' AS kind, {column} AS id, project, {place} FROM {table}
    WHERE {column} {test}
    LIMIT 20
)
