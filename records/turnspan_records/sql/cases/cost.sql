SELECT sum(c.cost_usd) FROM llm_call AS c
WHERE project = {project:String} AND lineage_id = {lineage:String}
    AND start_time >= {since:DateTime64(9, 'UTC')}
