SELECT facet.1 AS name, facet.2 AS value, count() AS turns
FROM {turns} AS t
ARRAY JOIN {pairs} AS facet
WHERE {where} AND facet.2 != ''
GROUP BY name, value
