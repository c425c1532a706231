WITH arraySort(groupArray((key, until))) AS sorted
SELECT
    arrayStringConcat(arrayMap(one -> hex(one.1), sorted)),
    arrayMap(one -> one.2, sorted),
    arraySort(groupUniqArrayArray(kinds))
FROM
(
    SELECT key, toUnixTimestamp64Nano(max(tombstone.until)) AS until,
        groupUniqArray(toString(kind)) AS kinds
    FROM tombstone
    WHERE {shared:Bool} OR kind NOT IN ('message', 'definition', 'tried', 'rolled')
    GROUP BY key
)
