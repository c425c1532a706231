SELECT lineage_id, evolution_id, from_version, to_version, trigger, hypothesis, plan, changes,
    author, created_at, from_score, next_score, score_delta, hypothesis_validated
FROM evolution_outcome WHERE {_of} ORDER BY created_at, evolution_id
