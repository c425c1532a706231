SELECT iteration, arbiter_id, model, synthesis, ranking, confidence, reasoning, refinement_areas,
    needs_iteration, raw, started_at, i.duration AS duration, error_type, error_message
FROM consortium_iteration AS i
WHERE project = {project:String} AND consortium_id = {run:String}
