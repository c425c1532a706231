-- What there will be forgotten, sorted: keys as one text, and the time of each.
WITH arraySort(groupArray((key, time))) AS sorted
SELECT arrayStringConcat(arrayMap(one -> hex(one.1), sorted)), arrayMap(one -> one.2, sorted)
FROM
(
    SELECT key, max(time) AS time FROM
        (SELECT key, toUnixTimestamp64Nano(until) AS time FROM {tombstone} UNION ALL
            SELECT key, toUnixTimestamp64Nano(last) AS time FROM ({keys}))
    GROUP BY key
)
