SELECT look, count() AS turns, topK(1)(agent_name)[1] AS agent
FROM {turns} AS t
ARRAY JOIN arrayFilter(one -> one != '', [{looks}]) AS look
WHERE {where}
GROUP BY look
ORDER BY turns DESC, look
