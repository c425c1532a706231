-- As the fragment of that name, of what `used` has.
(SELECT
    (arrayPushFront(groupArray(asked), ''), arrayPushFront(groupArray(answered), ''))
FROM
(
    SELECT
        concat(one.1, '\n', one.2, '\n', if(by_day, toString(toDate(one.4)), '')) AS asked,
        argMaxIf(one.3, one.4, one.3 != '') AS answered
    FROM (SELECT arrayJoin(used) AS one)
    ARRAY JOIN [true, false] AS by_day
    GROUP BY asked
    HAVING countIf(one.3 = '') > 0 AND answered != ''
))
