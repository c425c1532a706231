SELECT final_attempt_id FROM rollout_current
WHERE project = {project:String} AND rollout_id = {id:String}
