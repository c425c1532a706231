SELECT * EXCEPT (tried) FROM rollout_current WHERE project = {project:String} AND rollout_id = {id:String}
