SELECT max(newest), sum(rows) FROM (
    SELECT toUnixTimestamp64Nano(max(written_at)) AS newest, count() AS rows
    FROM turn_summary WHERE {where}
    UNION ALL SELECT toUnixTimestamp64Nano(max(written_at)), count() FROM llm_call WHERE {where}
    UNION ALL SELECT toUnixTimestamp64Nano(max(written_at)), count() FROM tool_call WHERE {where}
    UNION ALL SELECT toUnixTimestamp64Nano(max(written_at)), count()
        FROM llm_call_running WHERE {where}
    UNION ALL SELECT toUnixTimestamp64Nano(max(written_at)), count() FROM message
        WHERE project = {project:String} AND scope = {scope:String}
)
