SELECT lineage_id, version_id, name, lower(hex(content)) AS content_hash, created_at
FROM agent_version WHERE {_of} ORDER BY created_at, version_id
