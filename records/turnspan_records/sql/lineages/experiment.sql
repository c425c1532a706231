SELECT need, constraints FROM experiment
WHERE project = {project:String} AND experiment_id = {experiment:String}
