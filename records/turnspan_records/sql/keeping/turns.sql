-- The turns that go and have anything left that would.
{_mark}, {_verdict}, t.key
FROM (SELECT {_turn} AS key, start_time, status FROM {turns} FINAL) AS t
GLOBAL LEFT JOIN ({units}) AS f ON f.key = t.key
WHERE t.key GLOBAL IN ({there}) AND {_verdict} != ''
