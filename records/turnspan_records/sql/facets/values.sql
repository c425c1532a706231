SELECT facet.1 AS name, facet.2 AS value, count() AS turns
FROM turn_summary AS t
ARRAY JOIN arrayConcat(
    [('stop', {how_ended}), ('agent', toString(agent_name)), ('version', toString(agent_version)),
        ('error', toString(t.error_type))],
    arrayMap(model -> ('model', toString(model)), arrayDistinct(models))) AS facet
WHERE {where} AND facet.2 != ''
GROUP BY name, value
ORDER BY turns DESC, name, value
LIMIT {values:UInt32} BY name
