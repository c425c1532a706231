-- What a coding agent counted in a session: of each series the greatest value, which later ones contain.
-- It is found by its trace: spans are sorted by that, not by their session.
SELECT what, sum(value) AS value
FROM
(
    SELECT
        attributes['turnspan.coding.metric'] AS what,
        max(toFloat64OrZero(attributes['turnspan.coding.metric.value'])) AS value
    FROM span
    WHERE trace_id = {trace:String} AND name = 'coding.metric'
    GROUP BY what, attributes['turnspan.coding.metric.series']
)
GROUP BY what
ORDER BY what
