SELECT iteration, member_id, model, instance, answer, started_at, m.duration AS duration,
    error_type, error_message
FROM consortium_member AS m
WHERE project = {project:String} AND consortium_id = {run:String}
